/**
 * `landfall help`.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { COMMANDS } from "../../lib/cli/commands.ts";
import { formatOverview, help, printHelp } from "../../lib/cli/help.ts";

async function capture(work: (print: (text: string) => void) => Promise<number>): Promise<string> {
  let out = "";
  expect(await work((text) => (out += text))).toBe(0);
  return out;
}

test("formatOverview() lists every command, on lines of 80 characters at most", () => {
  const text = formatOverview();
  for (const name of [...COMMANDS.map((one) => one.name), "help"]) {
    expect(text).toMatch(new RegExp(`^  ${name} +`, "m"));
  }
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(text).toEndWith("\n");
  expect(text).toContain("Examples:\n");
});

test("printHelp() is as wide as the terminal, and 80 characters at most", async () => {
  const show = async (COLUMNS: string): Promise<number> => {
    const text = await capture((print) =>
      printHelp({ env: { COLUMNS }, print, complain: print }, "nodes"),
    );
    return Math.max(...text.split("\n").map((line) => line.length));
  };
  expect(await show("60")).toBeLessThanOrEqual(60);
  expect(await show("200")).toBeLessThanOrEqual(80);
});

describe("help()", () => {
  const run = (...argv: readonly string[]): Promise<string> =>
    capture((print) => help(argv, { env: {}, print, complain: print }));

  test("shows the overview, or one command", async () => {
    expect(await run()).toBe(formatOverview());
    expect(await run("help")).toBe(formatOverview());
    expect(await run("--help")).toBe(formatOverview());
    expect(await run("check")).toStartWith("Usage:\n  landfall check");
  });

  test("refuses a command that does not exist", async () => {
    await expect(run("chek")).rejects.toThrow('unknown command "chek"; did you mean check?');
  });
});
