/**
 * Values of flags, read as Go's pflag reads them.
 * @module
 */
import { mustBeOneOf, mustBeText, parseBool, parseDurationWithin } from "../../core/text/values.ts";
import type { FlagSpec } from "./spec.ts";

const DURATION = 'a duration, for example "30s" or "5m0s"';

/**
 * Says what is wrong with a value.
 *
 * @returns The message: what it must be, and what it is; `undefined` when the value is good
 */
export function findValueProblem(spec: FlagSpec, value: string): string | undefined {
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    return mustBeOneOf(spec.choices, value);
  }
  switch (spec.type) {
    case "bool":
      return parseBool(value) !== undefined ? undefined : mustBeText("true or false", value);
    case "int":
      return isInt(value, spec.least) ? undefined : mustBeText(describeInt(spec.least), value);
    case "number":
      return /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(value) ? undefined : mustBeText("a number", value);
    case "duration":
      return isDuration(value) ? undefined : mustBeText(DURATION, value);
    case "string":
    case "list":
      return undefined;
  }
}

function isInt(text: string, least = -Infinity): boolean {
  return /^[+-]?\d{1,15}$/.test(text) && Number(text) >= least;
}

function describeInt(least: number | undefined): string {
  return least === undefined ? "a whole number" : `a whole number from ${least}`;
}

function isDuration(text: string): boolean {
  return parseDurationWithin(text, -Infinity, Infinity) !== undefined;
}
