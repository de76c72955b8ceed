import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Coverage } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import {
  listUnknownEntryFindings,
  NEVER_SHOWN,
  withoutUnknownEntries,
} from "../../../lib/providers/xenorchestra/pools.ts";
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
  createEntryLog,
  listUnfitFindings,
  listUnmatchedTagFindings,
  type Places,
} from "../../../lib/providers/xenorchestra/topology.ts";
import type { XenOrchestraSettings } from "../../../lib/providers/xenorchestra/settings.ts";

const signal = new AbortController().signal;
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

  describe("only provider IDs name pools", () => {
    const show = async (...nodes: readonly NodeIdentity[]): Promise<string[]> => {
      const { coverage } = await provider.listInventory(nodes, signal);
      return [...coverage.keys()].sort();
    };

    test("and none whose VM is shown elsewhere: that pool may be gone for good", async () => {
      const both = [POOL_LYON, POOL_PARIS].sort();
      const moved = { name: "w1", providerId: `xenorchestra://${toUuid("gone")}/${WORKER_1}` };
      expect(await show(PARIS)).toEqual(both);
      expect(await show(moved)).toEqual(both);
    });

    test("and no label, nor an ID without a pool or of another cloud", async () => {
      for (const name of Object.keys(fake.collections)) fake.collections[name] = [];
      const nodes: NodeIdentity[] = [
        { name: "a", systemUuid: WORKER_1, region: POOL_PARIS },
        { name: "b", providerId: `xenorchestra:///${WORKER_1}`, region: POOL_PARIS },
        { name: "c", providerId: "aws:///zone/i-1", region: POOL_PARIS },
      ];
      expect(await show(...nodes)).toEqual([]);
    });

    test("and no more than 64, however many are made up", async () => {
      const nodes = Array.from({ length: 300 }, (_, at) => ({
        name: `n${at}`,
        providerId: `xenorchestra://${toUuid(`pool/${at}`)}/${toUuid(`vm/${at}`)}`,
      }));
      expect(await show(...nodes)).toHaveLength(64 + 2);
    });

    test("and each is reported again when it was shown, or no Node named it, meanwhile", async () => {
      fake.dropPool(POOL_PARIS);
      for (const nodes of [[PARIS], [PARIS], [], [PARIS]]) await show(...nodes);
      expect(listWarnings()).toHaveLength(2);
    });
  });
});

const PARIS_ID = toUuid("paris");
const REASON =
  'it is in "pools", but Xen Orchestra has not shown it since Landfall started: ' +
  "its connection may be down, or the name is wrong";
const ENTRY: Coverage = { complete: false, isOnlyNamed: true, reason: REASON };
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

test("createEntryLog() warns once of each, and again after it was well", () => {
  const lines: string[] = [];
  const log = createLogger({ format: "json", write: (line) => lines.push(line), now: () => 0 });
  const logEntries = createEntryLog(REGIONS, log);
  const count = (places: Places): number => {
    logEntries(places);
    return lines.length;
  };
  expect(count(toPlaces("lyon"))).toBe(1);
  expect(count(toPlaces("lyon"))).toBe(1);
  expect(count(toPlaces("paris", "paris"))).toBe(2);
  expect(count(toPlaces("paris"))).toBe(2);
  expect(count(toPlaces())).toBe(3);
  expect(lines[0]).toContain(String.raw`the entry regions: \"paris\" matches no pool`);
});

test("createEntryLog() says nothing without the settings", () => {
  const log = createLogger({
    format: "json",
    write: () => expect.unreachable(),
    now: () => 0,
  });
  createEntryLog({}, log)(toPlaces("lyon"));
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
