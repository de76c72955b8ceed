/**
 * A provider whose settings change while it works.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { ChangeHint, Provider } from "../../../lib/cloud/provider.ts";
import { createLogger } from "../../../lib/core/log.ts";
import type { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { type ChangingProvider, createChanging } from "../../support/cloud/changing_provider.ts";
import type { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";
import {
  FakeXenOrchestra,
  HOST_PARIS_2,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  toSettings,
  WORKER_1,
  NODE,
} from "./fake_server.ts";

const signal = new AbortController().signal;

let here: FakeXenOrchestra;
let there: FakeXenOrchestra;
let provider: Provider;
let changing: ChangingProvider<ReturnType<typeof toSettings>>;
let clock: ManualClock;
let metrics: MetricsRegistry;

beforeEach(() => {
  here = new FakeXenOrchestra();
  there = new FakeXenOrchestra();
  const deps = toDeps();
  ({ clock, metrics } = deps);
  changing = createChanging(xenOrchestra, toSettings(here.url), deps);
  ({ provider } = changing);
});
afterEach(async () => {
  await here.stop();
  await there.stop();
});

function list(): Promise<Inventory> {
  return provider.listInventory([NODE], signal);
}

/** Uses other settings, as a changed file does. */
function change(server: FakeXenOrchestra, more: object = {}): string | undefined {
  return changing.change(toSettings(server.url, more));
}

/** Holds back the answers of a server until the returned function is called. */
function hold(server: FakeXenOrchestra): () => void {
  const held = Promise.withResolvers<void>();
  server.answer = async () => {
    await held.promise;
    return new Response("", { status: 503 });
  };
  return () => {
    server.answer = () => undefined;
    held.resolve();
  };
}

describe("a change of the settings", () => {
  test("changes what is left alone, and asks no other Xen Orchestra", () => {
    expect(provider.unmanaged).toEqual(new Set());
    const left = { addresses: { mode: "leave" }, zoneLabelFrom: "none", regions: { a: "b" } };
    expect(change(here, left)).toBe("sameCloud");
    expect(provider.unmanaged).toEqual(new Set(["addresses", "zone"]));
    expect(change(here)).toBe("sameCloud");
    expect(provider.unmanaged).toEqual(new Set());
  });

  test("makes the next inventory by the new settings", async () => {
    expect((await list()).instances.get(WORKER_1)?.zone).toBe(HOST_PARIS_2);
    change(here, { zoneLabelFrom: "pool", refreshInterval: "90s" });
    expect(provider.refreshIntervalMs).toBe(90_000);
    expect((await list()).instances.get(WORKER_1)?.zone).toBe(POOL_PARIS);
  });

  test("keeps what is known of the pools of the same Xen Orchestra", async () => {
    await list();
    here.dropPool(POOL_LYON);
    const changes = { token: "other", addresses: { mainIpAsExternal: true } };
    expect(change(here, changes)).toBe("sameCloud");
    expect((await list()).coverage.get(POOL_LYON)?.complete).toBe(false);
    expect(here.seen.at(-1)?.headers.get("cookie")).toBe("authenticationToken=other");
  });

  test("keeps which connection led to a pool; another user sees it gone for ten minutes first", async () => {
    const isRemoved = async (): Promise<boolean> => !(await list()).coverage.has(POOL_LYON);
    const wait = async (): Promise<boolean> => {
      await clock.advance(60_000);
      return await isRemoved();
    };
    await list();
    await until("connections were read", () =>
      metrics.render().includes('code="200",operation="list_servers"'),
    );
    here.dropPool(POOL_LYON);
    here.collections["servers"] = here.list("servers").filter((one) => one["poolId"] !== null);
    await until("the pool is removed", wait);
    change(here, { zoneLabelFrom: "pool" });
    expect(await isRemoved()).toBe(true);
    change(here, { refreshInterval: "90s" });
    expect(await isRemoved()).toBe(true);
    change(here, { token: "other" });
    expect(await isRemoved()).toBe(false);
    await until("the pool is removed", wait);
  });

  test("leaves a refused token alone for at most half of the new interval, over the same connection", async () => {
    change(here, { refreshInterval: "5s" });
    here.answer = () => new Response("", { status: 401 });
    for (let count = 0; count < 12; count += 1) {
      await list().catch(() => {});
      await clock.advance(2_500);
    }
    const before = here.seen.length;
    await list().catch(() => {});
    expect(here.seen.length).toBeGreaterThan(before);
  });

  test("sends a new token at once, although the old one was refused a moment ago", async () => {
    here.answer = ({ headers }) =>
      headers.get("cookie") === "authenticationToken=other"
        ? undefined
        : new Response("", { status: 401 });
    await expect(list()).rejects.toMatchObject({ kind: "denied" });
    change(here, { token: "other" });
    expect((await list()).instances.has(WORKER_1)).toBe(true);
  });

  test("reports a pool that the new token does not show, and no other", async () => {
    const lines: string[] = [];
    const write = (line: string): number => lines.push(line);
    const log = createLogger({ format: "text", write, now: () => 0 });
    const made = createChanging(xenOrchestra, toSettings(here.url), toDeps({ log }));
    await made.provider.listInventory([NODE], signal);
    lines.length = 0;
    here.dropPool(POOL_LYON);
    made.change(toSettings(here.url, { token: "other" }));
    await made.provider.listInventory([NODE], signal);
    expect(lines).toEqual([expect.stringMatching(`no longer shows a pool poolId=${POOL_LYON}`)]);
  });

  test("knows nothing of another Xen Orchestra but what it shows", async () => {
    await list();
    there.dropPool(POOL_LYON);
    expect(change(there)).toBe("otherCloud");
    expect((await list()).coverage.has(POOL_LYON)).toBe(false);
  });

  test("concludes nothing from a new cloud before its first inventory", async () => {
    const inventory = await list();
    there.remove("vms", WORKER_1);
    change(there);
    const read = () => provider.readInstance(inventory, NODE, signal);
    expect(await read()).toMatchObject({ kind: "unknown", reason: "noInventory" });
    expect(await provider.changes?.readInstances?.(new Set([WORKER_1]), signal)).toEqual(new Map());
    expect(there.seen).toEqual([]);
    await list();
    await read();
    expect(there.seen.length).toBeGreaterThan(0);
  });

  test.each([[{ caFile: "/nowhere/canary.pem" }], [{ token: null, tokenFile: "/nowhere/canary" }]])(
    "leaves everything as it was when %j cannot be used",
    async (broken) => {
      await list();
      expect(() => change(there, { ...broken, refreshInterval: "90s" })).toThrow("/nowhere");
      expect(provider.refreshIntervalMs).toBe(30_000);
      await list();
      expect(there.seen).toEqual([]);
    },
  );
});

describe("listInventory()", () => {
  test("asks again when the settings change while it asks, and never mixes", async () => {
    const release = hold(here);
    there.remove("vms", WORKER_1);
    const asked = list();
    await until("it asks", () => here.seen.length > 0);
    change(there, { token: "other" });
    release();
    const inventory = await asked;
    expect(inventory.instances.has(WORKER_1)).toBe(false);
    const toTokens = ({ seen }: FakeXenOrchestra): Set<string | null> =>
      new Set(seen.map(({ headers }) => headers.get("cookie")));
    expect([...toTokens(here)]).toEqual(["authenticationToken=t0ken"]);
    expect([...toTokens(there)]).toEqual(["authenticationToken=other"]);
  });

  test("does not wait for a server that it left", async () => {
    const release = hold(here);
    const asked = list();
    await until("it asks", () => here.seen.length > 0);
    change(there);
    expect((await asked).instances.has(WORKER_1)).toBe(true);
    release();
  });

  test("goes on with its question when what changed is not where it asks", async () => {
    const asked = list();
    change(here, { zoneLabelFrom: "pool" });
    expect((await asked).instances.get(WORKER_1)?.zone).toBe(POOL_PARIS);
  });

  test("does not fail for what it left", async () => {
    const asked = list();
    change(there);
    here.answer = () => new Response("", { status: 503 });
    expect((await asked).instances.has(WORKER_1)).toBe(true);
  });

  test("fails for what it asks now, and when its signal aborts", async () => {
    here.answer = () => new Response("", { status: 503 });
    await expect(list()).rejects.toMatchObject({ kind: "unreachable" });
    const stop = new AbortController();
    stop.abort(new Error("stop"));
    await expect(provider.listInventory([NODE], stop.signal)).rejects.toThrow("stop");
  });
});

describe("readInstance()", () => {
  test.each([
    ["another server", () => change(there)],
    ["other pools", () => change(here, { pools: [POOL_LYON] })],
  ])("gives no answer that was asked before there was %s", async (_title, change) => {
    const inventory = await list();
    const before = here.seen.length;
    const release = hold(here);
    const asked = provider.readInstance(inventory, NODE, signal);
    await until("it asks", () => here.seen.length > before);
    change();
    release();
    expect(await asked).toMatchObject({ kind: "unknown", reason: "noInventory" });
  });
});

describe("watchChanges()", () => {
  test("follows the new cloud, and stays on its stream when only labels change", async () => {
    const open = (server: FakeXenOrchestra): number =>
      server.paths.filter((path) => path === "/events").length;
    for (const server of [here, there]) {
      server.answer = ({ path }) => {
        if (path !== "/events") return path.startsWith("/events/") ? Response.json({}) : undefined;
        const body = new ReadableStream({
          start: (stream) => stream.enqueue('event: init\ndata: {"id":"s"}\n\n'),
        });
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      };
    }
    const stop = new AbortController();
    const hints: ChangeHint[] = [];
    const watching = provider.changes?.watchChanges((hint) => hints.push(hint), stop.signal);
    await until("the first stream", () => hints.length === 1);
    change(here, { zoneLabelFrom: "pool" });
    await list();
    change(there, { zoneLabelFrom: "pool" });
    await until("the second stream", () => hints.length === 2);
    expect([open(here), open(there)]).toEqual([1, 1]);
    stop.abort(new Error("the test is over"));
    await watching;
  });
});
