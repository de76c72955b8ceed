import { expect, test } from "bun:test";
import { CAPABILITIES, listLacking } from "../../../lib/cloud/capabilities/mod.ts";

test("listLacking() names what a provider needs and has not", () => {
  const changes = { watchChanges: () => Promise.resolve() };
  expect(listLacking({ changes }, ["changes"])).toEqual([]);
  expect(listLacking({}, ["changes"])).toEqual(["changes"]);
  expect(listLacking({}, [])).toEqual([]);
});

test("CAPABILITIES are said so that they end a sentence", () => {
  for (const what of Object.values(CAPABILITIES)) expect(what).toMatch(/^[a-z].*[a-z]$/);
});
