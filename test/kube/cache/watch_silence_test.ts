import { expect, test } from "bun:test";
import { isTimeout, systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { Recovery } from "../../../lib/kube/api/recovery.ts";
import { NODES, type Node } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import {
  DOUBT_MS_MIN,
  SILENCE_MS_MAX,
  WatchSilence,
} from "../../../lib/kube/cache/watch_silence.ts";
import { runWatcher } from "../../../lib/kube/cache/watcher.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";

function start(): {
  clock: ManualClock;
  recovery: Recovery;
  silence: WatchSilence;
  stop: AbortController;
} {
  const clock = new ManualClock();
  const recovery = new Recovery();
  const stop = new AbortController();
  return { clock, recovery, silence: new WatchSilence({ clock, recovery }, stop.signal), stop };
}

test("WatchSilence ends a watch that says nothing, and not sooner", async () => {
  const { clock, silence } = start();
  await clock.advance(SILENCE_MS_MAX - 1);
  expect(silence.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(silence.signal.aborted).toBe(true);
  expect(silence.isOver).toBe(true);
  expect(isTimeout(silence.signal.reason)).toBe(true);
  expect(clock.pending).toBe(0);
});

test.each([
  ["is given up", "reconnected", DOUBT_MS_MIN, true],
  ["goes on when it was heard lately", "reconnected", DOUBT_MS_MIN - 1, false],
  ["goes on when the server just answers", "answers", DOUBT_MS_MIN, false],
] as const)(
  "WatchSilence, when another connection turns out to be silent: the watch %s",
  async (_what, news, quietMs, isOver) => {
    const { clock, recovery, silence } = start();
    await clock.advance(1_000);
    silence.break();
    await clock.advance(quietMs);
    recovery.tell(news);
    expect(silence.isOver).toBe(isOver);
    expect(isTimeout(silence.signal.reason)).toBe(isOver);
    silence.end();
    expect(clock.pending).toBe(0);
  },
);

test("WatchSilence counts from the last word, with one timer however much is said", async () => {
  const { clock, silence } = start();
  const sleep = clock.sleep.bind(clock);
  let sleeps = 0;
  clock.sleep = (...args) => {
    sleeps += 1;
    return sleep(...args);
  };
  const times = (SILENCE_MS_MAX * 0.75) / 100;
  for (let said = 0; said < times; said += 1) {
    await clock.advance(100);
    for (let more = 0; more < 10; more += 1) silence.break();
  }
  await clock.advance(SILENCE_MS_MAX - 1);
  expect(silence.isOver).toBe(false);
  expect(clock.pending).toBe(1);
  // Once when the first sleep ended.
  expect(sleeps).toBe(1);
  await clock.advance(1);
  expect(silence.isOver).toBe(true);
});

test.each([
  ["end() is called", ({ silence }: ReturnType<typeof start>) => silence.end()],
  ["the signal aborts", ({ stop }: ReturnType<typeof start>) => stop.abort()],
])("WatchSilence leaves no timer when %s, and ends nothing", async (_what, act) => {
  const parts = start();
  act(parts);
  expect(parts.clock.pending).toBe(0);
  await parts.clock.advance(SILENCE_MS_MAX);
  parts.silence.end();
  parts.recovery.tell("reconnected");
  expect(parts.silence.isOver).toBe(false);
  expect(parts.silence.signal.aborted).toBe(parts.stop.signal.aborted);
});

test("I-06: what a watch did not tell is known once it is opened again, without a list", async () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const credentials = await loadCredentials({
    master: kubernetes.url,
    env: {},
    clock: systemClock,
  });
  const clock = new ManualClock();
  const client = createKubeClient({
    credentials,
    clock,
    metrics: new MetricsRegistry(),
    version: "0",
  });
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
