/**
 * Values of flags, as Go reads them.
 * @module
 */
import { expect, test } from "bun:test";
import { findValueProblem } from "../../../lib/cli/flags/values.ts";
import type { FlagType } from "../../../lib/cli/flags/spec.ts";

const values: readonly [FlagType, string, boolean][] = [
  ["string", "", true],
  ["list", "a,b", true],
  ["int", "-3", true],
  ["int", "3.5", false],
  ["int", "", false],
  ["number", "20.5", true],
  ["number", "1e3", false],
  ["duration", "5m0s", true],
  ["duration", "5", false],
  ["bool", "T", true],
  ["bool", "yes", false],
];
test.each(values)("findValueProblem() of a %s %j: will it do? %p", (type, value, isGood) => {
  const spec = { name: "x", type, default: "", help: "", effect: "applies" } as const;
  expect(findValueProblem(spec, value) === undefined).toBe(isGood);
});

test("findValueProblem() refuses a number below the least", () => {
  const spec = {
    name: "x",
    type: "int",
    default: "1",
    help: "",
    effect: "applies",
    least: 1,
  } as const;
  expect(findValueProblem(spec, "1")).toBeUndefined();
  expect(findValueProblem(spec, "0")).toBe('must be a whole number from 1, but is "0"');
});
