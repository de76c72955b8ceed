/**
 * How long a Vino that keeps its machines waits for the cloud before it ends without an answer.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";

/** An answer says which addresses are free, and what no machine ever used; nothing else needs it. */
const PATIENCE_MS = 60_000;

/** What the status says while the Vino waits; a sentence without a full stop. */
export const WAITING_MESSAGE: string =
  "Its machines stay, because deletionPolicy is Retain: " +
  `Landfall waits ${PATIENCE_MS / 1_000} s for the cloud, and then goes on without it`;

/** Remembers since when the cloud does not answer. */
export class Patience {
  readonly #clock: Pick<Clock, "monotonic">;
  #sinceMs: number | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Notes whether the cloud answered now. @returns Whether it did not for so long that the Vino waits no more */
  note(isSilent: boolean): boolean {
    const nowMs = this.#clock.monotonic();
    this.#sinceMs = isSilent ? (this.#sinceMs ?? nowMs) : undefined;
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= PATIENCE_MS;
  }
}
