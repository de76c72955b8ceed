/**
 * Values of flags, read as Go's pflag reads them.
 * @module
 */
import { parseBool } from "../../core/text/bool.ts";
import { parseDurationWithin } from "../../core/text/duration.ts";
import type { FlagSpec } from "./spec.ts";

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
 * @returns What was wanted, as the end of a sentence; `undefined` when the value is good
 */
export function findValueProblem(spec: FlagSpec, value: string): string | undefined {
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    return `wanted ${spec.choices.join(" or ")}`;
  }
  switch (spec.type) {
    case "bool":
      return parseBool(value) !== undefined ? undefined : "wanted true or false";
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
  return parseDurationWithin(text, -Infinity, Infinity) !== undefined;
}
