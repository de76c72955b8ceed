import { beforeEach, describe, expect, test } from "bun:test";
import {
  type Coverage,
  diffInventories,
  hasOtherCoverage,
  type Inventory,
  LastSeen,
  type Listed,
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

/** A list that was asked for VMs and shows some of them, by ID: their pools. */
function toListed(
  lookedFor: readonly string[],
  shown: Readonly<Record<string, string>>,
  copies: readonly string[] = [],
): Listed {
  const instances = Object.entries(shown).map(
    ([id, region]) => [id, toInstance(id, { region })] as const,
  );
  return {
    instances: new Map(instances),
    lookedFor: new Set(lookedFor),
    copies: new Set(copies),
  };
}

describe("LastSeen", () => {
  let seen: LastSeen;
  beforeEach(() => {
    seen = new LastSeen(10, ({ region }) => region);
  });

  test("knows where a VM was that vanished, from whatever list it was in last", () => {
    expect(seen.findPlace("vm")).toBeUndefined();
    seen.noteList(toListed(["vm"], { vm: "a" }));
    expect(seen.findPlace("vm")).toBe("a");
    seen.noteList(toListed(["vm"], { vm: "b" }));
    for (let times = 0; times < 3; times += 1) {
      seen.noteList(toListed(["vm"], {}));
      expect(seen.findPlace("vm")).toBe("b");
    }
    seen.noteList(toListed(["vm"], { vm: "a" }));
    expect(seen.findPlace("vm")).toBe("a");
  });

  test("forgets a VM that vanished once no Node asks for it", () => {
    seen.noteList(toListed(["vm"], { vm: "a" }));
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBe("a");
    seen.noteList(toListed([], {}));
    seen.noteList(toListed([], {}));
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBeUndefined();
  });

  const BETWEEN: [string, Readonly<Record<string, string>>][] = [
    ["shows it", { vm: "a" }],
    ["lacks it", {}],
  ];
  test.each(BETWEEN)(
    "knows a VM whose Node registers again: the list between %s",
    (_title, shown) => {
      seen.noteList(toListed(["vm"], { vm: "a" }));
      seen.noteList(toListed([], shown));
      expect(seen.findPlace("vm")).toBe("a");
      seen.noteList(toListed(["vm"], { vm: "b" }, ["vm"]));
      expect(seen.findPlace("vm")).toBe("a");
    },
  );

  test("knows a VM whose Node registers again, when nothing else changed between", () => {
    const listed = toListed(["vm"], { vm: "a" });
    seen.noteList(listed);
    seen.noteList({ ...listed, lookedFor: new Set() });
    seen.noteList({ ...listed, copies: new Set(["vm"]) });
    expect(seen.findPlace("vm")).toBe("a");
  });

  test("knows nothing of a VM that no list ever showed, or that no Node asked for", () => {
    seen.noteList(toListed([], { vm: "a" }));
    expect(seen.findPlace("vm")).toBeUndefined();
    seen.noteList(toListed(["vm", "other"], {}));
    expect(seen.findPlace("vm")).toBeUndefined();
    expect(seen.findPlace("other")).toBeUndefined();
  });

  test("takes a VM that was read by itself as seen, until a list shows it", () => {
    seen.noteList(toListed(["vm"], { vm: "a" }));
    seen.note("vm", "b");
    expect(seen.findPlace("vm")).toBe("b");
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBe("b");
    const listed = toListed(["vm"], { vm: "c" });
    seen.noteList(listed);
    seen.note("vm", "d");
    // The list after shows the very same.
    seen.noteList({ ...listed, lookedFor: new Set(["vm"]) });
    expect(seen.findPlace("vm")).toBe("c");
  });

  test("counts a VM as seen in a list that did not change, once a Node asks for it", () => {
    const listed = toListed([], { vm: "a" });
    seen.noteList(listed);
    seen.noteList({ ...listed, lookedFor: new Set(["vm"]) });
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBe("a");
  });

  test("does not count a copy as seen, and knows where the VM itself was", () => {
    seen.noteList(toListed(["vm", "new"], { vm: "a" }));
    for (let times = 0; times < 2; times += 1) {
      seen.noteList(toListed(["vm", "new"], { vm: "b", new: "b" }, ["vm", "new"]));
      expect(seen.findPlace("vm")).toBe("a");
      expect(seen.findPlace("new")).toBeUndefined();
    }
    seen.noteList(toListed(["vm", "new"], {}));
    expect(seen.findPlace("vm")).toBe("a");
    expect(seen.findPlace("new")).toBeUndefined();
    seen.noteList(toListed(["vm"], { vm: "b" }));
    expect(seen.findPlace("vm")).toBe("b");
  });

  test("forgets the longest gone when there are too many: then nothing is proven of them", () => {
    seen = new LastSeen(2, ({ region }) => region);
    const ids = ["1", "2", "3"];
    seen.noteList(toListed(ids, { "1": "a", "2": "a", "3": "a" }));
    seen.noteList(toListed(ids, { "2": "a", "3": "a" }));
    seen.noteList(toListed(ids, {}));
    expect(ids.map((id) => seen.findPlace(id))).toEqual([undefined, "a", "a"]);
  });
});
