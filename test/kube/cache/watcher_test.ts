import { afterEach, expect, test } from "bun:test";
import { isTimeout } from "../../../lib/core/clock.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import type { ScriptStep } from "../../support/kube/scripted_kube_client.ts";
import {
  bookmark,
  compacted,
  gone,
  list,
  refused,
  startWatcher,
  toEvent,
  toNode,
  watch,
  type WatcherRig,
} from "../../support/kube/cache/watcher_rig.ts";

/** What ends after each test. */
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function start(script: readonly ScriptStep[]): WatcherRig {
  const rig = startWatcher(script);
  stops.push(rig.stop);
  return rig;
}

test("I-01: runWatcher() follows the trace of a stream that expires and a list that is refused", async () => {
  const { client, clock, store, told } = start([
    list("ab", "900"),
    watch(toEvent("MODIFIED", "a", "905"), { waitMs: 30_000 }, bookmark("950")),
    watch({ waitMs: 30_000 }, gone),
    compacted,
    list("a", "2000"),
  ]);
  await clock.advance(70_000);
  expect(client.requests).toEqual([
    "list limit=500",
    "watch rv=900",
    "watch rv=950",
    "list limit=500",
    "list limit=500",
    "watch rv=2000",
  ]);
  expect(told).toEqual(["+a", "+b", "~a", "-b@1", "~a"]);
  expect([...store.keys()]).toEqual(["a"]);
});

test("I-01: runWatcher() lists when opening a watch is answered 410", async () => {
  const { client, clock, told } = start([list("a", "900"), compacted, list("", "1000")]);
  await clock.advance(1_000);
  expect(client.requests.slice(1)).toEqual(["watch rv=900", "list limit=500", "watch rv=1000"]);
  expect(told).toEqual(["+a", "-a@1"]);
});

test("I-02: runWatcher() advances by a bookmark alone, and by events", async () => {
  const { client, clock } = start([
    list("a", "900"),
    watch(bookmark("910"), { waitMs: 2_000 }),
    watch(toEvent("DELETED", "a", "920"), { waitMs: 2_000 }),
  ]);
  await clock.advance(5_000);
  expect(client.requests.slice(1)).toEqual(["watch rv=900", "watch rv=910", "watch rv=920"]);
});

test.each(["0", ""])(
  "runWatcher() from version %j waits for the end of the replay before it advances",
  async (version) => {
    const { client, clock } = start([
      list("", version),
      watch(toEvent("ADDED", "a", "77"), { waitMs: 2_000 }),
      watch(toEvent("ADDED", "b", "12"), bookmark("90"), { waitMs: 2_000 }),
    ]);
    await clock.advance(5_000);
    expect(client.requests.slice(1)).toEqual([
      `watch rv=${version}`,
      `watch rv=${version}`,
      "watch rv=90",
    ]);
  },
);

test("runWatcher() opens a watch that ended cleanly again at once", async () => {
  const { client, clock } = start([list("a", "900"), watch({ waitMs: 30_000 })]);
  await clock.advance(30_000);
  expect(client.timesMs).toEqual([0, 0, 30_000]);
});

test("I-03: a stream cut every moment stays consistent and is opened once a second at most", async () => {
  const cuts = Array.from({ length: 60 }, (_, at) =>
    watch(toEvent("MODIFIED", "a", String(1_000 + at)), { waitMs: 20 }),
  );
  const { client, clock, store } = start([list("a", "900"), ...cuts]);
  await clock.advance(30_500);
  expect(client.requests.length).toBe(32);
  expect(client.requests.filter((request) => request.startsWith("list")).length).toBe(1);
  expect(store.get("a")?.metadata.resourceVersion).toBe("1030");
  // No watch that is over left a timer.
  expect(clock.pending).toBe(1);
});

test.each([
  ["ends empty at once", []],
  ["breaks at once", new KubeError("unavailable", "reset")],
  ["is refused", new KubeError("forbidden", "denied", { code: 403 })],
  ["expires at once", [gone]],
  ["fails by a bug", new TypeError("bug")],
] as const)("I-03: runWatcher() never spins when each watch %s", async (_what, broken) => {
  const { client, clock } = start([list("a", "1")]);
  // Whatever is asked for, lists succeed and watches fail, for an hour.
  client.list = () => {
    client.requests.push("list");
    return Promise.resolve({ items: [], resourceVersion: "1" });
  };
  client.watch = async function* () {
    client.requests.push("watch");
    if (broken instanceof Error) throw broken;
    yield* broken;
  };
  await clock.advance(60_000);
  // 0.8 s, 1.6 s, 3.2 s … 30 s between rounds of two requests.
  expect(client.requests.length).toBeLessThanOrEqual(16);
  const before = client.requests.length;
  await clock.advance(3_600_000);
  expect(client.requests.length - before).toBeGreaterThan(100);
  expect(client.requests.length - before).toBeLessThanOrEqual(242);
});

test("I-04: runWatcher() watches on at its version when the API server was away", async () => {
  const { client, clock, store, metrics } = start([
    list("a", "900"),
    watch(toEvent("ADDED", "b", "910"), { waitMs: 5_000 }, refused),
    { fail: refused },
    { fail: refused },
    watch(toEvent("ADDED", "c", "920"), { waitMs: 60_000 }),
  ]);
  await clock.advance(30_000);
  expect(client.requests.slice(1)).toEqual(["watch rv=900", ...Array(3).fill("watch rv=910")]);
  expect(client.timesMs.slice(2)).toEqual([5_800, 7_400, 10_600]);
  expect([...store.keys()]).toEqual(["a", "b", "c"]);
  expect(metrics.restarts.value({ resource: "nodes", reason: "unavailable" })).toBe(3);
});

test("I-04: runWatcher() keeps its store while the API server cannot be listed, and waits as told", async () => {
  const busy = new KubeError("throttled", "busy", { code: 429, retryAfterMs: 45_000 });
  const { client, clock, store, told } = start([
    list("a", "900"),
    watch(gone),
    { fail: new KubeError("unavailable", "no etcd", { code: 503 }) },
    { fail: busy },
    list("a", "950"),
  ]);
  await clock.advance(3_000);
  expect(store.size).toBe(1);
  await clock.advance(60_000);
  expect(client.timesMs).toEqual([0, 0, 800, 2_400, 47_400, 47_400]);
  expect(told).toEqual(["+a"]);
});

test("runWatcher() backs off and watches on when a watch is answered 429", async () => {
  const busy = new KubeError("throttled", "busy", { code: 429, retryAfterMs: 10_000 });
  const { client, clock } = start([list("a", "900"), { fail: busy }]);
  await clock.advance(10_000);
  expect(client.requests.slice(1)).toEqual(["watch rv=900", "watch rv=900"]);
  expect(client.timesMs[2]).toBe(10_000);
});

test("I-05: runWatcher() lists in pages again where the cache gave pages", async () => {
  const { client, clock, store } = start([
    { page: { items: [toNode("a", "1")], resourceVersion: "900", continue: "t1" } },
    { page: { items: [toNode("b", "1")], resourceVersion: "901" } },
    watch(gone),
    list("ab", "950"),
  ]);
  await clock.advance(1_000);
  expect(store.size).toBe(2);
  expect(client.requests).toEqual([
    "list limit=500",
    "list limit=500 continue=t1",
    "watch rv=900",
    "list limit=500",
    "watch rv=950",
  ]);
});

test("I-06: runWatcher() goes on when the client gives up on a connection", async () => {
  const late = new KubeError("unavailable", "the server did not end the watch in time");
  const { client, clock, store } = start([
    list("a", "900"),
    watch({ waitMs: 30_000 }, bookmark("910"), { waitMs: 30_000 }, late),
    watch(toEvent("DELETED", "a", "990"), { waitMs: 10_000 }),
  ]);
  await clock.advance(61_000);
  expect(client.requests.slice(1)).toEqual(["watch rv=900", "watch rv=910"]);
  expect(client.watchSeconds).toEqual([30, 30]);
  expect(store.size).toBe(0);
});

test("I-06: runWatcher() opens a watch that fell silent again after 40 s, without a failure", async () => {
  const { client, clock, metrics, told, stop } = startWatcher([
    list("a", "900"),
    watch(toEvent("MODIFIED", "a", "910"), { waitMs: 39_999 }, bookmark("920"), {
      waitMs: 300_000,
    }),
    watch({ waitMs: 300_000 }),
    watch({ waitMs: 300_000 }),
    watch({ waitMs: 300_000 }),
    watch({ waitMs: 300_000 }),
    watch({ waitMs: 300_000 }),
    watch(toEvent("DELETED", "a", "990")),
  ]);
  await clock.advance(39_999 + 6 * 40_000);
  // Even after many in a row no list is due, and no pause.
  expect(client.requests.slice(1)).toEqual([
    "watch rv=900",
    ...Array.from({ length: 6 }, () => "watch rv=920"),
  ]);
  expect(client.timesMs.slice(2)).toEqual(
    Array.from({ length: 6 }, (_, at) => 39_999 + (at + 1) * 40_000),
  );
  expect(told).toEqual(["+a", "~a", "-a@990"]);
  expect(metrics.restarts.value({ resource: "nodes", reason: "silent" })).toBe(6);
  await stop();
  expect(clock.pending).toBe(0);
});

test("runWatcher() asks for a long watch while much is said, and for short ones otherwise", async () => {
  const beats = Array.from({ length: 7 }, (_, at) => [
    { waitMs: 4_000 },
    toEvent("MODIFIED", "a", `${901 + at}`),
  ]).flat();
  const { client, clock } = start([
    list("a", "900"),
    watch({ waitMs: 30_000 }, bookmark("900")),
    watch(...beats),
    watch({ waitMs: 999_000 }),
  ]);
  await clock.advance(30_000 + 28_000 + 40_000);
  expect(client.watchSeconds).toEqual([30, 30, 300, 30]);
});

test("I-06: runWatcher() opens a quiet watch again when another connection was silent, without a failure", async () => {
  const { client, clock, recovery, told, stop } = startWatcher([
    list("a", "900"),
    watch({ waitMs: 100_000 }),
    watch({ waitMs: 2_000 }, toEvent("MODIFIED", "a", "910"), { waitMs: 100_000 }),
  ]);
  const signals: AbortSignal[] = [];
  const open = client.watch.bind(client);
  client.watch = (resource, query, signal) => {
    signals.push(signal);
    return open(resource, query, signal);
  };
  await clock.advance(5_000);
  recovery.tell();
  await clock.advance(0);
  expect(client.timesMs).toEqual([0, 0]);
  recovery.tell("reconnected");
  await clock.advance(6_999);
  expect(client.timesMs).toEqual([0, 0, 5_000]);
  // So later requests use new connections.
  expect(signals.map(({ reason }) => isTimeout(reason))).toEqual([true, false]);
  // It was heard 4,999 ms ago.
  recovery.tell("reconnected");
  await clock.advance(0);
  expect(client.timesMs).toHaveLength(3);
  expect(told).toEqual(["+a", "~a"]);
  await stop();
  expect(clock.pending).toBe(0);
});

test("I-07: runWatcher() reports a delete it missed, with the last state", async () => {
  const { clock, told } = start([
    list("ab", "900"),
    watch(toEvent("MODIFIED", "b", "905"), gone),
    list("a", "950"),
  ]);
  await clock.advance(1_000);
  expect(told).toEqual(["+a", "+b", "~b", "-b@905"]);
});

test("I-09: runWatcher() goes on when a listener throws", async () => {
  const { clock, store, told } = start([
    list("a", "900"),
    watch({ waitMs: 1_000 }, toEvent("ADDED", "b", "901"), { waitMs: 100_000 }),
  ]);
  store.subscribe(() => {
    throw new Error("broken listener");
  });
  await clock.advance(2_000);
  expect(told).toEqual(["+a", "+b"]);
});

test.each<[string, string, unknown]>([
  ["of another kind", "MODIFIED", { ...toNode("a", "999"), kind: "Pod" }],
  ["of another version of the API", "ADDED", { ...toNode("x", "999"), apiVersion: "v2" }],
  ["nameless", "ADDED", { kind: "Node", apiVersion: "v1", metadata: { resourceVersion: "9" } }],
  ["without a version", "ADDED", { kind: "Node", apiVersion: "v1", metadata: { name: "x" } }],
  ["of another shape", "ADDED", { ...toNode("x", "999"), status: { conditions: "none" } }],
  ["nothing", "ADDED", null],
  ["of an unknown type", "NOVELTY", toNode("a", "901")],
])("runWatcher() lists again after an event that is %s", async (_, type, object) => {
  const { client, clock, store, told } = start([
    list("a", "900"),
    watch({ type, object }, toEvent("ADDED", "never", "903")),
    list("ab", "904"),
  ]);
  await clock.advance(3_000);
  expect(client.requests.slice(2)).toEqual(["list limit=500", "watch rv=904"]);
  expect(told).toEqual(["+a", "+b"]);
  expect(store.get("a")?.metadata.resourceVersion).toBe("1");
});

test("runWatcher() goes by no bookmark of another kind, and finds out of a version that is none", async () => {
  const noVersion: ScriptStep = { fail: new KubeError("invalid", "no version", { code: 400 }) };
  const { client, clock, told } = start([
    list("a", "900"),
    watch({ type: "BOOKMARK", object: { kind: "Pod", metadata: { resourceVersion: "7" } } }, gone),
    list("a", "901"),
    watch(bookmark("rubbish")),
    noVersion,
    list("ab", "910"),
  ]);
  await clock.advance(10_000);
  expect(client.requests.slice(2)).toEqual([
    "list limit=500",
    "watch rv=901",
    "watch rv=rubbish",
    "list limit=500",
    "watch rv=910",
  ]);
  expect(told).toEqual(["+a", "+b"]);
});

test("runWatcher() is synced by its first list, not before", async () => {
  const { clock, store, metrics } = start([{ fail: refused }, list("", "0")]);
  await clock.advance(700);
  expect(store.synced).toBe(false);
  await clock.advance(100);
  expect(store.synced).toBe(true);
  expect(metrics.lastEvent.value({ resource: "nodes" })).toBe(clock.now() / 1_000);
});

test.each([
  ["in a list", []],
  ["in a watch", [list("a", "1")]],
  ["in a pause", [{ fail: refused }]],
] as const)("runWatcher() returns as soon as its signal aborts %s", async (_where, script) => {
  const { clock, client, stop } = startWatcher(script);
  await clock.advance(0);
  const before = client.requests.length;
  await stop();
  await clock.advance(60_000);
  expect(client.requests.length).toBe(before);
  expect(clock.pending).toBe(0);
});

test("runWatcher() tries again at once when the server is known to be back", async () => {
  const fails = Array.from({ length: 7 }, () => ({ fail: refused }));
  const { client, clock, recovery } = start([...fails, list("a", "900")]);
  // 0.8, 1.6, 3.2, 6.4, 12.8 s, and then 25.6.
  await clock.advance(25_000);
  expect(client.requests).toHaveLength(6);
  recovery.tell();
  await clock.advance(0);
  expect(client.requests).toHaveLength(7);
  await clock.advance(800);
  expect(client.requests.slice(-2)).toEqual(["list limit=500", "watch rv=900"]);
});

test("runWatcher() has one request at a time to learn that a server is back", async () => {
  const { clock, recovery, stop } = startWatcher([
    ...Array.from({ length: 5 }, () => ({ fail: refused })),
    list("a", "900"),
  ]);
  let listening = 0;
  const subscribe = recovery.subscribe.bind(recovery);
  recovery.subscribe = (listener) => {
    const end = subscribe(listener);
    listening += 1;
    return () => {
      listening -= 1;
      return end();
    };
  };
  await clock.advance(20_000);
  expect(listening).toBe(1);
  // The watch that is open now listens, too.
  await clock.advance(200_000);
  expect(listening).toBe(1);
  await stop();
  expect(listening).toBe(0);
});

test("runWatcher() keeps to a pause that the server asked for, and to the least one", async () => {
  const busy = new KubeError("throttled", "too many requests", { code: 429, retryAfterMs: 20_000 });
  const { client, clock, recovery } = start([{ fail: refused }, { fail: busy }]);
  recovery.tell();
  await clock.advance(799);
  expect(client.requests).toHaveLength(1);
  await clock.advance(1);
  expect(client.requests).toHaveLength(2);
  recovery.tell();
  await clock.advance(19_999);
  expect(client.requests).toHaveLength(2);
  await clock.advance(1);
  expect(client.requests).toHaveLength(3);
});

test("runWatcher() lists by quorum if no watch shows our own write for 30 s: a backup may lack it", async () => {
  const whole = { page: { items: [toNode("a", "7"), toNode("b", "1")], resourceVersion: "920" } };
  const { client, clock, store, told, stop } = startWatcher([
    list("a", "900"),
    watch({ waitMs: 29_000 }, bookmark("910"), { waitMs: 2_000 }, bookmark("911")),
    whole,
  ]);
  await clock.advance(0);
  store.learn(toNode("a", "1000"), undefined);
  await clock.advance(30_000);
  expect([client.requests.length, store.get("a")?.metadata.resourceVersion]).toEqual([2, "1000"]);
  await clock.advance(1_000);
  expect(client.requests.slice(2)).toEqual(["list limit=500", "watch rv=920"]);
  expect(store.get("a")?.metadata.resourceVersion).toBe("7");
  expect(told).toEqual(["+a", "~a", "~a", "+b"]);
  await stop();
});
