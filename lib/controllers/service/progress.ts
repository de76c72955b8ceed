/**
 * Notices when the work on a Service goes round in circles.
 * @module
 */
import type { LoadBalancerStep } from "../../cloud/capabilities/load_balancers.ts";

/** More than the largest Service needs: 100 ports, each with a rule, its firewall rules, backends and stickiness. */
const STEPS_MAX = 2_000;
/** How often the same step may be needed in one attempt: another program may undo it once. */
const REPEATS_MAX = 3;

/** Counts the steps of one attempt. */
export class Progress {
  #steps = 0;
  readonly #counts = new Map<string, number>();

  /** How many steps were made. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Call it before each step.
   *
   * @throws {Error} if the step was made too often already
   */
  check(step: Pick<LoadBalancerStep, "summary">): void {
    const text = JSON.stringify(step);
    const count = (this.#counts.get(text) ?? 0) + 1;
    this.#counts.set(text, count);
    this.#steps += 1;
    if (count > REPEATS_MAX) {
      throw new Error(`"${step.summary}" succeeded ${REPEATS_MAX} times and is needed again`);
    }
    if (this.#steps > STEPS_MAX)
      throw new Error(`more than ${STEPS_MAX} steps; trying again later`);
  }
}
