/**
 * The table of commands against the command line.
 * @module
 */
import { expect, test } from "bun:test";
import { COMMANDS } from "../../lib/cli/commands.ts";
import { parseFlags } from "../../lib/cli/flags/mod.ts";
import { parseOwnFlags } from "../../lib/cli/flags/own.ts";
import { FLAGS } from "../../lib/cli/flags/table.ts";
import { main } from "../../lib/cli/main.ts";

test("every command has a summary, a description and an example, in plain lines", () => {
  for (const { name, summary, description, examples } of COMMANDS) {
    expect(summary, name).toMatch(/^[A-Z].*[^.]$/);
    expect(description.every((text) => text.endsWith("."))).toBe(true);
    expect(examples.length).toBeGreaterThan(0);
  }
});

test.each(COMMANDS.map(({ name }) => name))("main() knows the command %s", async (name) => {
  let out = "";
  const print = (text: string): unknown => (out += text);
  expect(await main([name, "--help"], { env: {}, print, complain: print })).toBe(0);
  expect(out).toStartWith(`Usage:\n  landfall ${name} `);
});

test("examples use flags that their command has", () => {
  for (const { name, examples, flags = [], runFlags } of COMMANDS) {
    for (const [, line] of examples) {
      const argv = line
        .split(" ")
        .slice(1)
        .map((word) => word.replaceAll("'", ""))
        .filter((word) => word.startsWith("--"));
      if (runFlags !== undefined) parseFlags(argv, undefined, { flags });
      else expect(() => parseOwnFlags(argv, { flags }), name).not.toThrow();
    }
  }
});

test("examples quote what a shell would take as a pattern", () => {
  for (const [, line] of COMMANDS.flatMap(({ examples }) => examples)) {
    expect(line.replaceAll(/'[^']*'/g, "")).not.toMatch(/[*?[\]]/);
  }
});

test("a command has no flag of its own that means something else to run", () => {
  for (const { flags = [], runFlags } of COMMANDS) {
    if (runFlags === undefined) continue;
    const own = new Set(flags.map((flag) => flag.name));
    expect(FLAGS.filter((flag) => own.has(flag.name))).toEqual([]);
  }
});
