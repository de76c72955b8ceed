/**
 * What is told once, although it is found again and again.
 * @module
 */
import type { Clock } from "./clock.ts";

/** When what goes on is told again. */
export interface Reminder {
  readonly clock: Clock;
  /** Milliseconds after it was told. */
  readonly afterMs: number;
}

/** Remembers what was told last: trouble that goes on is told once, or again after a time. */
export class News {
  readonly #reminder: Reminder | undefined;
  #told: string | undefined;
  #againMs = Infinity;

  /** @param reminder @default {never again} */
  constructor(reminder?: Reminder) {
    this.#reminder = reminder;
  }

  /** Whether this is to be told now: it then counts as told. */
  isNew(text: string): boolean {
    const nowMs = this.#reminder?.clock.monotonic() ?? 0;
    if (text === this.#told && nowMs < this.#againMs) return false;
    this.#told = text;
    this.#againMs = nowMs + (this.#reminder?.afterMs ?? Infinity);
    return true;
  }

  /** What was told is over: when it comes back, it is new. */
  end(): void {
    this.#told = undefined;
  }
}
