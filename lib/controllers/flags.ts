/**
 * Flags that controllers bring: how they are read, and those that more than one reads.
 * @module
 */
import { parseDuration } from "../core/text/duration.ts";

/** A flag that a controller brings. */
export interface ControllerFlag {
  /** Long name without dashes, in kebab case. */
  readonly name: string;
  readonly type: "duration" | "int";
  /** Default as it would be written after `=`. */
  readonly default: string;
  /** What it does, in one line without full stop. */
  readonly help: string;
  /** Both are allowed; of a duration in milliseconds. */
  readonly range: readonly [least: number, most: number];
}

/** Values of such flags by name, durations in milliseconds; a flag that is absent has its default. */
export type FlagValues = Readonly<Record<string, number>>;

/** How often Landfall checks every Node even without a change. */
export const FULL_PASS_FLAG: ControllerFlag = {
  name: "node-status-update-frequency",
  type: "duration",
  default: "5m0s",
  help: "How often every Node is compared with its machine even when nothing changed",
  range: [1_000, 24 * 3_600_000],
};

/** The value of a flag; a duration in milliseconds. */
export function readFlag(values: FlagValues, flag: ControllerFlag): number {
  const given = values[flag.name];
  if (given !== undefined) return given;
  return flag.type === "duration" ? parseDuration(flag.default) : Number(flag.default);
}
