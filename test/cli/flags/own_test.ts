import { describe, expect, test } from "bun:test";
import { parseOwnFlags, readAll, throwIssues } from "../../../lib/cli/flags/own.ts";
import type { FlagSpec } from "../../../lib/cli/flags/spec.ts";

const FLAGS: readonly FlagSpec[] = [
  { name: "size", type: "int", default: "1", help: "", effect: "applies" },
  { name: "old", type: "string", default: "", help: "use --size", effect: "removed" },
];

describe("parseOwnFlags()", () => {
  test("reads flags and arguments, and knows --help", () => {
    const { given, args, isHelpWanted } = parseOwnFlags(["a", "--size=2"], {
      flags: FLAGS,
      argsMax: 1,
    });
    expect([given.text("size"), args, isHelpWanted]).toEqual(["2", ["a"], false]);
    expect(parseOwnFlags(["--help", "--size=x"], { flags: FLAGS }).isHelpWanted).toBe(true);
  });

  test.each([
    [["--size=x"], "--size: must be a whole number"],
    [["--old=1"], "--old: was removed; use --size"],
    [["--siez=1"], "did you mean --size?"],
    [["a"], "a"],
  ])("refuses %j", (argv, message) => {
    expect(() => parseOwnFlags(argv, { flags: FLAGS })).toThrow(message);
  });
});

test("readAll() separates flags that can be used from those that are refused", () => {
  const { usable, refused } = readAll(["--size=3", "--old=1"], FLAGS, 0);
  expect(usable.map(({ value }) => value)).toEqual(["3"]);
  expect(refused).toEqual([{ source: "--old", message: "was removed; use --size" }]);
});

test("throwIssues() leaves out advice on a flag that is refused anyway, and throws nothing without an issue", () => {
  const refusal = { source: "--old", message: "was removed" };
  const slip = { source: "--old", message: "write it another way" };
  expect(() => throwIssues([], [slip], [refusal])).toThrow(/^--old: was removed$/);
  expect(() => throwIssues([], [], [])).not.toThrow();
});
