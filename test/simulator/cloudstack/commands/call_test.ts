import { expect, test } from "bun:test";
import {
  findNamed,
  isSame,
  matches,
  needNamed,
  toList,
} from "../../../../lib/simulator/cloudstack/commands/call.ts";
import { Parameters } from "../../../../lib/simulator/cloudstack/parameters.ts";

const objects = new Map([["a1", "object"]]);
const toParameters = (fields: Record<string, string>): Parameters =>
  new Parameters(new Map(Object.entries({ command: "listZones", ...fields })));

test("findNamed() and needNamed() find by ID in any case", () => {
  const parameters = toParameters({ id: "A1" });
  expect(findNamed(parameters, "id", objects)).toBe("object");
  expect(needNamed(parameters, "id", objects)).toBe("object");
});

test("findNamed() and needNamed() refuse an unknown ID, only the second a missing one", () => {
  expect(() => findNamed(toParameters({ id: "b" }), "id", objects)).toThrow("value=b due to");
  expect(() => needNamed(toParameters({ id: "b" }), "id", objects)).toThrow("value=b due to");
  expect(findNamed(toParameters({ id: "" }), "id", objects)).toBeUndefined();
  expect(() => needNamed(toParameters({}), "id", objects)).toThrow("missing parameter id");
});

test("toList() makes only the entries that are asked for", () => {
  const made: number[] = [];
  const list = toList("n", [1, 2, 3], (n) => ({ n: made.push(n) }));
  expect([list.count, list.slice(1, 2)]).toEqual([3, [{ n: 1 }]]);
  expect(made).toEqual([2]);
});

test("matches() and isSame() do not look at case", () => {
  expect(matches(toParameters({}), "x")).toBe(true);
  expect(matches(toParameters({ keyword: "AR" }), "x", "Paris")).toBe(true);
  expect(matches(toParameters({ keyword: "lyon" }), "paris")).toBe(false);
  expect([isSame(undefined, "a"), isSame("A", "a"), isSame("a", "ab")]).toEqual([
    true,
    true,
    false,
  ]);
});
