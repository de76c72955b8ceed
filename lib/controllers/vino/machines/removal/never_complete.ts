/**
 * Machines that were never complete, so that nothing is lost with them.
 * @module
 */
import { listNextSteps, type MachinePlan } from "../../../../cloud/capabilities/machines.ts";
import { wasComplete, type KnownMachine } from "../../placement/known.ts";
import type { MachineTask } from "../steps/tasks.ts";

/**
 * Remembers machines of one Vino that this process began to make, and that were not complete since. Of all others, for
 * example those that were begun before a restart, that is not known.
 */
export class NeverComplete {
  readonly #names = new Set<string>();

  /** Notes that the next steps of a plan are about to be made. @param plan From a look for a change */
  noteSteps({ name, goal }: Pick<MachineTask, "goal" | "name">, plan: MachinePlan): void {
    // Also if it fails, it may be carried out.
    const completes = listNextSteps(plan).some((step) => step.completes === true);
    const isProvenAbsent = plan.state === "Absent" && plan.needsLook !== true;
    if (completes) this.#names.delete(name);
    else if (goal.kind === "exist" && isProvenAbsent) this.#names.add(name);
  }

  /**
   * Forgets those that something shows to be complete or in use, and those that are not known any more.
   *
   * @param working Names of machines that are worked on: what was begun of them may not be known yet
   */
  review(known: readonly KnownMachine[], working: ReadonlySet<string>): void {
    const shown = new Map(known.map((one) => [one.name, one]));
    for (const name of this.#names) {
      const one = shown.get(name);
      if (one === undefined ? !working.has(name) : mayHaveData(one)) this.#names.delete(name);
    }
  }

  /** Whether a machine was never complete, for sure. */
  has(name: string): boolean {
    return this.#names.has(name);
  }
}

function mayHaveData(known: KnownMachine): boolean {
  const { entry, isConsumed } = known;
  return wasComplete(known) || isConsumed || entry?.bareMetalHost !== undefined;
}
