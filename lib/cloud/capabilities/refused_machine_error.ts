/**
 * The error of a step that the cloud refuses for a reason that a person can understand and end.
 * @module
 */
import { CloudError } from "../errors.ts";
import type { MachineProblem } from "./machines.ts";

/** The cloud refused a step of a machine. Conditions and Events have the reason and the message of the problem. */
export class RefusedMachineError extends CloudError {
  readonly problem: MachineProblem;

  /** @param cause What the cloud said: the next attempt comes when it would after this error */
  constructor(problem: MachineProblem, cause: CloudError) {
    const { kind, status, retryAfterMs } = cause;
    super(kind, problem.message, {
      cause,
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    this.problem = problem;
  }
}
