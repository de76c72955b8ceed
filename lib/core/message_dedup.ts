/**
 * Avoids repeating the same message.
 * @module
 */
import type { Clock } from "./clock.ts";

/** When to repeat a message about a lasting problem. */
interface Reminder {
  readonly clock: Clock;
  /** Milliseconds after the last time. */
  readonly afterMs: number;
}

/** Remembers the last message: a lasting problem is reported once, or again after a time. */
export class MessageDedup {
  readonly #reminder: Reminder | undefined;
  #told: string | undefined;
  #againMs = Infinity;

  /** @param reminder @default {never again} */
  constructor(reminder?: Reminder) {
    this.#reminder = reminder;
  }

  /** Whether to report this now: it then counts as reported. */
  isNew(text: string): boolean {
    const nowMs = this.#reminder?.clock.monotonic() ?? 0;
    if (text === this.#told && nowMs < this.#againMs) return false;
    this.#told = text;
    this.#againMs = nowMs + (this.#reminder?.afterMs ?? Infinity);
    return true;
  }

  /** The reported problem is over: if it comes back, it is new. @returns Whether there was one */
  end(): boolean {
    const wasTold = this.#told !== undefined;
    this.#told = undefined;
    return wasTold;
  }
}
