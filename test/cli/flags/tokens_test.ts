/**
 * From argv to flags with values.
 * @module
 */
import { expect, test } from "bun:test";
import type { FlagSpec } from "../../../lib/cli/flags/spec.ts";
import { readFlagTokens } from "../../../lib/cli/flags/tokens.ts";

const SPECS: readonly FlagSpec[] = [
  { name: "name-of", type: "string", default: "", help: "", effect: "applies" },
  { name: "level", short: "l", type: "int", default: "0", help: "", effect: "applies" },
  { name: "on", type: "bool", default: "false", help: "", effect: "applies" },
];

const good: readonly [readonly string[], readonly string[]][] = [
  [["--name-of=x"], ["name-of=x"]],
  [["--name_of", "x"], ["name-of=x"]],
  [["--name-of", "-x"], ["name-of=-x"]],
  [["--name-of", ""], ["name-of="]],
  [["--name-of=a\nb"], ["name-of=a\nb"]],
  [
    ["-l3", "-l=4", "-l", "5", "--level=6"],
    ["level=3", "level=4", "level=5", "level=6"],
  ],
  [
    ["--on", "--on=false"],
    ["on=true", "on=false"],
  ],
];
test.each(good)("readFlagTokens() reads %j", (argv, flags) => {
  const { tokens, issues } = readFlagTokens(argv, SPECS);
  expect(tokens.map(({ spec, value }) => `${spec.name}=${value}`)).toEqual([...flags]);
  expect(issues).toEqual([]);
});

const bad: readonly [readonly string[], number][] = [
  [["-"], 1],
  [["a", "b"], 2],
  [["--", "--on", "b"], 2],
  [["--l=3"], 1],
  [["-name-o"], 1],
];
test.each(bad)("readFlagTokens() finds in %j %d issue(s)", (argv, count) => {
  expect(readFlagTokens(argv, SPECS).issues).toHaveLength(count);
});

test.each(["true", "False"])("readFlagTokens() takes --on %s for a slip", (word) => {
  const { tokens, issues, slips } = readFlagTokens(["--on", word, "--name-of=x"], SPECS);
  expect(tokens.map(({ value }) => value)).toEqual([word, "x"]);
  expect(issues).toEqual([]);
  expect(slips.map(({ source }) => source)).toEqual(["--on"]);
});
