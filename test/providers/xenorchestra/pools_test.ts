import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Coverage } from "../../../lib/cloud/inventory/inventory.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { Reply } from "../../../lib/cloud_http/client.ts";
import { createLogger, silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import {
  type Server,
  type ServersReply,
  XenOrchestraApi,
} from "../../../lib/providers/xenorchestra/client.ts";
import {
  createEntryLog,
  listUnmatchedTagFindings,
  type Places,
} from "../../../lib/providers/xenorchestra/labels.ts";
import {
  judgeConnections,
  listUnknownEntryFindings,
  NEVER_SHOWN,
  PoolHistory,
  withoutLost,
  withoutUnknownEntries,
} from "../../../lib/providers/xenorchestra/pools.ts";
import type { XenOrchestraSettings } from "../../../lib/providers/xenorchestra/settings.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import {
  createProvider,
  FakeXenOrchestra,
  NODE as PARIS,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  WORKER_1,
} from "./fake_server.ts";

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
  expect(count(toPlaces("paris", "paris"))).toBe(3);
  expect(lines[0]).toContain(String.raw`the entry regions: \"paris\" matches no pool`);
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

const COVERAGE = new Map<string, Coverage>([
  ["a", { complete: true, name: "Paris" }],
  ["b", { complete: true, name: "Lyon" }],
  ["lost", { complete: false }],
]);
const A: Server = { id: "1", label: "one", enabled: true, status: "connected", poolId: "a" };
const B: Server = { ...A, id: "2", label: "two", poolId: "b" };
const OFF: Server = { id: "3", label: "three", enabled: false, status: "disconnected" };

function judge(servers: ServersReply): string {
  const connections = judgeConnections(servers, COVERAGE);
  return connections.kind === "clear" ? "clear" : `${connections.kind}: ${connections.why}`;
}

/** A list that can be read. */
function list(...objects: readonly Server[]): ServersReply {
  return { objects, undecodable: new Map() };
}

describe("judgeConnections()", () => {
  const cases: [string, ServersReply, string][] = [
    ["has a connection that is disabled, too", list(A, B, OFF), "clear"],
    ["is empty", list(), "unreadable: … it is empty"],
    [
      "has nothing but a disabled one",
      list(OFF),
      "unreadable: … it shows no connection to pool Paris, although",
    ],
  ];

  test.each(cases)("judges a list that %s", (_title, servers, expected) => {
    const full = expected.replace("…", "Landfall cannot read the list of connections to pools:");
    expect(judge(servers)).toStartWith(full);
  });

  test("says which right to give where a right is missing", () => {
    expect(judgeConnections("refused", COVERAGE)).toMatchObject({
      advice: expect.stringContaining('"read" on "server"'),
    });
    expect(judgeConnections("missing", COVERAGE)).toMatchObject({
      advice: expect.stringContaining("update Xen Orchestra"),
    });
  });
});

describe("withoutLost()", () => {
  const down: Server = { ...A, id: "9", status: "connecting", poolId: null };

  test.each<[string, ServersReply, "clear" | "doubtful" | "unreadable"]>([
    ["one is down beside those of all pools that are shown", list(A, B, down), "clear"],
    ["one is down that still names its pool", list(A, B, { ...down, poolId: "b" }), "doubtful"],
    ["the list is refused", "refused", "unreadable"],
  ])("when %s", (_title, servers, kind) => {
    expect(judgeConnections(withoutLost(servers), COVERAGE).kind).toBe(kind);
  });
});

const MINUTE_MS = 60_000;
const TEN_MIN = 10;

type Pools = Parameters<typeof judgeConnections>[1];

/** Pools of an inventory; an exclamation mark before those that are lost. */
function toPools(...names: readonly string[]): Pools {
  const toEntry = (name: string): [string, Coverage] =>
    name.startsWith("!") ? [name.slice(1), { complete: false }] : [name, { complete: true }];
  return new Map(names.map(toEntry));
}

function toServer(id: string, poolId?: string, more: Partial<Server> = {}): Server {
  const status = poolId === undefined ? "connecting" : "connected";
  return { id, host: id, enabled: true, status, poolId, ...more };
}

const P = toServer("to-p", "p");
const Q = toServer("to-q", "q");
const ALL = toPools("p", "q");
const P_LOST = toPools("!p", "q");

/** A process that reads the list of connections, which a test changes. */
class Rig {
  readonly clock = new ManualClock();
  readonly history = new PoolHistory();
  readonly stop = new AbortController();
  /** The list, or the status of a refusal. */
  servers: readonly object[] | 403 | 404 = [P, Q];
  /** The answer to a direct read of a pool. */
  pool: "missing" | "found" | "refused" = "missing";
  failure: Error | undefined;
  /** How long the list takes. */
  delayMs = 0;
  asked = 0;
  readonly #deps = {
    api: new XenOrchestraApi({ get: ({ path }) => this.#answer(path) }, new MetricsRegistry()),
    clock: this.clock,
    log: silentLogger,
  };

  /** Looks once a minute, as after refreshes. */
  async look(pools: Pools, minutes = 1): Promise<void> {
    for (let at = 0; at < minutes; at += 1) {
      await this.history.look(pools, this.#deps, this.stop.signal);
      await this.clock.advance(MINUTE_MS);
    }
  }

  get removed(): string[] {
    return this.history.removed.map(({ poolId }) => poolId);
  }

  async #answer(path: string): Promise<Reply> {
    const toReply = (status: number, value: unknown): Reply => ({
      status,
      contentType: "application/json",
      json: { value },
    });
    const [, id] = /^\/pools\/(.*)$/.exec(path) ?? [];
    if (id !== undefined) {
      if (this.pool === "refused") return toReply(403, {});
      const isFound = this.pool === "found";
      return isFound ? toReply(200, { id }) : toReply(404, { data: { type: "pool", id } });
    }
    this.asked += 1;
    await this.clock.advance(this.delayMs);
    if (this.failure) throw this.failure;
    if (this.servers === 403) return toReply(403, {});
    if (this.servers !== 404) return toReply(200, this.servers);
    const page = {
      text: "<pre>Cannot GET /rest/v0/servers</pre>",
      url: "https://xo/rest/v0/servers",
    };
    return { status: 404, contentType: "text/html", page };
  }
}

let rig: Rig;

describe("PoolHistory", () => {
  beforeEach(async () => {
    rig = new Rig();
    await rig.look(ALL);
    rig.servers = [Q];
  });
  afterEach(() => rig.stop.abort());

  test("finds a pool removed once its connection is gone for ten minutes, and no sooner", async () => {
    await rig.look(P_LOST, TEN_MIN);
    expect(rig.removed).toEqual([]);
    await rig.look(P_LOST);
    expect(rig.history.removed).toEqual([{ poolId: "p", name: "p", goneMs: MINUTE_MS }]);
    rig.history.noteShown("p", "Paris");
    expect([rig.removed, rig.history.names.get("p")]).toEqual([[], "Paris"]);
  });

  test("counts from the answer to the first read until the question of the last", async () => {
    rig.delayMs = 30_000;
    await rig.look(P_LOST);
    rig.delayMs = 0;
    await rig.clock.advance(9 * MINUTE_MS - 1);
    rig.delayMs = 30_000;
    await rig.look(P_LOST);
    expect(rig.removed).toEqual([]);
    await rig.look(P_LOST);
    expect(rig.removed).toEqual(["p"]);
  });

  test("finds a pool removed whose connection leads to another one now", async () => {
    rig.servers = [{ ...P, poolId: "r" }, Q];
    await rig.look(toPools("!p", "q", "r"), TEN_MIN + 1);
    expect(rig.removed).toEqual(["p"]);
  });

  test("finds no pool removed whose connection was never seen up", async () => {
    rig = new Rig();
    rig.servers = [toServer("to-p"), Q];
    await rig.look(P_LOST);
    rig.servers = [Q];
    await rig.look(P_LOST, 3 * TEN_MIN);
    expect(rig.removed).toEqual([]);
  });

  test("knows the newest connections of a pool, however many there were", async () => {
    for (let at = 0; at < 100; at += 1) {
      rig.servers = [toServer(`to-p-${at}`, "p"), toServer("down")];
      await rig.look(toPools("p", "q", `new-${at}`));
    }
    rig.servers = [toServer("to-p-99", "p", { enabled: false }), Q];
    await rig.look(P_LOST, TEN_MIN + 2);
    expect(rig.removed).toEqual([]);
  });

  test.each<[string, readonly object[] | 403 | 404, Pools]>([
    ["the entry is back, without its pool", [toServer("to-p"), Q], P_LOST],
    ["the entry is back, and disabled", [{ ...P, enabled: false }, Q], P_LOST],
    ["another entry names no pool", [Q, toServer("new")], P_LOST],
    [
      "another entry names no pool, because it is disabled",
      [Q, toServer("new", undefined, { enabled: false, status: "disconnected" })],
      P_LOST,
    ],
    ["the list is empty", [], P_LOST],
    ["the list is refused", 403, P_LOST],
    ["there is no such list", 404, P_LOST],
    ["an entry cannot be read", [Q, { id: 1 }], P_LOST],
    ["a pool is shown whose connection is not", [Q], toPools("!p", "q", "r")],
    ["the pool is shown again", [P, Q], ALL],
  ])("counts from the start after a read by which %s", async (_title, servers, pools) => {
    await rig.look(P_LOST, TEN_MIN);
    rig.servers = servers;
    await rig.look(pools);
    rig.servers = [Q];
    await rig.look(P_LOST, TEN_MIN);
    expect(rig.removed).toEqual([]);
    await rig.look(P_LOST);
    expect(rig.removed).toEqual(["p"]);
  });

  test.each<[string, Error]>([
    ["there is no answer", new CloudError("unreachable", "down")],
    ["something is broken", new TypeError("a mistake")],
  ])("counts from the start when %s", async (_title, failure) => {
    await rig.look(P_LOST, TEN_MIN + 1);
    rig.failure = failure;
    await rig.look(P_LOST, TEN_MIN);
    expect(rig.removed).toEqual([]);
    rig.failure = undefined;
    await rig.look(P_LOST, TEN_MIN + 1);
    expect(rig.removed).toEqual(["p"]);
  });

  test.each(["found", "refused"] as const)(
    "finds none removed while the pool, asked for by itself, is %s",
    async (pool) => {
      rig.pool = pool;
      await rig.look(P_LOST, 2 * TEN_MIN);
      expect(rig.removed).toEqual([]);
    },
  );

  test("judges an answer by the pools that are shown when it comes", async () => {
    rig.delayMs = MINUTE_MS;
    const lost = rig.look(P_LOST);
    await Promise.all([lost, rig.look(ALL)]);
    rig.delayMs = 0;
    await rig.look(P_LOST, TEN_MIN);
    expect(rig.removed).toEqual([]);
  });

  test("asks once at a time, never at rest, and nothing after the end", async () => {
    rig.servers = [P, Q];
    await rig.look(ALL, 60);
    expect(rig.asked).toBe(1);
    await rig.look(toPools("p", "q", "new"));
    expect(rig.asked).toBe(2);
    rig.servers = [Q];
    await Promise.all([rig.look(P_LOST), rig.look(P_LOST)]);
    expect(rig.asked).toBe(3);
    rig.stop.abort();
    await rig.look(P_LOST, TEN_MIN);
    expect(rig.asked).toBe(3);
  });

  test("asks once a minute while a pool is lost, and every ten minutes once it is removed", async () => {
    await rig.look(P_LOST, TEN_MIN + 1);
    expect(rig.asked).toBe(TEN_MIN + 2);
    // The inventory leaves it out from then on.
    for (const pools of [P_LOST, toPools("q")]) {
      rig.asked = 0;
      await rig.look(pools, 2 * TEN_MIN);
      expect(rig.asked).toBe(2);
    }
  });

  test("asks every ten minutes while the list tells too little", async () => {
    rig = new Rig();
    rig.servers = [];
    await rig.look(ALL, 3 * TEN_MIN);
    expect(rig.asked).toBe(3);
  });
});
