import { describe, expect, test } from "bun:test";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { staticProvider } from "../../../lib/providers/static/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const signal = new AbortController().signal;

/** A provider with this inventory, which comes from no file. */
function createProvider(inventory: object): Provider {
  const { settings } = staticProvider.parseConfig(inventory, {});
  if (settings === undefined) throw new Error("Cannot test: the inventory is wrong");
  const clock = new ManualClock();
  const metrics = new MetricsRegistry();
  const deps = { clock, log: silentLogger, metrics, signal, fence: new Fence() };
  return staticProvider.create(settings, deps);
}

describe("listInventory()", () => {
  const provider = createProvider({
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

  test("gives defaults to those who name none", async () => {
    const { instances } = await provider.listInventory([], signal);
    expect(instances.get("a")).toMatchObject({ region: "r", zone: "z", providerId: "pets://a" });
    expect(instances.get("b")).toMatchObject({
      region: "other",
      zone: "own",
      instanceType: "big",
      state: "stopped",
    });
  });

  test("leaves out what is deleted", async () => {
    const { instances } = await provider.listInventory([], signal);
    expect([...instances.keys()]).toEqual(["a", "b"]);
  });

  test("writes addresses in canonical form, in the order of the file, each once", async () => {
    const { instances } = await provider.listInventory([], signal);
    expect(instances.get("a")?.addresses).toEqual([
      { type: "InternalIP", address: "fd00::1" },
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "10.0.0.1" },
    ]);
  });
});

const UUID = "0b1d2e3f-0000-4000-8000-000000000001";

async function find(node: NodeIdentity) {
  const provider = createProvider({
    scheme: "test",
    instances: [
      { id: "i-1", name: "one", systemUUID: UUID },
      { id: "i-2", name: "two" },
      { id: "i-3", name: "twin" },
      { id: "i-4", name: "twin" },
      { id: "i-5", name: "gone", state: "deleted" },
    ],
  });
  return provider.findInstance(await provider.listInventory([], signal), node);
}

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
  test.each(found)("%s: matched", async (_, node, id, matchedBy) => {
    const presence = await find(node);
    expect(presence).toMatchObject({ kind: "present", matchedBy, instance: { id } });
  });

  const not: [string, NodeIdentity, string, string][] = [
    ["C-05 the name of two", { name: "twin" }, "ambiguous", "i-3, i-4"],
    ["a name whose UUID differs", { name: "one", systemUuid: "y" }, "ambiguous", UUID],
    [
      "the ID of one that is deleted",
      { name: "gone", providerId: "test://i-5" },
      "notListed",
      "lists it with state: deleted",
    ],
    ["C-02 no such name", { name: "three" }, "notListed", '"three"'],
    [
      "no such provider ID, though the name fits",
      { name: "one", providerId: "test://i-9" },
      "notListed",
      '"i-9"',
    ],
    ["nothing", { name: "" }, "noIdentity", "neither"],
  ];
  test.each(not)("%s: unknown", async (_, node, reason, words) => {
    const presence = await find(node);
    expect(presence).toMatchObject({ kind: "unknown", reason });
    expect(presence.kind === "unknown" && presence.message).toContain(words);
  });
});

describe("a provider ID", () => {
  const provider = createProvider({ scheme: "cloudlycke", instances: [] });
  const find = async (providerId: string) =>
    provider.findInstance(await provider.listInventory([], signal), { name: "one", providerId });

  test.each([
    ["cloudlycke://m-c2-1", "m-c2-1"],
    ["cloudlycke://cloudlycke://m-c2-1", "m-c2-1"],
    ["cloudlycke://A_b.9", "A_b.9"],
    ["cloudlycke://7", "7"],
  ])("C-01 %p is read", (text, id) => {
    expect(provider.toInstanceId?.(text)).toBe(id);
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
  ])("C-01 %p is malformed", async (text) => {
    expect(await find(text)).toMatchObject({ kind: "unknown", reason: "malformedProviderId" });
  });

  test.each(["static://m", "cloudlyckes://m", "m-c2-1", "", "Cloudlycke://m", " cloudlycke://m"])(
    "C-01 %p is foreign",
    async (text) => {
      expect(await find(text)).toMatchObject({ kind: "foreign" });
    },
  );
});
