import { expect, test } from "bun:test";
import { KubeError, type KubeErrorKind } from "../../../lib/kube/api/errors.ts";
import {
  FIRST_STATE,
  listAll,
  RestartBackoff,
  runWatcher,
  SILENCE_MS_MAX,
  toNextStep,
  toWatchSeconds,
  type WatcherOutcome,
  type WatcherState,
} from "../../../lib/kube/cache/watcher.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import { ScriptedKubeClient, type ScriptStep } from "../../support/kube/scripted_kube_client.ts";
import { connect } from "../../support/kube/connect.ts";

const LIST: WatcherState = { ...FIRST_STATE, resourceVersion: "900" };
const WATCH: WatcherState = { ...LIST, phase: "watch" };

function failed(kind: KubeErrorKind, code?: number, reason?: string): WatcherOutcome {
  const error = new KubeError(kind, "scripted", {
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason }),
  });
  return { kind: "failed", events: 0, error };
}

const listed: WatcherOutcome = { kind: "listed", resourceVersion: "950" };

test("toNextStep() watches from the version of a list, at once", () => {
  expect(toNextStep(LIST, listed)).toEqual({
    state: { ...WATCH, resourceVersion: "950" },
    pause: "none",
  });
});

test.each([
  ["410", failed("gone", 410)],
  ["503", failed("unavailable", 503)],
  ["no connection", failed("unavailable")],
  ["403", failed("forbidden", 403)],
  ["429", failed("throttled", 429)],
] as const)("toNextStep() backs off after a list that failed with %s", (_what, outcome) => {
  expect(toNextStep(LIST, outcome)).toMatchObject({ state: LIST, pause: "backoff" });
});

test.each([
  ["410", failed("gone", 410), "list"],
  ["500", failed("unavailable", 500, "InternalError"), "list"],
  ["403", failed("forbidden", 403), "list"],
  ["a bug", { kind: "failed", events: 0, error: new TypeError("bug") }, "list"],
  ["a refused connection", failed("unavailable"), "watch"],
  ["429", failed("throttled", 429), "watch"],
] as const)("toNextStep() after a watch that failed with %s", (...row) => {
  const [, outcome, phase] = row;
  const step = toNextStep(WATCH, outcome);
  expect(step.state.phase).toBe(phase);
  expect(step.state.resourceVersion).toBe("900");
  expect(step.pause).toBe("backoff");
});

test.each([
  ["long and empty", 0, 400_000, "gap", "ended", 0, true],
  ["short with an event", 1, 10, "gap", "ended", 0, true],
  ["short and empty", 0, 999, "backoff", "short", 1, true],
  ["with an event every five seconds", 60, 300_000, "gap", "ended", 0, false],
  ["with fewer events", 59, 300_000, "gap", "ended", 0, true],
  ["in a short piece with many events", 6, 30_000, "gap", "ended", 0, false],
  ["very soon with many events", 5, 20_000, "gap", "ended", 0, true],
] as const)("toNextStep() after a watch that ended: %s", (...row) => {
  const [, events, durationMs, pause, reason, idleRetries, isQuiet] = row;
  const outcome = { kind: "ended", resourceVersion: "950", events, durationMs } as const;
  expect(toNextStep(WATCH, outcome)).toEqual({
    state: { ...WATCH, resourceVersion: "950", idleRetries, isQuiet },
    pause,
    reason,
  });
});

test.each([
  ["at first", FIRST_STATE, [30, 34]],
  ["after a quiet watch", { ...WATCH, isQuiet: true }, [30, 34]],
  ["after one that said something all the time", { ...WATCH, isQuiet: false }, [300, 599]],
] as const)("toWatchSeconds() asks for a short piece when little was said: %s", (...row) => {
  const [, state, seconds] = row;
  expect([0, 0.999].map((random) => toWatchSeconds(state, () => random))).toEqual([...seconds]);
});

test("toWatchSeconds() asks for pieces that end before they would be silent", () => {
  const mostMs = toWatchSeconds(FIRST_STATE, () => 0.999) * 1_000;
  // The server may end it a little late.
  expect(mostMs + 5_000).toBeLessThan(SILENCE_MS_MAX);
});

test("toNextStep() watches on at once after a watch that was silent: that is no failure", () => {
  const outcome = { kind: "silent", resourceVersion: "950" } as const;
  expect(toNextStep({ ...WATCH, idleRetries: 4, isQuiet: false }, outcome)).toEqual({
    state: { ...WATCH, resourceVersion: "950", idleRetries: 0 },
    pause: "gap",
    reason: "silent",
  });
});

test("toNextStep() lists after five watches in a row that brought nothing", () => {
  let state = WATCH;
  const phases: string[] = [];
  for (let retry = 0; retry < 5; retry += 1) {
    state = toNextStep(state, failed("unavailable")).state;
    phases.push(state.phase);
  }
  expect(phases).toEqual(["watch", "watch", "watch", "watch", "list"]);
  expect(state.idleRetries).toBe(0);
});

test("RestartBackoff doubles from 0.8 s to 30 s, and to twice that with jitter", () => {
  const plain = new RestartBackoff(() => 0);
  const jittered = new RestartBackoff(() => 0.5);
  const delays = Array.from({ length: 8 }, () => plain.next(0));
  expect(delays).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  expect(jittered.next(0)).toBe(1_200);
});

test("RestartBackoff starts afresh after two minutes without a failure", () => {
  const backoff = new RestartBackoff(() => 0);
  expect([backoff.next(0), backoff.next(120_000), backoff.next(240_001)]).toEqual([
    800, 1_600, 800,
  ]);
});

test("I-06: what a watch did not tell is known once it is opened again, without a list", async () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const clock = new ManualClock();
  const client = await connect({ master: kubernetes.url }, { clock });
  const nodes = new Store<Node>({ resource: NODES, log: silentLogger });
  const stop = new AbortController();
  const options = { client, resource: NODES, store: nodes, clock, log: silentLogger };
  const running = runWatcher(options, stop.signal);
  const count = (verb: string): number => kubernetes.requests.count({ verb, resource: "nodes" });
  try {
    await until("the server has the watch", () => count("watch") === 1);
    kubernetes.objects.createNode({ metadata: { name: "before" } });
    // Time that goes on before the head of its answer has come ends a watch.
    await until("the client has it, too", () => nodes.get("before"));
    kubernetes.faults.silentWatches = true;
    kubernetes.objects.createNode({ metadata: { name: "in-silence" } });
    kubernetes.objects.deleteNode("before");
    kubernetes.faults.silentWatches = false;
    await clock.advance(SILENCE_MS_MAX - 1);
    expect([count("watch"), ...nodes.keys()]).toEqual([1, "before"]);
    await clock.advance(1);
    await until("the watch tells", () => nodes.get("in-silence") && !nodes.get("before"));
    expect([count("list"), count("watch")]).toEqual([1, 2]);
    await until("the silent watch has no end left", () => kubernetes.openWatches === 1);
  } finally {
    stop.abort();
    await running;
    client.close();
    await kubernetes.stop();
  }
});

const signal = new AbortController().signal;
const query = { limit: 2 };

function toPage(names: string, resourceVersion: string, next?: string): ScriptStep {
  const items: KubeObject[] = [...names].map((name) => ({ metadata: { name } }));
  return { page: { items, resourceVersion, ...(next !== undefined && { continue: next }) } };
}

function setUp(...script: ScriptStep[]): ScriptedKubeClient {
  return new ScriptedKubeClient(new ManualClock(), script);
}

async function list(client: ScriptedKubeClient): Promise<[string, string]> {
  const { items, resourceVersion } = await listAll(client, NODES, query, signal);
  return [items.map(({ metadata }) => metadata.name).join(""), resourceVersion];
}

test("listAll() of one page asks once", async () => {
  const client = setUp(toPage("ab", "9"));
  expect(await list(client)).toEqual(["ab", "9"]);
  expect(client.requests).toEqual(["list limit=2"]);
});

test("I-05: listAll() follows the pages, and keeps the version of the first", async () => {
  const client = setUp(toPage("ab", "9", "t1"), toPage("cd", "9", "t2"), toPage("e", "10"));
  expect(await list(client)).toEqual(["abcde", "9"]);
  expect(client.requests).toEqual([
    "list limit=2",
    "list limit=2 continue=t1",
    "list limit=2 continue=t2",
  ]);
});

test("I-05: listAll() starts again in one piece when a continue token has expired", async () => {
  const gone = { fail: new KubeError("gone", "expired", { code: 410 }) };
  const client = setUp(toPage("ab", "9", "t1"), gone, toPage("abcd", "12"));
  expect(await list(client)).toEqual(["abcd", "12"]);
  expect(client.requests.at(-1)).toBe("list");
});

test("listAll() takes no part for the whole", async () => {
  const gone = { fail: new KubeError("gone", "expired", { code: 410 }) };
  const client = setUp(toPage("ab", "9", "t1"), gone, toPage("ab", "12", "t2"));
  await expect(list(client)).rejects.toThrow("is only a part of it");
});

test("listAll() passes on a 410 of the first page, and any other failure of a later one", async () => {
  const gone = { fail: new KubeError("gone", "compacted", { code: 410 }) };
  await expect(list(setUp(gone))).rejects.toThrow("compacted");
  const denied = { fail: new KubeError("forbidden", "denied", { code: 403 }) };
  await expect(list(setUp(toPage("a", "9", "t"), denied))).rejects.toThrow("denied");
});

test("listAll() refuses pages that never end", async () => {
  const client = setUp(...Array.from({ length: 2_000 }, (_one, at) => toPage("a", "9", `p${at}`)));
  await expect(list(client)).rejects.toThrow("more than 2000 pages");
});

test("listAll() refuses pages that go round in a circle", async () => {
  const pages = ["same", "other", "same", "other"].map((next) => toPage("a", "9", next));
  const client = setUp(...pages);
  await expect(list(client)).rejects.toThrow("a page leads back to an earlier one");
  expect(client.requests).toHaveLength(3);
});
