import { expect, test } from "bun:test";
import { printVersion } from "../../lib/cli/print_version.ts";
import { VERSION } from "../../lib/cli/version.ts";

async function run(...argv: readonly string[]): Promise<string> {
  let out = "";
  const print = (text: string): unknown => (out += text);
  expect(await printVersion(argv, { env: {}, print, complain: print })).toBe(0);
  return out;
}

test("printVersion() prints a line, or JSON with the commit and the platform", async () => {
  expect(await run()).toBe(`landfall ${VERSION}\n`);
  expect(JSON.parse(await run("-o", "json"))).toEqual({
    version: VERSION,
    commit: "unknown",
    platform: expect.stringMatching(/^\w+\/\w+$/),
    bun: Bun.version,
  });
  expect(await run("--help")).toStartWith("Usage:\n  landfall version");
});

test("printVersion() refuses what it does not know", async () => {
  await expect(run("-o", "yaml")).rejects.toThrow('--output: must be text or json, but is "yaml"');
  await expect(run("now")).rejects.toThrow('unexpected argument "now"');
});
