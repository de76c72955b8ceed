/**
 * Kinds of Events, each with its reason and type.
 * @module
 */
import type { EventOptions } from "./events.ts";

/** A kind of Event that a controller writes. */
export interface EventWord {
  /** UpperCamelCase, because users filter by it. */
  readonly reason: string;
  readonly type: "Normal" | "Warning";
  /** When Landfall writes it, in a sentence for the reference page. */
  readonly meaning: string;
}

/** An Event of this kind. It does not contain the meaning, which only the reference page has. */
export function toEvent({ type, reason }: EventWord, message: string): EventOptions {
  return { type, reason, message };
}
