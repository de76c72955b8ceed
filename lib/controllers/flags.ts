/**
 * Flags of controllers: their description, their values, and flags that several controllers read.
 * @module
 */
import { parseDuration } from "../core/text/duration.ts";

/** A flag of a controller. */
export interface ControllerFlag {
  /** Long name without dashes, in kebab case. */
  readonly name: string;
  readonly type: "duration" | "int";
  /** Default, as an operator would write it after `=`. */
  readonly default: string;
  /** What it does, in one line without full stop. */
  readonly help: string;
  /** Both limits are allowed; for a duration in milliseconds. */
  readonly range: readonly [least: number, most: number];
}

/** Values of these flags by name, durations in milliseconds. A flag that is absent has its default. */
export type FlagValues = Readonly<Record<string, number>>;

/** How often Landfall checks every Node even without a change. */
export const FULL_PASS_FLAG: ControllerFlag = {
  name: "node-status-update-frequency",
  type: "duration",
  default: "5m0s",
  help: "How often Landfall compares every Node with its machine, even without a change",
  range: [1_000, 24 * 3_600_000],
};

/** Returns the value of a flag; a duration in milliseconds. */
export function readFlag(values: FlagValues, flag: ControllerFlag): number {
  const given = values[flag.name];
  if (given !== undefined) return given;
  return flag.type === "duration" ? parseDuration(flag.default) : Number(flag.default);
}
