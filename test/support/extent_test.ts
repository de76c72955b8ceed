import { expect, test } from "bun:test";
import { parseExtent } from "./extent.ts";
import { readSource } from "./sources.ts";

test("parseExtent() takes some by default, and refuses what it does not know", () => {
  expect([parseExtent(), parseExtent("some"), parseExtent("all")]).toEqual(["some", "some", "all"]);
  expect(() => parseExtent("most")).toThrow('LANDFALL_TESTS must be "some" or "all": "most"');
});

test("CI runs all tests", async () => {
  expect(await readSource(".ci/run")).toContain("env LANDFALL_TESTS=all npm run ok ");
});
