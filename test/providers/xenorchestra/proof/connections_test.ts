import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Coverage } from "../../../../lib/cloud/inventory/inventory.ts";
import {
  ConnectionHistory,
  ConnectionWatch,
  isWhole,
  judgeConnections,
  nameServer,
  nameState,
  withoutLost,
} from "../../../../lib/providers/xenorchestra/connections.ts";
import {
  type Server,
  type ServersReply,
  XenOrchestraApi,
} from "../../../../lib/providers/xenorchestra/client.ts";
import type { Reply } from "../../../../lib/cloud_http/http.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { Memory } from "../../../../lib/providers/xenorchestra/memory.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

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
    ["names every pool that is shown", list(A, B), "clear"],
    ["names a pool twice", list(A, { ...A, id: "4" }, B), "clear"],
    ["has a connection that is disabled, too", list(A, B, OFF), "clear"],
    ["is refused", "refused", "unreadable: … the user has no right to read it"],
    ["is missing", "missing", "unreadable: … this server has no such list"],
    ["is empty", list(), "unreadable: … it is empty"],
    [
      "lacks a pool",
      list(B),
      "unreadable: … it shows no connection to pool Paris, although Xen Orchestra shows the pool",
    ],
    [
      "has nothing but a disabled one",
      list(OFF),
      "unreadable: … it shows no connection to pool Paris, although",
    ],
    [
      "has one that is not up",
      list(A, B, { ...A, status: "connecting" }),
      'doubtful: the connection "one" is connecting',
    ],
    [
      "has one that is up without a pool",
      list(A, B, { ...A, poolId: null }),
      'doubtful: the connection "one" is up, but its pool is not loaded',
    ],
    [
      "has one that is up to a pool that is lost",
      list(A, B, { ...A, poolId: "lost" }),
      'doubtful: the connection "one" is up, but its pool is not loaded',
    ],
    [
      "has one that is disabled, of a pool that is shown",
      list(A, B, { ...OFF, poolId: "b" }),
      'doubtful: the connection "three" is disabled, but Xen Orchestra shows its pool',
    ],
    [
      "has one that cannot be read",
      { objects: [A, B], undecodable: new Map([["3", "enabled: must be boolean"]]) },
      "doubtful: Landfall cannot read one of the connections to pools: enabled: must be boolean",
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

describe("nameServer()", () => {
  test("takes the label, else the address, else the ID", () => {
    expect(nameServer({ id: "1", label: "rack", host: "10.0.0.1" })).toBe("rack");
    expect(nameServer({ id: "1", label: "", host: "10.0.0.1" })).toBe("10.0.0.1");
    expect(nameServer({ id: "1", label: null })).toBe("1");
  });
});

describe("nameState()", () => {
  test("says what is known, and never more than a line of it", () => {
    expect(nameState({ id: "1", status: "connecting" })).toBe("connecting");
    expect(nameState({ id: "1" })).toBe("in an unknown state");
    expect(nameState({ id: "1", status: "x".repeat(2_000) }).length).toBeLessThanOrEqual(101);
    expect(nameServer({ id: "1", label: "x".repeat(2_000) }).length).toBeLessThanOrEqual(101);
  });
});

describe("withoutLost()", () => {
  const down: Server = { ...A, id: "9", status: "connecting", poolId: null };

  test.each<[string, ServersReply, "clear" | "doubtful" | "unreadable"]>([
    ["one is down beside those of all pools that are shown", list(A, B, down), "clear"],
    ["one is down, and a pool that is shown has none", list(A, down), "unreadable"],
    ["one is down, and there is no other", list(down), "unreadable"],
    ["one is down that still names its pool", list(A, B, { ...down, poolId: "b" }), "doubtful"],
    ["one is up without its pool", list(A, B, { ...A, poolId: null }), "doubtful"],
    ["the list is refused", "refused", "unreadable"],
  ])("when %s", (_title, servers, kind) => {
    expect(judgeConnections(withoutLost(servers), COVERAGE).kind).toBe(kind);
  });
});

const MINUTE_MS = 60_000;
const SHOWN = { complete: true };
const WATCHED_P = { id: "to-p", status: "connected", poolId: "p" };
const WATCHED_Q = { id: "to-q", status: "connected", poolId: "q" };

/** Connections of which one can be removed, and a pool that the user may be refused. */
class Rig {
  readonly clock = new ManualClock();
  readonly memory = new Memory();
  readonly stop = new AbortController();
  servers: (typeof WATCHED_P)[] = [WATCHED_P, WATCHED_Q];
  failure: Error | undefined;
  pool: "missing" | "found" | "refused" = "missing";
  asked = 0;
  waits: Promise<void> = Promise.resolve();
  readonly watch = new ConnectionWatch({
    api: new XenOrchestraApi({ get: ({ path }) => this.#answer(path) }, new MetricsRegistry()),
    memory: this.memory,
    clock: this.clock,
    log: silentLogger,
  });

  async #answer(path: string): Promise<Reply> {
    const toReply = (status: number, value: unknown): Reply => ({
      status,
      contentType: "application/json",
      json: { value },
    });
    const [, id] = /^\/pools\/(.*)$/.exec(path) ?? [];
    if (id !== undefined) {
      if (this.pool === "refused") return toReply(403, {});
      return this.pool === "found"
        ? toReply(200, { id })
        : toReply(404, { data: { type: "pool", id } });
    }
    this.asked += 1;
    await this.waits;
    if (this.failure) throw this.failure;
    return toReply(200, this.servers);
  }

  /** Looks once a minute for some minutes, as after refreshes. */
  async look(minutes: number): Promise<void> {
    const coverage = new Map(this.servers.map(({ poolId }) => [poolId, SHOWN] as const));
    for (let at = 0; at < minutes; at += 1) {
      await this.watch.look(coverage, this.stop.signal);
      await this.clock.advance(MINUTE_MS);
    }
  }
}

let rig: Rig;

describe("ConnectionWatch.look()", () => {
  beforeEach(async () => {
    rig = new Rig();
    await rig.look(1);
    rig.servers = [WATCHED_Q];
  });
  afterEach(() => rig.stop.abort());

  test("judges an answer by the pools that are shown when it comes", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.waits = promise;
    const lost = rig.watch.look(new Map([["q", SHOWN]]), rig.stop.signal);
    const both = new Map([
      ["p", SHOWN],
      ["q", SHOWN],
    ]);
    await rig.watch.look(both, rig.stop.signal);
    resolve();
    await lost;
    expect(rig.memory.connections.findGoneMs("p")).toBeUndefined();
  });

  test("finds a pool removed whose connection is gone for ten minutes", async () => {
    await rig.look(10);
    expect(rig.memory.removedPools).toEqual([]);
    await rig.look(1);
    expect(rig.memory.removedPools).toMatchObject([{ poolId: "p" }]);
  });

  test.each(["found", "refused"] as const)(
    "finds none while the pool, asked for by itself, is %s",
    async (pool) => {
      rig.pool = pool;
      await rig.look(15);
      expect(rig.memory.removedPools).toEqual([]);
    },
  );

  test.each<[string, Error]>([
    ["there is no answer", new CloudError("unreachable", "down")],
    ["something is broken", new TypeError("a mistake")],
  ])("knows less when %s, and goes on", async (_title, failure) => {
    await rig.look(5);
    rig.failure = failure;
    await rig.look(1);
    rig.failure = undefined;
    await rig.look(9);
    expect(rig.memory.removedPools).toEqual([]);
    await rig.look(3);
    expect(rig.memory.removedPools).toHaveLength(1);
  });

  test("asks once at a time, never at rest, and nothing after the end", async () => {
    rig.servers = [WATCHED_P, WATCHED_Q];
    await rig.look(60);
    expect(rig.asked).toBe(1);
    rig.servers = [WATCHED_Q];
    await Promise.all([rig.look(1), rig.watch.look(new Map([["q", SHOWN]]), rig.stop.signal)]);
    expect(rig.asked).toBe(2);
    rig.stop.abort();
    await rig.look(20);
    expect(rig.asked).toBe(2);
  });
});

const GONE_MS = 10 * MINUTE_MS;

type Pools = Parameters<typeof isWhole>[1];

/** Pools of an inventory; an exclamation mark before those that are lost. */
function toPools(...names: readonly string[]): Pools {
  const toEntry = (name: string) =>
    name.startsWith("!")
      ? ([name.slice(1), { complete: false }] as const)
      : ([name, { complete: true }] as const);
  return new Map<string, { complete: boolean }>(names.map(toEntry));
}

function toServer(id: string, poolId?: string, more: Partial<Server> = {}): Server {
  const status = poolId === undefined ? "connecting" : "connected";
  return { id, host: id, enabled: true, status, poolId, ...more };
}

function toReply(...objects: readonly Server[]): ServersReply {
  return { objects, undecodable: new Map() };
}

const P = toServer("to-p", "p");
const Q = toServer("to-q", "q");
const BOTH = toPools("p", "q");
const P_LOST = toPools("!p", "q");

function note(
  history: ConnectionHistory,
  reply: ServersReply,
  pools: Pools,
  askedMs: number,
  answeredMs: number = askedMs,
): void {
  history.note(reply, pools, { askedMs, answeredMs });
}

/** Both pools were seen, and pool p has been gone ever since. */
function remove(untilMs: number): ConnectionHistory {
  const history = new ConnectionHistory();
  note(history, toReply(P, Q), BOTH, 0);
  for (let atMs = 1; atMs <= untilMs; atMs += MINUTE_MS) note(history, toReply(Q), P_LOST, atMs);
  return history;
}

describe("ConnectionHistory.isRemoved()", () => {
  test("says so of a pool whose connection leads to another one now", () => {
    const history = new ConnectionHistory();
    note(history, toReply(P, Q), BOTH, 0);
    const moved = toReply({ ...P, poolId: "r" }, Q);
    for (let atMs = 1; atMs <= GONE_MS + 1; atMs += MINUTE_MS) {
      note(history, moved, toPools("!p", "q", "r"), atMs);
    }
    expect(history.isRemoved("p")).toBe(true);
    expect(history.findGoneMs("p")).toBe(1);
  });

  test("counts from the start for a pool that an inventory showed meanwhile", () => {
    const history = remove(GONE_MS / 2);
    history.noteShown(BOTH);
    expect(history.findGoneMs("p")).toBeUndefined();
    note(history, toReply(Q), P_LOST, GONE_MS + 1);
    expect(history.isRemoved("p")).toBe(false);
  });

  test("knows the newest connections of a pool, however many there were", () => {
    const history = new ConnectionHistory();
    for (let at = 0; at < 100; at += 1) {
      note(history, toReply(toServer(`to-p-${at}`, "p"), toServer("down")), BOTH, at);
    }
    note(history, toReply(toServer("to-p-99", "p", { enabled: false }), Q), P_LOST, 100);
    expect(history.gonePools).toEqual([]);
  });

  test("says so once the connection has been gone for ten minutes, and no sooner", () => {
    expect(remove(GONE_MS).isRemoved("p")).toBe(false);
    const history = remove(GONE_MS + 1);
    expect(history.isRemoved("p")).toBe(true);
    expect(history.removedPools).toEqual(["p"]);
    expect(history.isRemoved("q")).toBe(false);
  });

  test("counts from the answer to the first read until the question of the last", () => {
    const history = new ConnectionHistory();
    note(history, toReply(P, Q), BOTH, 0);
    note(history, toReply(Q), P_LOST, 0, 30_000);
    note(history, toReply(Q), P_LOST, GONE_MS + 29_999, GONE_MS + MINUTE_MS);
    expect(history.isRemoved("p")).toBe(false);
    note(history, toReply(Q), P_LOST, GONE_MS + 30_000);
    expect(history.isRemoved("p")).toBe(true);
  });

  test("never says so of a pool whose connection was never seen up", () => {
    const history = new ConnectionHistory();
    note(history, toReply(toServer("to-p"), Q), P_LOST, 0);
    note(history, toReply(Q), P_LOST, 1);
    note(history, toReply(Q), P_LOST, 1 + GONE_MS);
    expect(history.isRemoved("p")).toBe(false);
  });

  test.each<[string, ServersReply, Pools]>([
    ["the entry is back, without its pool", toReply(toServer("to-p"), Q), P_LOST],
    ["the entry is back, and disabled", toReply({ ...P, enabled: false }, Q), P_LOST],
    ["another entry names no pool", toReply(Q, toServer("new")), P_LOST],
    [
      "another entry names no pool, because it is disabled",
      toReply(Q, toServer("new", undefined, { enabled: false, status: "disconnected" })),
      P_LOST,
    ],
    ["the list is empty", toReply(), P_LOST],
    ["the list is refused", "refused", P_LOST],
    ["there is no such list", "missing", P_LOST],
    ["an entry cannot be read", { objects: [Q], undecodable: new Map([["x", "bad"]]) }, P_LOST],
    ["a pool is shown whose connection is not", toReply(Q), toPools("!p", "q", "r")],
    ["the pool is shown again", toReply(P, Q), BOTH],
  ])("counts from the start after a read by which %s", (_title, reply, pools) => {
    const history = remove(9 * MINUTE_MS);
    note(history, reply, pools, 9 * MINUTE_MS);
    note(history, toReply(Q), P_LOST, GONE_MS + 1);
    expect(history.isRemoved("p")).toBe(false);
    note(history, toReply(Q), P_LOST, 2 * GONE_MS + 1);
    expect(history.isRemoved("p")).toBe(true);
  });

  test("counts from the start after a question without an answer", () => {
    const history = remove(GONE_MS + 1);
    history.noteUnanswered(GONE_MS + 2);
    expect(history.isRemoved("p")).toBe(false);
  });

  test("forgets it when the pool is there after all", () => {
    const history = remove(GONE_MS + 1);
    history.noteExists("p");
    expect(history.removedPools).toEqual([]);
  });

  test("waits for the connection that took the place of another", () => {
    const history = new ConnectionHistory();
    note(history, toReply(P, Q), BOTH, 0);
    const later = toServer("to-p-later", "p");
    note(history, toReply(later, Q), BOTH, 1);
    note(history, toReply(toServer("to-p-later"), Q), P_LOST, 2);
    note(history, toReply(toServer("to-p-later"), Q), P_LOST, 2 + GONE_MS);
    expect(history.isRemoved("p")).toBe(false);
  });
});

describe("ConnectionHistory.isDue()", () => {
  test("once for pools that are shown for the first time, and never again while all is well", () => {
    const history = new ConnectionHistory();
    expect(history.isDue(new Map(), 0)).toBe(false);
    expect(history.isDue(BOTH, 0)).toBe(true);
    note(history, toReply(P, Q), BOTH, 0);
    expect(history.isDue(BOTH, 1e9)).toBe(false);
    expect(history.isDue(toPools("p", "q", "new"), 1)).toBe(true);
  });

  test("every ten minutes while the list tells too little", () => {
    const history = new ConnectionHistory();
    note(history, toReply(), BOTH, 0);
    expect(history.isDue(BOTH, GONE_MS - 1)).toBe(false);
    expect(history.isDue(BOTH, GONE_MS)).toBe(true);
    history.noteUnanswered(GONE_MS);
    expect(history.isDue(BOTH, 2 * GONE_MS - 1)).toBe(false);
  });

  test("once a minute while a pool is lost, and every ten minutes once it is removed", () => {
    const lost = remove(2);
    expect(lost.isDue(P_LOST, MINUTE_MS)).toBe(false);
    expect(lost.isDue(P_LOST, MINUTE_MS + 1)).toBe(true);
    const removed = remove(GONE_MS + 1);
    // The inventory leaves it out from then on.
    for (const pools of [P_LOST, toPools("q")]) {
      expect(removed.isDue(pools, GONE_MS + 1 + MINUTE_MS)).toBe(false);
      expect(removed.isDue(pools, 2 * GONE_MS + 1)).toBe(true);
    }
  });
});

describe("isWhole()", () => {
  test("takes a list for whole that names a connection for each pool that is shown", () => {
    expect(isWhole(toReply(P, Q), BOTH)).toBe(true);
    expect(isWhole(toReply(Q), P_LOST)).toBe(true);
    expect(isWhole(toReply(Q), BOTH)).toBe(false);
    expect(isWhole("refused", P_LOST)).toBe(false);
  });
});
