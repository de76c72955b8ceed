/**
 * How long a Vino that keeps its machines waits for the cloud before it ends without an answer.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";

const MINUTES = 10;
/** Longer than an upgrade of the cloud: without an answer, addresses stay taken that no machine ever used. */
const WAIT_MS = MINUTES * 60_000;

/** What the status says while the Vino waits; a sentence without a full stop. */
export const WAITING_MESSAGE: string =
  "Its machines stay, because deletionPolicy is Retain: " +
  `Landfall waits ${MINUTES} minutes for the cloud, and then goes on without it`;

/** Remembers since when the cloud does not answer. */
export class CloudDeadline {
  readonly #clock: Pick<Clock, "monotonic">;
  #sinceMs: number | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Notes whether the cloud answered now. @returns Whether it did not for so long that the Vino waits no more */
  hasPassed(isSilent: boolean): boolean {
    const nowMs = this.#clock.monotonic();
    this.#sinceMs = isSilent ? (this.#sinceMs ?? nowMs) : undefined;
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= WAIT_MS;
  }
}
