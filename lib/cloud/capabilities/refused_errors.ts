/**
 * The errors of a step that the cloud refuses for a reason that a person can understand and end.
 * @module
 */
import { CloudError } from "../errors.ts";
import type { LoadBalancerProblem } from "./load_balancers.ts";
import type { MachineProblem } from "./machines.ts";

/** The cloud refused a step. */
class RefusedError<P extends { readonly message: string }> extends CloudError {
  /** Why, for a condition and an Event. */
  readonly problem: P;

  /** @param cause What the cloud said: the next attempt comes when it would after this error */
  constructor(problem: P, cause: CloudError) {
    const { kind, status, retryAfterMs } = cause;
    super(kind, problem.message, {
      cause,
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    this.problem = problem;
  }
}

/** The cloud refused a step of a load balancer. */
export class RefusedStepError extends RefusedError<LoadBalancerProblem> {}

/** The cloud refused a step of a machine. */
export class RefusedMachineError extends RefusedError<MachineProblem> {}
