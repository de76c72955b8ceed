import { describe, expect, test } from "bun:test";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import { findInstance } from "../../../lib/providers/static/inventory.ts";
import { toInstance, toInventory } from "../../support/cloud/instances.ts";

const UUID = "0b1d2e3f-0000-4000-8000-000000000001";
const { instances } = toInventory([
  toInstance("i-1", { name: "one", systemUuid: UUID }),
  toInstance("i-2", { name: "two" }),
  toInstance("i-3", { name: "twin" }),
  toInstance("i-4", { name: "twin" }),
]);

describe("findInstance()", () => {
  const found: [string, NodeIdentity, string, string][] = [
    [
      "C-02 provider ID over everything",
      { name: "one", providerId: "test://i-2", systemUuid: UUID },
      "i-2",
      "providerId",
    ],
    [
      "system UUID over name",
      { name: "two", systemUuid: ` ${UUID.toUpperCase()}` },
      "i-1",
      "systemUuid",
    ],
    ["C-02 name, without a UUID", { name: "one" }, "i-1", "name"],
    ["name, when the inventory knows no UUID", { name: "two", systemUuid: "x" }, "i-2", "name"],
  ];
  test.each(found)("%s: matched", (_, node, id, matchedBy) => {
    const presence = findInstance("test", instances, node);
    expect(presence).toMatchObject({ kind: "present", matchedBy, instance: { id } });
  });

  const not: [string, NodeIdentity, string, string][] = [
    ["C-05 the name of two", { name: "twin" }, "ambiguous", "i-3, i-4"],
    ["a name whose UUID differs", { name: "one", systemUuid: "y" }, "ambiguous", UUID],
    ["C-02 no such name", { name: "three" }, "notListed", '"three"'],
    [
      "no such provider ID, though the name fits",
      { name: "one", providerId: "test://i-9" },
      "notListed",
      '"i-9"',
    ],
    ["nothing", { name: "" }, "noIdentity", "neither"],
  ];
  test.each(not)("%s: unknown", (_, node, reason, words) => {
    const presence = findInstance("test", instances, node);
    expect(presence).toMatchObject({ kind: "unknown", reason });
    expect(presence.kind === "unknown" && presence.message).toContain(words);
  });
});
