import { expect, test } from "bun:test";
import { GivenFlags } from "../../../lib/cli/flags/given.ts";
import { FLAGS } from "../../../lib/cli/flags/table.ts";
import { readFlagTokens } from "../../../lib/cli/flags/tokens.ts";

function give(...argv: readonly string[]): GivenFlags {
  return new GivenFlags(readFlagTokens(argv, FLAGS).tokens, FLAGS);
}

test("GivenFlags gives the last value of a flag, and its default when there is none", () => {
  expect(give("--v=1", "--v=2").text("v")).toBe("2");
  expect(give().text("v")).toBe("0");
});

test("GivenFlags adds up lists, but not to their default", () => {
  const flag = "authorization-always-allow-paths";
  expect(give(`--${flag}=/a`, `--${flag}=/b`).text(flag)).toBe("/a,/b");
});

test("GivenFlags does not know a flag that is in no table", () => {
  expect(() => give().text("nonsense")).toThrow("nonsense");
});
