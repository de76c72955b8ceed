/**
 * Which machines of a Vino are proven gone, although the last inventory or the status may still show them.
 * @module
 */
import type { Progress } from "../steps/progress_tracker.ts";

/** Machines that a look for a change did not find any more, until an inventory shows that, too. */
export class GoneMachines {
  /** When the look began that proved it, by name. */
  readonly #sinceMs = new Map<string, number>();

  /** Whether a machine is proven gone. */
  has(name: string): boolean {
    return this.#sinceMs.has(name);
  }

  /** Notes that a look proved it. @param observedAtMs When that look began, in monotonic milliseconds */
  add(name: string, observedAtMs: number): void {
    this.#sinceMs.set(name, observedAtMs);
  }

  /** Forgets a machine that is shown again. */
  delete(name: string): void {
    this.#sinceMs.delete(name);
  }

  /** Forgets the machines about which an inventory is newer than the proof. */
  forgetOlder(observedAtMs: number): void {
    for (const [name, sinceMs] of this.#sinceMs) {
      if (observedAtMs > sinceMs) this.#sinceMs.delete(name);
    }
  }

  /** Forgets a machine that is made again, as soon as something of it may be there. */
  noteWanted(name: string, progress: Progress | undefined): void {
    const sinceMs = this.#sinceMs.get(name);
    if (progress === undefined || sinceMs === undefined || progress.observedAtMs <= sinceMs) return;
    if (progress.plan.state !== "Absent" || progress.made !== undefined) this.delete(name);
  }
}

/** Whether a look proved that nothing of a machine is left. @param progress Of its removal */
export function isProvenGone(progress: Progress | undefined): progress is Progress {
  if (progress === undefined) return false;
  const { state, steps, problems, needsLook = false } = progress.plan;
  return state === "Absent" && steps.length === 0 && problems.length === 0 && !needsLook;
}
