import { describe, expect, test } from "bun:test";
import {
  ConnectionHistory,
  isWhole,
} from "../../../../lib/providers/xenorchestra/proof/connection_history.ts";
import type { ServersReply } from "../../../../lib/providers/xenorchestra/proof/connections.ts";
import type { Server } from "../../../../lib/providers/xenorchestra/wire/schema.ts";

const MINUTE_MS = 60_000;
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
