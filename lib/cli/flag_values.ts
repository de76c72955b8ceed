/**
 * Values of flags, read as Go's pflag reads them.
 * @module
 */
import { parseDuration } from "../core/duration.ts";
import type { FlagSpec } from "./flag_spec.ts";

/** The forms of Go's `strconv.ParseBool`. */
const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

/**
 * Reads a switch.
 *
 * @returns `undefined` when the text is no boolean
 */
export function parseBool(text: string): boolean | undefined {
  return BOOLS.get(text);
}

/** Splits a comma separated list; blanks around items and empty items are dropped. */
export function parseList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/**
 * Says what is wrong with a value, if anything is.
 *
 * @returns What was wanted, as the end of a sentence; `undefined` when the value will do
 */
export function findValueProblem(spec: FlagSpec, value: string): string | undefined {
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    return `wanted ${spec.choices.join(" or ")}`;
  }
  switch (spec.type) {
    case "bool":
      return BOOLS.has(value) ? undefined : "wanted true or false";
    case "int":
      return isInt(value, spec.least) ? undefined : toWantedInt(spec.least);
    case "number":
      return /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(value) ? undefined : "wanted a number";
    case "duration":
      return isDuration(value) ? undefined : 'wanted a duration such as "30s" or "5m0s"';
    case "string":
    case "list":
      return undefined;
  }
}

function isInt(text: string, least = -Infinity): boolean {
  return /^[+-]?\d{1,15}$/.test(text) && Number(text) >= least;
}

function toWantedInt(least: number | undefined): string {
  return `wanted a whole number${least === undefined ? "" : `, at least ${least}`}`;
}

function isDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}
