/**
 * The text of `help` and `--help`.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { COMMANDS } from "../../lib/cli/commands.ts";
import { FLAGS } from "../../lib/cli/flags/table.ts";
import {
  formatFlagHelp,
  formatHelp,
  help,
  listShownFlags,
  printHelp,
  toUnknownCommand,
} from "../../lib/cli/help.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { galleryController } from "../support/galleries/definition.ts";

const NAMES = COMMANDS.map(({ name }) => name);

function capture(work: (print: (text: string) => void) => number): string {
  let out = "";
  expect(work((text) => (out += text))).toBe(0);
  return out;
}

describe("formatHelp()", () => {
  test.each([undefined, ...NAMES])("has no line beyond 80 characters for %p", (command) => {
    const text = formatHelp(command === undefined ? {} : { command });
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(text).toEndWith("\n");
    expect(text).toContain("Examples:\n");
  });

  test("lists every command in the overview", () => {
    for (const name of [...NAMES, "help"])
      expect(formatHelp()).toMatch(new RegExp(`^  ${name} +`, "m"));
  });

  test.each([
    ["run", ["Cloud:", "Leader election:", "--cloud-config=", "-h, --help"], ["--as=", "Report:"]],
    ["check", ["Report:", "-o, --output=text", "--fail-on=fail", "--secure-port=10258"], []],
    ["nodes", ["[NAME]", "--debug-address=", "have no effect"], ["--secure-port", "Leader"]],
    ["demo", ["--once", "-h, --help"], ["--cloud-config"]],
    ["completion", ["bash|zsh|fish"], ["--cloud-config"]],
  ])("shows for %s its own flags and those of run that matter", (command, shown, hidden) => {
    const text = formatHelp({ command });
    for (const part of shown) expect(text).toContain(part);
    for (const part of hidden) expect(text).not.toContain(part);
  });

  test("names the controllers that --controllers takes, and none that Landfall lacks", () => {
    const registry = [...CONTROLLERS, galleryController];
    const [, last = ""] = formatHelp({ command: "run", registry }).split("Names for --controllers");
    for (const { name } of registry) expect(last).toContain(name);
    expect(last).not.toContain("route");
  });

  test("continues a long example with a backslash, so that it can be pasted", () => {
    expect(formatHelp({ command: "check", width: 50 })).toMatch(
      /^ {2}landfall check \S+ \\\n {4}--/m,
    );
  });
});

test("formatFlagHelp() has an entry for each flag, with its default and help", () => {
  const flags = FLAGS.filter(({ effect }) => effect === "applies");
  const text = formatFlagHelp(flags, Infinity);
  for (const { name, help: what } of flags) {
    expect(text).toContain(`--${name}`);
    expect(text).toContain(what);
  }
});

test("listShownFlags() has each flag once", () => {
  for (const spec of COMMANDS) {
    const names = listShownFlags(spec).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("help");
  }
});

test("printHelp() is as wide as the terminal, and 80 characters at most", () => {
  const shown = (COLUMNS: string): number =>
    Math.max(
      ...capture((print) => printHelp({ env: { COLUMNS }, print, complain: print }, "nodes"))
        .split("\n")
        .map((line) => line.length),
    );
  expect(shown("60")).toBeLessThanOrEqual(60);
  expect(shown("200")).toBeLessThanOrEqual(80);
});

describe("help()", () => {
  const run = (...argv: readonly string[]): string =>
    capture((print) => help(argv, { env: {}, print, complain: print }));

  test("shows the overview, or one command", () => {
    expect(run()).toBe(formatHelp());
    expect(run("help")).toBe(formatHelp());
    expect(run("--help")).toBe(formatHelp());
    expect(run("check")).toBe(formatHelp({ command: "check" }));
  });

  test("refuses a command that does not exist", () => {
    expect(() => run("chek")).toThrow('unknown command "chek"; did you mean check?');
  });
});

test.each([
  ["chek", "did you mean check?"],
  ["chekc", "did you mean check?"],
  ["node", "did you mean nodes?"],
  ["complet", "did you mean completion?"],
  ["fly", "see landfall --help"],
])("toUnknownCommand() answers %s with %s", (command, hint) => {
  expect(toUnknownCommand(command).message).toBe(`unknown command "${command}"; ${hint}`);
});
