import { describe, expect, test } from "bun:test";
import {
  type Coverage,
  diffInventories,
  hasOtherCoverage,
  type Inventory,
  mergeInstances,
} from "../../../lib/cloud/inventory/inventory.ts";
import { toInstance, toInventory } from "../../support/cloud/instances.ts";

test("diffInventories() names what is new, changed and gone, and nothing else", () => {
  const before = toInventory([
    toInstance("same"),
    toInstance("changed", { zone: "z1" }),
    toInstance("gone"),
  ]);
  const after = toInventory([
    toInstance("same"),
    toInstance("changed", { zone: "z2" }),
    toInstance("new"),
  ]);
  expect([...diffInventories(before, after)].sort()).toEqual(["changed", "gone", "new"]);
});

test("diffInventories() names everything when there was no inventory before", () => {
  expect([...diffInventories(undefined, toInventory([toInstance("a")]))]).toEqual(["a"]);
});

test("diffInventories() names nothing for an equal inventory", () => {
  const build = (): ReturnType<typeof toInventory> => toInventory([toInstance("a", { zone: "z" })]);
  expect(diffInventories(build(), build()).size).toBe(0);
});

test("mergeInstances() puts in what is new or changed, and leaves everything else as it was", () => {
  const before = {
    ...toInventory([toInstance("a"), toInstance("b", { zone: "z1" })], 7),
    undecodable: new Map([
      ["c", "why"],
      ["d", "why"],
    ]),
    lookedFor: new Set(["a", "b", "c", "d", "e"]),
  };
  const shown = ["a", "b", "c", "e"].map((id) => toInstance(id, id === "b" ? { zone: "z2" } : {}));
  const { inventory, changed } = mergeInstances(before, new Map(shown.map((one) => [one.id, one])));
  expect([...changed]).toEqual(["b", "c", "e"]);
  expect(inventory).toEqual({
    ...before,
    instances: new Map(shown.map((one) => [one.id, one])),
    undecodable: new Map([["d", "why"]]),
  });
  expect(before.instances.size).toBe(2);
});

test("mergeInstances() gives the very same inventory when nothing differs, or nothing is shown", () => {
  const before = toInventory([toInstance("a", { zone: "z" })]);
  for (const shown of [new Map(), new Map([["a", toInstance("a", { zone: "z" })]])]) {
    const { inventory, changed } = mergeInstances(before, shown);
    expect(inventory).toBe(before);
    expect(changed.size).toBe(0);
  }
});

describe("hasOtherCoverage()", () => {
  const shown = { complete: true, name: "paris" };
  const lost = { complete: false, name: "paris", reason: "no connection" };
  const cases: readonly (readonly [string, [string, Coverage][] | undefined, boolean])[] = [
    ["there was no inventory", undefined, false],
    ["the same parts answered", [["a", { ...shown, name: "renamed" }]], false],
    ["a part was lost", [["a", lost]], true],
    ["a part was not there", [], true],
    [
      "a part is gone",
      [
        ["a", shown],
        ["b", shown],
      ],
      true,
    ],
    ["another part was there", [["b", shown]], true],
  ];
  test.each(cases)("%s", (_title, before, expected) => {
    const toCovered = (parts: [string, Coverage][]): Inventory => ({
      ...toInventory([toInstance("i")]),
      coverage: new Map(parts),
    });
    const after = toCovered([["a", shown]]);
    expect(hasOtherCoverage(before && toCovered(before), after)).toBe(expected);
  });

  test("a lost part with another reason is as lost as before", () => {
    const toCovered = (reason: string): Inventory => ({
      ...toInventory([]),
      coverage: new Map([["a", { ...lost, reason }]]),
    });
    expect(hasOtherCoverage(toCovered("for 1s"), toCovered("for 2s"))).toBe(false);
  });
});
