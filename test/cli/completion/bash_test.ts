/**
 * Completions in a real bash.
 * @module
 */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { formatBash } from "../../../lib/cli/completion/bash.ts";
import { COMPLETED } from "../../support/completed.ts";

/** What bash offers for a line, of which bash itself makes words. */
function complete(line: string): string[] {
  const words = line.replaceAll("=", " = ").split(" ");
  const shown = words.map((word) => `'${word}'`).join(" ");
  const script = `${formatBash(COMPLETED)}
COMP_WORDS=(${shown}); COMP_CWORD=${words.length - 1}; _landfall
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8" });
  return out.split("\n").filter((word) => word !== "");
}

test.each<[string, string[]]>([
  ["landfall ", ["run", "show", "pick", "help"]],
  ["landfall s", ["show"]],
  ["landfall show --o", ["--output=", "--once"]],
  ["landfall show --output=", ["text", "json"]],
  ["landfall show --output=j", ["json"]],
  ["landfall show --output j", ["json"]],
  ["landfall show -o ", ["text", "json"]],
  ["landfall show --once --ou", ["--output="]],
  ["landfall show --file=", []],
  ["landfall --lo", ["--log="]],
  ["landfall run --lo", ["--log="]],
  ["landfall pick ", ["one", "two"]],
  ["landfall pick t", ["two"]],
  ["landfall pick --o", ["--once"]],
  ["landfall help s", ["show"]],
])("formatBash() completes `%s`", (line, words) => {
  expect(complete(line)).toEqual(words);
});
