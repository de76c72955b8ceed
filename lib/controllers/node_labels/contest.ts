/**
 * Notices when somebody else and this controller keep overwriting each other.
 * @module
 */
import type { Clock } from "../../core/clock.ts";

/** So many times within a minute labels are put right on one Node. */
export const ROUNDS_MAX = 5;
const WINDOW_MS = 60_000;

/** Remembers when labels were written. Bounded by the number of Nodes and by {@linkcode ROUNDS_MAX}. */
export class Contest {
  readonly #clock: Clock;
  readonly #rounds = new Map<string, readonly number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait before the labels of a Node are written again, in milliseconds; 0 to go on. */
  pauseMs(node: string): number {
    const recent = this.#listRecent(node);
    const [first = 0] = recent;
    return recent.length < ROUNDS_MAX ? 0 : first + WINDOW_MS - this.#clock.monotonic();
  }

  /** Notes that labels were written. */
  noteRound(node: string): void {
    this.#rounds.set(node, [...this.#listRecent(node), this.#clock.monotonic()]);
  }

  /** Drops what is remembered of a Node. */
  forget(node: string): void {
    this.#rounds.delete(node);
  }

  #listRecent(node: string): number[] {
    const sinceMs = this.#clock.monotonic() - WINDOW_MS;
    return (this.#rounds.get(node) ?? []).filter((atMs) => atMs > sinceMs);
  }
}
