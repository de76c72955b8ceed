/**
 * Numbers in the flags of what only developers run.
 * @module
 */

/** What a number must be. */
export interface FlagRange {
  /** @default {false} */
  readonly fraction?: boolean;
  /** @default {1}; with fractions, anything above 0 */
  readonly min?: number;
  readonly max?: number;
}

/** Reads the value of a flag: one that nobody can use would else do nothing, and look like success. @throws {Error} */
export function readFlagNumber(flag: string, text: string, range: FlagRange = {}): number {
  const { fraction = false, min = fraction ? Number.MIN_VALUE : 1, max = Infinity } = range;
  const number = Number(text);
  const isRight = text.trim() !== "" && (fraction || Number.isSafeInteger(number));
  if (isRight && number >= min && number <= max) return number;
  const least = min === Number.MIN_VALUE ? "above 0" : `from ${min}`;
  const most = max === Infinity ? "" : ` to ${max}`;
  const kind = fraction ? "number" : "whole number";
  throw new Error(`${flag}: wanted a ${kind} ${least}${most}, found "${text}"`);
}
