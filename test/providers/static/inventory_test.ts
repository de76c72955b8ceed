import { describe, expect, test } from "bun:test";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import {
  findInstance,
  formatProviderId,
  parseProviderId,
  toInstances,
} from "../../../lib/providers/static/inventory.ts";
import { parseConfig } from "../../../lib/providers/static/settings.ts";
import { toInstance, toInventory } from "../../support/cloud/instances.ts";

describe("toInstances()", () => {
  const { settings: file } = parseConfig({
    scheme: "pets",
    region: "r",
    zone: "z",
    instances: [
      {
        id: "a",
        name: "rex",
        addresses: [
          { type: "InternalIP", address: "FD00:0:0::1" },
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "InternalIP", address: "fd00::1" },
          { type: "ExternalIP", address: "10.0.0.1" },
        ],
      },
      { id: "b", name: "bella", state: "stopped", zone: "own", region: "other", type: "big" },
      { id: "c", name: "luna", state: "deleted" },
    ],
  });
  const instances = file === undefined ? new Map() : toInstances(file);

  test("gives defaults to those who name none", () => {
    expect(instances.get("a")).toMatchObject({ region: "r", zone: "z", providerId: "pets://a" });
    expect(instances.get("b")).toMatchObject({
      region: "other",
      zone: "own",
      instanceType: "big",
      state: "stopped",
    });
  });

  test("leaves out what is deleted", () => {
    expect([...instances.keys()]).toEqual(["a", "b"]);
  });

  test("writes addresses in canonical form, in the order of the file, each once", () => {
    expect(instances.get("a").addresses).toEqual([
      { type: "InternalIP", address: "fd00::1" },
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "10.0.0.1" },
    ]);
  });
});

const UUID = "0b1d2e3f-0000-4000-8000-000000000001";
const { instances: listed } = toInventory([
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
    const presence = findInstance("test", listed, node);
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
    const presence = findInstance("test", listed, node);
    expect(presence).toMatchObject({ kind: "unknown", reason });
    expect(presence.kind === "unknown" && presence.message).toContain(words);
  });
});

describe("parseProviderId()", () => {
  test.each([
    ["cloudlycke://m-c2-1", "m-c2-1"],
    ["cloudlycke://cloudlycke://m-c2-1", "m-c2-1"],
    ["cloudlycke://A_b.9", "A_b.9"],
    ["cloudlycke://7", "7"],
  ])("C-01 reads %p", (text, id) => {
    expect(parseProviderId("cloudlycke", text)).toEqual({ kind: "ours", id });
  });

  test.each([
    "cloudlycke",
    "cloudlycke:",
    "cloudlycke:m-c2-1",
    "cloudlycke:/m-c2-1",
    "cloudlycke://",
    "cloudlycke:///m-c2-1",
    "cloudlycke://cloudlycke://",
    "cloudlycke://cloudlycke://cloudlycke://m",
    "cloudlycke://m-c2-1/",
    "cloudlycke://m c2",
    "cloudlycke://m-c2-1\n",
    `cloudlycke://${"x".repeat(254)}`,
  ])("C-01 calls %p malformed", (text) => {
    expect(parseProviderId("cloudlycke", text).kind).toBe("malformed");
  });

  test.each(["static://m", "cloudlyckes://m", "m-c2-1", "", "Cloudlycke://m", " cloudlycke://m"])(
    "C-01 calls %p foreign",
    (text) => {
      expect(parseProviderId("cloudlycke", text)).toEqual({ kind: "foreign" });
    },
  );

  test("reads what formatProviderId() writes", () => {
    const text = formatProviderId("static", "a-1");
    expect(text).toBe("static://a-1");
    expect(parseProviderId("static", text)).toEqual({ kind: "ours", id: "a-1" });
  });
});
