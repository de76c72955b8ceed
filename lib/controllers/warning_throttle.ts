/**
 * Says the same thing about the same Node only so often.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { EventOptions } from "../kube/events.ts";

/** Least time between two equal Events on one Node. */
const REPEAT_MS = 300_000;

/** Remembers the last Events of each Node. Bounded by the number of Nodes and of reasons. */
export class WarningThrottle {
  readonly #clock: Clock;
  readonly #said = new Map<string, Map<string, { message: string; atMs: number }>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether to say it now: a new reason, a new message, or five minutes since. */
  passes(node: string, { reason, message }: EventOptions): boolean {
    const said = this.#said.get(node) ?? new Map<string, { message: string; atMs: number }>();
    this.#said.set(node, said);
    const atMs = this.#clock.monotonic();
    const last = said.get(reason);
    if (last?.message === message && atMs - last.atMs < REPEAT_MS) return false;
    said.set(reason, { message, atMs });
    return true;
  }

  /** Drops what is remembered of a Node. */
  forget(node: string): void {
    this.#said.delete(node);
  }
}
