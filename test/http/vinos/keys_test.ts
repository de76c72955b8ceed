import { expect, test } from "bun:test";
import { toMachinePath, toVinoKey, toVinoPath } from "../../../lib/http/vinos/keys.ts";

test("toVinoKey(), toVinoPath() and toMachinePath() keep odd names in their place", () => {
  expect(toVinoKey({ namespace: "a", name: "b" })).toBe("a/b");
  expect(toVinoPath("../", "a/b?c")).toBe("../vinos/a/b%3Fc");
  expect(toMachinePath("", "a/b", 'x"&y')).toBe("vinos/a/b?machine=x%22%26y");
});
