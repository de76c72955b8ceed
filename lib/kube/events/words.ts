/**
 * Events as words: what makes one kind of Event another.
 * @module
 */
import type { EventOptions } from "./events.ts";

/** One Event that a controller writes. */
export interface EventWord {
  /** UpperCamelCase, because people filter by it. */
  readonly reason: string;
  readonly type: "Normal" | "Warning";
  /** When it is written, in a sentence for the reference page. */
  readonly meaning: string;
}

/** An Event of such a word, without its meaning, which is for the reference page alone. */
export function toEvent({ type, reason }: EventWord, message: string): EventOptions {
  return { type, reason, message };
}
