/**
 * Lists of pairs as parameters.
 * @module
 */
import { expect, test } from "bun:test";
import { toIndexed } from "../../../../../lib/providers/cloudstack/load_balancers/apply/indexed.ts";

test("toIndexed() numbers pairs, and sends no empty value", () => {
  const pairs = new Map([
    ["a", "1"],
    ["b", ""],
  ]);
  expect(toIndexed("param", "name", pairs)).toEqual({
    "param[0].name": "a",
    "param[0].value": "1",
    "param[1].name": "b",
  });
  expect(toIndexed("tags", "key", new Map())).toEqual({});
});
