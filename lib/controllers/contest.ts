/**
 * Keeps a fight over what a controller writes, with somebody else who writes it too, at a slow pace.
 * @module
 */
import type { Clock } from "../core/clock.ts";

/** So many times within {@linkcode WINDOW_MS} one Node is put right. */
export const ROUNDS_MAX = 5;
const WINDOW_MS = 60_000;

/** Remembers when Nodes were put right. Bounded by the number of Nodes and by {@linkcode ROUNDS_MAX}. */
export class Contest {
  readonly #clock: Clock;
  /** Monotonic milliseconds of the last rounds, oldest first, by the Node's name. */
  readonly #rounds = new Map<string, readonly number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait before a Node may be put right again, in milliseconds; 0 to go on. */
  pauseMs(node: string): number {
    const recent = this.#listRecent(node);
    const [oldest] = recent;
    if (oldest === undefined || recent.length < ROUNDS_MAX) return 0;
    return oldest + WINDOW_MS - this.#clock.monotonic();
  }

  /** Notes that a Node was put right. */
  noteRound(node: string): void {
    this.#rounds.set(node, [...this.#listRecent(node), this.#clock.monotonic()]);
  }

  /** Drops what is remembered of a Node. */
  forget(node: string): void {
    this.#rounds.delete(node);
  }

  #listRecent(node: string): readonly number[] {
    const sinceMs = this.#clock.monotonic() - WINDOW_MS;
    return (this.#rounds.get(node) ?? []).filter((atMs) => atMs > sinceMs);
  }
}
