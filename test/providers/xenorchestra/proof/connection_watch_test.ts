import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { ConnectionWatch } from "../../../../lib/providers/xenorchestra/proof/connection_watch.ts";
import type { ServersReply } from "../../../../lib/providers/xenorchestra/proof/connections.ts";
import { Memory } from "../../../../lib/providers/xenorchestra/memory.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const MINUTE_MS = 60_000;
const SHOWN = { complete: true };
const P = { id: "to-p", status: "connected", poolId: "p" };
const Q = { id: "to-q", status: "connected", poolId: "q" };

/** Connections of which one can be removed, and a pool that the user may be refused. */
class Rig {
  readonly clock = new ManualClock();
  readonly memory = new Memory();
  readonly stop = new AbortController();
  servers: (typeof P)[] = [P, Q];
  failure: Error | undefined;
  pool: "missing" | "found" | "refused" = "missing";
  asked = 0;
  waits: Promise<void> = Promise.resolve();
  readonly watch = new ConnectionWatch({
    api: {
      listServers: async (): Promise<ServersReply> => {
        this.asked += 1;
        await this.waits;
        if (this.failure) throw this.failure;
        return { objects: this.servers, undecodable: new Map() };
      },
      readPool: async (id) => {
        if (this.pool === "refused") throw new CloudError("denied", "no right");
        return this.pool === "missing"
          ? { kind: "missing" }
          : { kind: "found", value: { id, master: null } };
      },
    },
    memory: this.memory,
    clock: this.clock,
    log: silentLogger,
    signal: this.stop.signal,
  });

  /** Looks once a minute for some minutes, as after refreshes. */
  async look(minutes: number): Promise<void> {
    const coverage = new Map(this.servers.map(({ poolId }) => [poolId, SHOWN] as const));
    for (let at = 0; at < minutes; at += 1) {
      await this.watch.look(coverage);
      await this.clock.advance(MINUTE_MS);
    }
  }
}

let rig: Rig;
beforeEach(async () => {
  rig = new Rig();
  await rig.look(1);
  rig.servers = [Q];
});
afterEach(() => rig.stop.abort());

describe("ConnectionWatch.look()", () => {
  test("judges an answer by the pools that are shown when it comes", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.waits = promise;
    const lost = rig.watch.look(new Map([["q", SHOWN]]));
    const both = new Map([
      ["p", SHOWN],
      ["q", SHOWN],
    ]);
    await rig.watch.look(both);
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
    rig.servers = [P, Q];
    await rig.look(60);
    expect(rig.asked).toBe(1);
    rig.servers = [Q];
    await Promise.all([rig.look(1), rig.watch.look(new Map([["q", SHOWN]]))]);
    expect(rig.asked).toBe(2);
    rig.stop.abort();
    await rig.look(20);
    expect(rig.asked).toBe(2);
  });
});
