import { expect, test } from "bun:test";
import { diffInventories } from "../../lib/cloud/inventory.ts";
import { toInstance, toInventory } from "../support/instances.ts";

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
