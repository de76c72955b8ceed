import { describe, expect, test } from "bun:test";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import type { Instance, Presence } from "../../../../lib/cloud/provider.ts";
import { parseIdentity } from "../../../../lib/providers/cloudstack/model/identity.ts";
import type { CloudStackInventory } from "../../../../lib/providers/cloudstack/model/inventory.ts";
import { findInstance } from "../../../../lib/providers/cloudstack/model/matching.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

const [A, B, C] = ["a", "b", "c"].map((end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`);

function toInventory(
  instances: readonly Instance[],
  over: Partial<CloudStackInventory> = {},
): Inventory {
  return {
    observedAtMs: 0,
    instances: new Map(instances.map((one) => [one.id, one])),
    coverage: new Map([["zone", { complete: true }]]),
    undecodable: new Map(),
    ...over,
  };
}

function named(id: string | undefined, name: string, over: object = {}): Instance {
  return { ...toInstance(id ?? "", { name }), ...over };
}

function find(inventory: Inventory, name: string, providerId?: string): Presence {
  return findInstance(inventory, parseIdentity({ name, ...(providerId && { providerId }) }));
}

describe("findInstance()", () => {
  test("finds by provider ID, whatever the name", () => {
    const inventory = toInventory([named(A, "one"), named(B, "two")]);
    const found = find(inventory, "two", `external-cloudstack://${A}`);
    expect(found).toMatchObject({ kind: "present", matchedBy: "providerId", instance: { id: A } });
  });

  test.each([
    ["node-1", "Node-1", true],
    ["node-1.example.org", "NODE-1", true],
    ["node-1.example.org", "node-1.example.org", true],
    ["node-1", "node-1.example.org", false],
    ["node-1", "node-10", false],
    ["node-10", "node-1", false],
    ["node-1.example.org", "node-1.example", false],
  ])("of Node %p and VM %p: %p", (node, vm, isFound) => {
    const found = find(toInventory([named(A, vm)]), node);
    expect(found).toMatchObject(
      isFound ? { kind: "present", matchedBy: "name" } : { kind: "unknown", reason: "notListed" },
    );
  });

  test("prefers the whole name to its first part", () => {
    const inventory = toInventory([named(A, "node-1"), named(B, "node-1.example.org")]);
    expect(find(inventory, "node-1.example.org")).toMatchObject({ instance: { id: B } });
  });

  test("does not choose between two VMs of one name, and names both", () => {
    const found = find(toInventory([named(B, "Node-1"), named(A, "node-1")]), "node-1");
    expect(found).toMatchObject({ kind: "unknown", reason: "ambiguous" });
    expect(JSON.stringify(found)).toContain(`${A}, ${B}`);
  });

  test("takes the successor of a destroyed VM, and never the destroyed one by its name", () => {
    const destroyed = named(A, "node-1", { isDead: true });
    const after = find(toInventory([destroyed, named(B, "node-1")]), "node-1");
    expect(after).toMatchObject({ kind: "present", instance: { id: B } });
    const before = toInventory([destroyed]);
    expect(find(before, "node-1")).toMatchObject({ kind: "unknown", reason: "notListed" });
    expect(find(before, "node-1", `external-cloudstack://${A}`)).toMatchObject({ kind: "present" });
  });

  test("of an ID that a whole list lacks says no more than that", () => {
    const found = find(toInventory([named(A, "one")]), "one", `external-cloudstack://${C}`);
    expect(found).toMatchObject({ kind: "unknown", reason: "notListed" });
  });

  test.each<[string, string]>([
    [`external-cloudstack://${A}`, "one"],
    // What version 1.1 of the Apache provider wrote: the Node is not new.
    ["external-cloudstack", "node"],
  ])("of a list that is not whole it concludes nothing: %p", (providerId, name) => {
    const coverage = new Map([
      ["zone", { complete: true }],
      ["other", { complete: false, reason: "a page is missing" }],
    ]);
    const inventory = toInventory([], { coverage });
    const found = find(inventory, name, providerId);
    expect(found).toMatchObject({ kind: "unknown", reason: "notCovered" });
    expect(JSON.stringify(found)).toContain("a page is missing");
  });

  test.each([
    [
      "the list is not whole",
      { coverage: new Map([["zone", { complete: false, reason: "a page is missing" }]]) },
      { reason: "notListed", message: expect.stringContaining("a page is missing") },
    ],
    [
      "a VM of the same name cannot be read",
      {
        undecodable: new Map([[B ?? "", "nic: must be Array"]]),
        unreadableNames: new Set(["one"]),
      },
      { reason: "undecodable", message: expect.stringContaining("nic: must be Array") },
    ],
    [
      "a VM of the whole name cannot be read, and another one has its first part",
      {
        undecodable: new Map([[B ?? "", "nic: must be Array"]]),
        unreadableNames: new Set(["one.example.org"]),
      },
      { reason: "undecodable" },
    ],
    [
      "a VM cannot be read at all",
      { undecodable: new Map([["#3", "the object itself: must be Object"]]) },
      { reason: "notListed" },
    ],
  ])("takes no VM by its name while another one may have it: %s", (_why, over, expected) => {
    const inventory = toInventory([named(A, "one")], over);
    expect(find(inventory, "one.example.org")).toMatchObject({ kind: "unknown", ...expected });
    // Its ID is the VM's own.
    const known = find(inventory, "one", `external-cloudstack://${A}`);
    expect(known).toMatchObject({ kind: "present", instance: { id: A } });
  });

  test("takes a VM by its name beside one of another name that cannot be read", () => {
    const undecodable = new Map([[B ?? "", "nic: must be Array"]]);
    const over = { undecodable, unreadableNames: new Set(["two"]) };
    expect(find(toInventory([named(A, "one")], over), "one")).toMatchObject({
      kind: "present",
      instance: { id: A },
    });
  });

  test("says that a VM cannot be read", () => {
    const inventory = toInventory([], { undecodable: new Map([[A ?? "", "name: not a text"]]) });
    const found = find(inventory, "one", `external-cloudstack://${A}`);
    expect(found).toMatchObject({ kind: "unknown", reason: "undecodable" });
  });
});
