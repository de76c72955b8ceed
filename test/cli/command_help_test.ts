/**
 * The text of help on one command.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { formatCommandHelp, listShownFlags } from "../../lib/cli/command_help.ts";
import { COMMANDS, findCommand } from "../../lib/cli/commands.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { galleryController } from "../support/galleries/definition.ts";

function format(command: string, options: Parameters<typeof formatCommandHelp>[1] = {}): string {
  const spec = findCommand(command);
  return spec === undefined ? "" : formatCommandHelp(spec, options);
}

describe("formatCommandHelp()", () => {
  test.each(COMMANDS.map(({ name }) => name))(
    "has no line beyond 80 characters for %p",
    (command) => {
      const text = format(command);
      expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(text).toEndWith("\n");
      expect(text).toContain("Examples:\n");
    },
  );

  test.each([
    ["run", ["Cloud:", "Leader election:", "--cloud-config=", "-h, --help"], ["--as=", "Report:"]],
    ["check", ["Report:", "-o, --output=text", "--fail-on=fail", "--secure-port=10258"], []],
    ["nodes", ["[NAME]", "--debug-address=", "have no effect"], ["--secure-port", "Leader"]],
    ["demo", ["--once", "-h, --help"], ["--cloud-config"]],
    ["completion", ["bash|zsh|fish"], ["--cloud-config"]],
  ])("shows for %s its own flags and those of run that matter", (command, shown, hidden) => {
    const text = format(command);
    for (const part of shown) expect(text).toContain(part);
    for (const part of hidden) expect(text).not.toContain(part);
  });

  test("names the controllers that --controllers takes, and none that Landfall lacks", () => {
    const registry = [...CONTROLLERS, galleryController];
    const [, last = ""] = format("run", { registry }).split("Names for --controllers");
    for (const { name } of registry) expect(last).toContain(name);
    expect(last).not.toContain("route");
  });

  test("continues a long example with a backslash, so that it can be pasted", () => {
    expect(format("check", { width: 50 })).toMatch(/^ {2}landfall check \S+ \\\n {4}--/m);
  });
});

test("listShownFlags() has each flag once", () => {
  for (const spec of COMMANDS) {
    const names = listShownFlags(spec).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("help");
  }
});
