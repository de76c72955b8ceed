import { describe, expect, test } from "bun:test";
import type { Inventory } from "../../../../lib/cloud/inventory/inventory.ts";
import type { Instance } from "../../../../lib/cloud/instance.ts";
import type { Presence } from "../../../../lib/cloud/provider.ts";
import {
  type CloudStackInventory,
  formatProviderId,
  parseIdentity,
  parseProviderId,
} from "../../../../lib/providers/cloudstack/model/inventory.ts";
import { findInstance, toBackends } from "../../../../lib/providers/cloudstack/model/matching.ts";
import { toInstance } from "../../../support/cloud/instances.ts";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";
import type { Vm } from "../../../../lib/providers/cloudstack/wire/schema.ts";

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

const VM = "0a1b2c3d-0000-4000-8000-00000000000f";

test("parseIdentity() prefers the provider ID", () => {
  const node = { name: "node-1", providerId: `cloudstack:///${VM}`, systemUuid: VM };
  expect(parseIdentity(node)).toEqual({ kind: "providerId", vmId: VM });
});

test("parseIdentity() takes the name in lower case, also beside a provider ID that names no VM", () => {
  expect(parseIdentity({ name: "Node-1" })).toEqual({ kind: "name", name: "node-1" });
  const old = { name: "node-1.example.org", providerId: "external-cloudstack" };
  expect(parseIdentity(old)).toEqual({
    kind: "name",
    name: "node-1.example.org",
    short: "node-1",
    isNameless: true,
  });
});

test("parseIdentity() never looks for a system UUID: it only tells machines of one name apart", () => {
  expect(parseIdentity({ name: "node-1", systemUuid: VM.toUpperCase() })).toEqual({
    kind: "name",
    name: "node-1",
    systemUuid: VM,
  });
});

test("parseIdentity() says why a Node cannot be looked up", () => {
  expect(parseIdentity({ name: "a", providerId: "aws:///x" })).toEqual({
    kind: "other",
    presence: { kind: "foreign", providerId: "aws:///x" },
  });
  expect(parseIdentity({ name: "a", providerId: "external-cloudstack://x" })).toMatchObject({
    presence: { kind: "unknown", reason: "malformedProviderId" },
  });
  expect(parseIdentity({ name: "" })).toMatchObject({
    presence: { kind: "unknown", reason: "noIdentity" },
  });
});

const OURS = { kind: "ours", vmId: VM } as const;

describe("parseProviderId()", () => {
  test("reads what formatProviderId() writes", () => {
    expect(formatProviderId(VM)).toBe(`external-cloudstack://${VM}`);
    expect(parseProviderId(formatProviderId(VM))).toEqual(OURS);
  });

  test.each([
    [`external-cloudstack://${VM.toUpperCase()}`],
    [`cloudstack:///${VM}`],
    [`cloudstack://region-1/${VM}`],
  ])("reads %s", (text) => {
    expect(parseProviderId(text)).toEqual(OURS);
  });

  test("knows what version 1.1 of the Apache provider wrote, which names no VM", () => {
    expect(parseProviderId("external-cloudstack")).toEqual({ kind: "nameless" });
  });

  test.each([
    "external-cloudstack:",
    "external-cloudstack://",
    "external-cloudstack://node-1",
    `external-cloudstack:///${VM}`,
    `external-cloudstack://a/${VM}`,
    `cloudstack://${VM}`,
    `cloudstack://a/b/${VM}`,
    "cloudstack://region/",
  ])("cannot read %s, and says what to do", (text) => {
    const parsed = parseProviderId(text);
    expect(parsed).toMatchObject({ kind: "malformed" });
    expect(JSON.stringify(parsed)).toContain("delete the Node");
  });

  test.each([
    "",
    "aws:///eu-west-3a/i-0abc",
    "xenorchestra://a/b",
    `cloudstackx:///${VM}`,
    "cloudstack",
  ])("leaves %p to another cloud", (text) => {
    expect(parseProviderId(text)).toEqual({ kind: "foreign" });
  });
});

function toList(vms: readonly Vm[], over: Partial<ObjectList<Vm>> = {}): ObjectList<Vm> {
  return { objects: vms, undecodable: new Map(), ...over };
}

test("toBackends() keeps the interfaces of each VM, the default one first", () => {
  const nic = [
    { networkid: "B", ipaddress: "10.0.0.2", deviceid: "2" },
    { networkid: "a", ipaddress: "10.1.0.1", ip6address: "2001:DB8::1", isdefault: true },
    { networkid: "c", ipaddress: null, deviceid: 1 },
    { ipaddress: "10.2.0.1" },
  ];
  const { vms, isWhole, observedAtMs } = toBackends(
    toList([{ id: "vm", state: "Running", nic }, { id: "bare" }]),
    5,
  );
  expect([isWhole, observedAtMs]).toEqual([true, 5]);
  expect(vms.get("vm")).toEqual({
    id: "vm",
    isGone: false,
    nics: [
      { networkId: "a", ips: ["10.1.0.1", "2001:db8::1"] },
      { networkId: "c", ips: [] },
      { networkId: "b", ips: ["10.0.0.2"] },
    ],
  });
  expect(vms.get("bare")).toEqual({ id: "bare", isGone: false, nics: [] });
});

test.each([
  ["Running", false],
  ["Stopped", false],
  ["Destroyed", true],
  ["Expunging", true],
  ["Error", true],
  ["Unknown", false],
])("a VM that is %s can be a backend: unless %p", (state, isGone) => {
  expect(toBackends(toList([{ id: "vm", state }]), 5).vms.get("vm")?.isGone).toBe(isGone);
});

test("a list with a gap, or with a VM that cannot be read, does not show all VMs", () => {
  expect(toBackends(toList([], { gap: "a page is missing" }), 5).isWhole).toBe(false);
  expect(toBackends(toList([], { undecodable: new Map([["vm", "odd"]]) }), 5).isWhole).toBe(false);
});
