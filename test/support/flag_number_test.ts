import { expect, test } from "bun:test";
import { type FlagRange, readFlagNumber } from "./flag_number.ts";

test.each<[text: string, range: FlagRange, number: number]>([
  ["1", {}, 1],
  ["0", { min: 0 }, 0],
  ["0.5", { fraction: true }, 0.5],
  ["7", { max: 7 }, 7],
])("readFlagNumber() takes %s", (text, range, number) => {
  expect(readFlagNumber("--count", text, range)).toBe(number);
});

test.each<[text: string, range: FlagRange, wanted: string]>([
  ["abc", {}, "a whole number from 1"],
  ["", {}, "a whole number from 1"],
  ["1.5", {}, "a whole number from 1"],
  ["Infinity", {}, "a whole number from 1"],
  ["0", {}, "a whole number from 1"],
  ["-1", { min: 0 }, "a whole number from 0"],
  ["8", { max: 7 }, "a whole number from 1 to 7"],
  ["0", { fraction: true }, "a number above 0"],
  ["NaN", { fraction: true, min: 0 }, "a number from 0"],
])("readFlagNumber() refuses %p with %p", (text, range, wanted) => {
  expect(() => readFlagNumber("--count", text, range)).toThrow(
    `--count: wanted ${wanted}, found "${text}"`,
  );
});
