/**
 * Flags of controllers: their description, their values, and flags that several controllers read.
 * @module
 */
import { parseDuration } from "../core/text/values.ts";

interface FlagWords {
  /** Long name without dashes, in kebab case. */
  readonly name: string;
  /** Default, as an operator would write it after `=`. */
  readonly default: string;
  /** What it does, in one line without full stop. */
  readonly help: string;
}

/** A flag of a controller with a number. */
export interface NumberFlag extends FlagWords {
  readonly type: "duration" | "int";
  /** Both limits are allowed; for a duration in milliseconds. */
  readonly range: readonly [least: number, most: number];
}

/** A flag of a controller with a text. */
export interface TextFlag extends FlagWords {
  readonly type: "string";
  /**
   * Says what is wrong with a text, to complete the sentence "must be …".
   *
   * @returns `undefined` if nothing is
   */
  readonly findProblem: (text: string) => string | undefined;
}

/** A flag of a controller. */
export type ControllerFlag = NumberFlag | TextFlag;

/** Values of these flags by name, durations in milliseconds. A flag that is absent has its default. */
export type FlagValues = Readonly<Record<string, number | string>>;

/** How often Landfall checks every Node even without a change. */
export const FULL_PASS_FLAG: NumberFlag = {
  name: "node-status-update-frequency",
  type: "duration",
  default: "5m0s",
  help: "How often Landfall compares every Node with its machine, even without a change",
  range: [1_000, 24 * 3_600_000],
};

/** Returns the value of a flag; a duration in milliseconds. */
export function readFlag(values: FlagValues, flag: NumberFlag): number {
  const given = values[flag.name];
  if (typeof given === "number") return given;
  return flag.type === "duration" ? parseDuration(flag.default) : Number(flag.default);
}

/** Returns the text of a flag. */
export function readTextFlag(values: FlagValues, flag: TextFlag): string {
  return String(values[flag.name] ?? flag.default);
}
