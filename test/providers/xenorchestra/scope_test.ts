import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Coverage, Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Presence, Provider } from "../../../lib/cloud/provider.ts";
import { parseIdentity } from "../../../lib/providers/xenorchestra/identity.ts";
import {
  listUnknownEntryFindings,
  NamedPools,
  NEVER_SHOWN,
  NOT_SHOWN,
  PoolScope,
  withNamedPools,
  withoutUnknownEntries,
} from "../../../lib/providers/xenorchestra/pools.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import {
  createProvider,
  FakeXenOrchestra,
  NODE as PARIS,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  WORKER_1,
} from "./fake_server.ts";
import { createLogger } from "../../../lib/core/log.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import type { Server, ServersReply } from "../../../lib/providers/xenorchestra/client.ts";
import {
  listUnfitFindings,
  listUnmatchedTagFindings,
  type Places,
  UnfitEntries,
} from "../../../lib/providers/xenorchestra/topology.ts";
import type { XenOrchestraSettings } from "../../../lib/providers/xenorchestra/settings.ts";

const KNOWN: Pick<Inventory, "coverage" | "instances"> = {
  coverage: new Map([
    [POOL_PARIS, { complete: true, name: "Paris" }],
    // Lost, but shown before.
    [POOL_LYON, { complete: false, name: "Lyon" }],
  ]),
  instances: new Map([[WORKER_1, toInstance(WORKER_1, { region: POOL_PARIS })]]),
};
const NOTHING: typeof KNOWN = { coverage: new Map(), instances: new Map() };

describe("PoolScope.owns()", () => {
  test.each<[string, readonly string[] | undefined, boolean, boolean]>([
    ["all without the setting", undefined, true, true],
    ["by UUID", [POOL_PARIS], true, false],
    ["by UUID in another form", [POOL_PARIS.toUpperCase()], true, false],
    ["by name", ["Lyon"], false, true],
    ["by name and UUID", ["Lyon", POOL_PARIS], true, true],
    ["none by a name that no pool has", ["Nice"], false, false],
    ["none by part of a name", ["Par"], false, false],
  ])("chooses %s", (_title, pools, paris, lyon) => {
    const scope = toScope(pools);
    expect([scope.owns(POOL_PARIS, KNOWN), scope.owns(POOL_LYON, KNOWN)]).toEqual([paris, lyon]);
  });

  test("knows a UUID before any pool is shown, and a name only afterwards", () => {
    expect(toScope([POOL_PARIS]).owns(POOL_PARIS, NOTHING)).toBe(true);
    expect(toScope(["Paris"]).owns(POOL_PARIS, NOTHING)).toBe(false);
  });

  test("keeps what a pool was called when it was shown last, after that was removed for good", () => {
    const lastNames = new Map([[POOL_PARIS, "Paris"]]);
    const scope = new PoolScope(["Paris"], lastNames);
    expect(scope.owns(POOL_PARIS, NOTHING)).toBe(true);
    const renamed = new Map([[POOL_PARIS, { complete: true, name: "Nice" }]]);
    expect(scope.owns(POOL_PARIS, { coverage: renamed })).toBe(false);
    lastNames.set(POOL_PARIS, "Nice");
    expect(scope.owns(POOL_PARIS, NOTHING)).toBe(false);
  });
});

test("PoolScope.listUnknown() lists what no pool that was shown is called", () => {
  const scope = toScope(["Paris", "Nice", POOL_LYON]);
  expect(scope.listUnknown(KNOWN)).toEqual(["Nice"]);
  expect(scope.listUnknown(NOTHING)).toEqual(["Paris", "Nice", POOL_LYON]);
  expect(toScope(undefined).listUnknown(NOTHING)).toEqual([]);
});

describe("PoolScope.refuse()", () => {
  test.each<[string, NodeIdentity, boolean]>([
    ["of a pool of ours", toNode(`xenorchestra://${POOL_PARIS}/${WORKER_1}`), false],
    ["of another pool", toNode(`xenorchestra://${POOL_LYON}/${WORKER_1}`), true],
    ["without a pool, whose VM is in ours", toNode(`xenorchestra:///${WORKER_1}`), false],
    ["without a pool, whose VM is not shown", toNode(`xenorchestra:///${POOL_LYON}`), true],
    ["without a provider ID", { name: "n", systemUuid: WORKER_1 }, false],
    ["of another cloud, which is refused elsewhere", toNode("aws:///i-1"), false],
  ])("refuses a Node %s: %p", (_title, node, isRefused) => {
    const refusal = toScope(["Paris"]).refuse(parseIdentity(node), KNOWN);
    expect(refusal?.kind).toBe(isRefused ? "foreign" : undefined);
    expect(toScope(undefined).refuse(parseIdentity(node), KNOWN)).toBeUndefined();
  });
});

describe("PoolScope.place()", () => {
  const instance = toInstance(WORKER_1, { region: POOL_LYON });
  const present: Presence = { kind: "present", instance, matchedBy: "providerId" };
  const scope = toScope(["Paris"]);

  test("keeps a Node of ours whose VM is in another pool, with a caution", () => {
    const identity = parseIdentity(toNode(`xenorchestra://${POOL_PARIS}/${WORKER_1}`));
    const placed = scope.place(identity, present, KNOWN);
    expect(placed).toMatchObject({ kind: "present", instance });
    expect(placed).toHaveProperty("caution", expect.stringContaining("pool Lyon"));
  });

  test("leaves a Node without a provider ID to others when its VM is in another pool", () => {
    const identity = parseIdentity({ name: "n", systemUuid: WORKER_1 });
    expect(scope.place(identity, present, KNOWN).kind).toBe("foreign");
  });

  test("says nothing more of a VM in a pool of ours, nor of one that is not there", () => {
    const identity = parseIdentity({ name: "n", systemUuid: WORKER_1 });
    const here: Presence = { ...present, instance: toInstance(WORKER_1, { region: POOL_PARIS }) };
    expect(scope.place(identity, here, KNOWN)).toBe(here);
    const unknown: Presence = { kind: "unknown", reason: "notFound", message: "no" };
    expect(scope.place(identity, unknown, KNOWN)).toBe(unknown);
  });
});

function toNode(providerId: string): NodeIdentity {
  return { name: "n", providerId };
}

function toScope(pools: readonly string[] | undefined): PoolScope {
  return new PoolScope(pools, new Map());
}

const signal = new AbortController().signal;
const ALL = new PoolScope(undefined, new Map());
const NO_LISTS: Inventory = {
  observedAtMs: 0,
  instances: new Map(),
  coverage: new Map(),
  undecodable: new Map(),
};

let fake: FakeXenOrchestra;
let provider: Provider;
let lines: string[];

function listWarnings(): object[] {
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
}

/** A VM of the other pool, and its Node. */
function findLyon(): { id: string; node: NodeIdentity } {
  const id = fake.list("vms").find((one) => one["$pool"] === POOL_LYON)?.id ?? "";
  return { id, node: { name: "l1", providerId: `xenorchestra://${POOL_LYON}/${id}` } };
}

describe("named pools", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
    lines = [];
    const log = createLogger({ format: "json", write: (line) => lines.push(line), now: () => 0 });
    provider = createProvider(fake, {}, toDeps({ log }));
  });
  afterEach(() => fake.stop());

  describe("a start while a pool is cut", () => {
    test("shows the pool that a Node names as not covered, and says so once", async () => {
      fake.dropPool(POOL_PARIS);
      const first = await provider.listInventory([PARIS], signal);
      expect(first.coverage.get(POOL_PARIS)).toMatchObject({ complete: false });
      expect(first.coverage.get(POOL_LYON)?.complete).toBe(true);
      // The very same lists, and then without the Node.
      const second = await provider.listInventory([PARIS], signal);
      expect(second.coverage.get(POOL_PARIS)).toMatchObject({ complete: false });
      const third = await provider.listInventory([], signal);
      expect(third.coverage.has(POOL_PARIS)).toBe(false);
      expect(listWarnings()).toMatchObject([{ pool: POOL_PARIS }]);
      expect(listWarnings()).toHaveLength(1);
    });

    test("keeps the Nodes of that pool and of no other", async () => {
      fake.dropPool(POOL_PARIS);
      // It is not coming back, and nobody knows.
      fake.collections["servers"] = fake
        .list("servers")
        .filter((one) => one["poolId"] === POOL_LYON);
      const { id, node } = findLyon();
      await provider.listInventory([PARIS, node], signal);
      fake.remove("vms", id);
      const inventory = await provider.listInventory([PARIS, node], signal);
      expect(provider.findInstance(inventory, PARIS)).toMatchObject({ reason: "notCovered" });
      expect(provider.findInstance(inventory, node)).toMatchObject({ reason: "notListed" });
      expect((await provider.readInstance(inventory, node, signal)).kind).toBe("absent");
      expect((await provider.readInstance(inventory, PARIS, signal)).kind).toBe("unknown");
    });

    test("says once that no pool is shown at all", async () => {
      for (const name of Object.keys(fake.collections)) fake.collections[name] = [];
      const { coverage } = await provider.listInventory([PARIS], signal);
      expect([...coverage.keys()]).toEqual([POOL_PARIS]);
      await provider.listInventory([PARIS], signal);
      const messages = lines.filter((line) => line.includes("Xen Orchestra shows no pool"));
      expect(messages).toHaveLength(1);
    });
  });

  describe("withNamedPools()", () => {
    test("leaves the inventory as it is when every pool is known, or no Node needs one", async () => {
      const inventory = await provider.listInventory([PARIS], signal);
      expect(withNamedPools(inventory, [parseIdentity(PARIS)], ALL)).toBe(inventory);
      // Its VM moved: the pool of its provider ID may be gone for good.
      const moved = { name: "w1", providerId: `xenorchestra://${toUuid("gone")}/${WORKER_1}` };
      expect(withNamedPools(inventory, [parseIdentity(moved)], ALL)).toBe(inventory);
      expect([...inventory.coverage.keys()].sort()).toEqual([POOL_LYON, POOL_PARIS].sort());
    });

    test("does not take a label's word for a pool, nor what names none", () => {
      const nodes: NodeIdentity[] = [
        { name: "a", systemUuid: WORKER_1, region: POOL_PARIS },
        { name: "b", providerId: `xenorchestra:///${WORKER_1}`, region: POOL_PARIS },
        { name: "c", providerId: "aws:///zone/i-1", region: POOL_PARIS },
      ];
      expect(withNamedPools(NO_LISTS, nodes.map(parseIdentity), ALL)).toBe(NO_LISTS);
    });

    test("names a bounded number of pools, however many are made up", () => {
      const nodes = Array.from({ length: 1_000 }, (_, at) => ({
        name: `n${at}`,
        providerId: `xenorchestra://${toUuid(`pool/${at}`)}/${toUuid(`vm/${at}`)}`,
      }));
      expect(withNamedPools(NO_LISTS, nodes.map(parseIdentity), ALL).coverage.size).toBe(64);
    });
  });

  describe("NamedPools", () => {
    test("reports a pool again when it was shown, or no Node named it, meanwhile", () => {
      const told: string[] = [];
      const log = createLogger({ format: "json", write: (line) => told.push(line), now: () => 0 });
      const pools = new NamedPools(ALL, log);
      const paris = parseIdentity(PARIS);
      for (const named of [[paris], [paris], [], [paris]]) pools.addTo(NO_LISTS, named);
      expect(told.filter((line) => line.includes(POOL_PARIS))).toHaveLength(2);
    });
  });
});

const PARIS_ID = toUuid("paris");
const ENTRY: Coverage = { complete: false, isOnlyNamed: true, reason: NOT_SHOWN };
const OF_A_NODE: Coverage = { complete: false, isOnlyNamed: true, reason: NEVER_SHOWN };

function toShown(entry: string): { coverage: Map<string, Coverage> } {
  const shown: Coverage = { complete: true, name: "paris" };
  return {
    coverage: new Map([
      [PARIS_ID, shown],
      [entry, ENTRY],
    ]),
  };
}

function toServers(...more: readonly Server[]): ServersReply {
  const paris = { id: "1", enabled: true, status: "connected", poolId: PARIS_ID };
  return { objects: [paris, ...more], undecodable: new Map() };
}

describe("listUnknownEntryFindings()", () => {
  const down: Server = { id: "2", enabled: true, status: "connecting" };
  const off: Server = { id: "2", enabled: false, status: "disconnected" };
  test.each<[string, ServersReply | undefined, boolean]>([
    ["every connection is up", toServers(), true],
    ["a connection is down", toServers(down), false],
    ["a connection is disabled, which names no pool", toServers(off), false],
    ["the list is refused", "refused", false],
    [
      "the list has no connection of the pool that is shown",
      { objects: [], undecodable: new Map() },
      false,
    ],
    ["there is no answer", undefined, false],
  ])("knows whether there is no such pool when %s", (_title, servers, isSure) => {
    const [finding] = listUnknownEntryFindings(toShown("Pariss"), servers);
    expect(finding?.message.includes("no pool that the user can see")).toBe(isSure);
    expect(finding?.advice?.includes("reconnect")).toBe(!isSure);
    expect(finding?.advice).toContain("did you mean paris?");
  });

  test("finds none among pools that are shown, or that only a Node names", () => {
    const coverage = new Map([[PARIS_ID, OF_A_NODE]]);
    expect(listUnknownEntryFindings({ coverage }, toServers())).toEqual([]);
  });
});

test.each([
  ["PARIS", 'correct it in "pools" (did you mean paris?), or reconnect the pool'],
  [
    `${PARIS_ID.slice(0, -1)}x`,
    `correct it in "pools" (did you mean ${PARIS_ID}?), or reconnect the pool`,
  ],
  ["frankfurt", 'correct it in "pools", or reconnect the pool'],
])("listUnknownEntryFindings() suggests the closest pool for %s", (entry, advice) => {
  expect(listUnknownEntryFindings(toShown(entry), undefined)).toMatchObject([{ advice }]);
});

test("withoutUnknownEntries() keeps pools that a Node names", () => {
  const { coverage } = withoutUnknownEntries({
    coverage: new Map([
      ["Paris", ENTRY],
      [PARIS_ID, OF_A_NODE],
    ]),
  });
  expect([...coverage.keys()]).toEqual([PARIS_ID]);
});

function toPlaces(...names: readonly string[]): Places {
  const pools = names.map((name_label, at) => ({ id: toUuid(`${at}`), name_label }));
  return { pools: new Map(pools.map((pool) => [pool.id, pool])), hosts: new Map() };
}

const REGIONS = { regions: new Map([["paris", "eu"]]) };

test("UnfitEntries warns once of each, and again after it was well", () => {
  const lines: string[] = [];
  const log = createLogger({ format: "json", write: (line) => lines.push(line), now: () => 0 });
  const entries = new UnfitEntries(REGIONS, log);
  const count = (places: Places): number => {
    entries.log(places);
    return lines.length;
  };
  expect(count(toPlaces("lyon"))).toBe(1);
  expect(count(toPlaces("lyon"))).toBe(1);
  expect(count(toPlaces("paris", "paris"))).toBe(2);
  expect(count(toPlaces("paris"))).toBe(2);
  expect(count(toPlaces())).toBe(3);
  expect(lines[0]).toContain(String.raw`the entry regions: \"paris\" matches no pool`);
});

test("UnfitEntries says nothing without the settings", () => {
  const log = createLogger({
    format: "json",
    write: () => expect.unreachable(),
    now: () => 0,
  });
  new UnfitEntries({}, log).log(toPlaces("lyon"));
});

test("listUnfitFindings() says what to do about each", () => {
  expect(listUnfitFindings(toPlaces("paris"), REGIONS)).toEqual([]);
  expect(listUnfitFindings(toPlaces("lyon"), REGIONS)).toEqual([
    {
      level: "warning",
      code: "unmatchedEntry",
      message: 'the entry regions: "paris" matches no pool that Xen Orchestra shows',
      advice: "correct the UUID or name in regions, or reconnect the pool",
    },
  ]);
  const zones = new Map([["paris", "z"]]);
  expect(listUnfitFindings(toPlaces("paris", "paris"), { zones })).toMatchObject([
    { level: "warning", code: "ambiguousEntry", message: expect.stringContaining("pool or host") },
  ]);
});

type Settings = Pick<XenOrchestraSettings, "instanceTypeTag" | "zoneLabelFrom">;

const BOTH: Settings = {
  zoneLabelFrom: { kind: "hostTag", prefix: "zone=" },
  instanceTypeTag: "type=",
};
const NEITHER: Settings = { zoneLabelFrom: { kind: "host" } };
const NO_ZONE = 'zoneLabelFrom: no host has a tag that begins with "zone="';
const NO_TYPE = 'instanceTypeTag: no VM has a tag that begins with "type="';

test.each<[string, Settings, readonly string[] | null, readonly string[]]>([
  ["no tag has", BOTH, ["rack=1"], [NO_ZONE, NO_TYPE]],
  ["are not reported", BOTH, null, [NO_ZONE, NO_TYPE]],
  ["only tags without a value have", BOTH, ["zone=", "type="], [NO_ZONE, NO_TYPE]],
  ["some tags have", BOTH, ["zone=a", "type=b"], []],
  ["are not in the settings", NEITHER, ["rack=1"], []],
])("listUnmatchedTagFindings() judges prefixes that %s", (_title, settings, tags, messages) => {
  const objects = { hosts: [{ tags: [] }, { tags }], vms: [{ tags: [] }, { tags }] };
  const findings = listUnmatchedTagFindings(objects, settings);
  expect(findings.map(({ message }) => message)).toEqual([...messages]);
  for (const { level, code, advice } of findings) {
    expect([level, code]).toEqual(["warning", "unmatchedTag"]);
    expect(advice).toContain("without such a tag Landfall");
  }
});

test("listUnmatchedTagFindings() says nothing if there is no host and no VM", () => {
  expect(listUnmatchedTagFindings({ hosts: [], vms: [] }, BOTH)).toEqual([]);
});
