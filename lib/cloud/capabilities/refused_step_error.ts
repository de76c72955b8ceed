/**
 * The error of a step that the cloud refuses for a reason that a user can understand and end.
 * @module
 */
import { CloudError } from "../errors.ts";
import type { LoadBalancerProblem } from "./load_balancers.ts";

/** The cloud refused a step of a load balancer. Its Event has the reason and the message of the problem. */
export class RefusedStepError extends CloudError {
  readonly problem: LoadBalancerProblem;

  /** @param cause What the cloud said: the next attempt comes when it would after this error */
  constructor(problem: LoadBalancerProblem, cause: CloudError) {
    const { kind, status, retryAfterMs } = cause;
    super(kind, problem.message, {
      cause,
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    this.problem = problem;
  }
}
