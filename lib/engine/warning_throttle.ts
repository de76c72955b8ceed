/**
 * Limits how often the same Event on the same object is written.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { EventOptions } from "../kube/events/events.ts";

/** Least time between two equal Events on one object. */
const REPEAT_MS = 300_000;

/** Remembers the last Events of each object of one kind. Bounded by the number of objects and of reasons. */
export class WarningThrottle {
  readonly #clock: Clock;
  readonly #said = new Map<string, Map<string, { message: string; atMs: number }>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether to write it now: a new reason, a new message, or five minutes since the last. */
  passes(key: string, { reason, message }: EventOptions): boolean {
    const said = this.#said.get(key) ?? new Map<string, { message: string; atMs: number }>();
    this.#said.set(key, said);
    const atMs = this.#clock.monotonic();
    const last = said.get(reason);
    if (last?.message === message && atMs - last.atMs < REPEAT_MS) return false;
    said.set(reason, { message, atMs });
    return true;
  }

  /** Forgets an object. */
  forget(key: string): void {
    this.#said.delete(key);
  }
}
