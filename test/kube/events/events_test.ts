import { afterEach, expect, test } from "bun:test";
import { createLogger, silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import {
  createEventMetrics,
  EventCorrelator,
  type EventMetrics,
  type EventRecorder,
  EventSender,
} from "../../../lib/kube/events/events.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { heapStats } from "bun:jsc";
import { longTest } from "../../support/long_tests.ts";

const node: KubeObject = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-a", uid: "uid-a", resourceVersion: "7" },
};
const refused = new KubeError("unavailable", "the connection was refused");
const forbidden = new KubeError("forbidden", "events is forbidden", { code: 403 });

interface SetUp {
  readonly clock: ManualClock;
  readonly client: ScriptedKubeClient;
  readonly metrics: EventMetrics;
  readonly sender: EventSender;
  readonly recorder: EventRecorder;
  readonly lines: string[];
  start(): { stop: () => Promise<void> };
}

function setUp(): SetUp {
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock);
  const metrics = createEventMetrics(new MetricsRegistry());
  const lines: string[] = [];
  const log = createLogger({ format: "text", now: () => 0, write: (line) => lines.push(line) });
  const sender = new EventSender({ client, clock, log, metrics, random: () => 0 });
  const recorder = sender.speakAs("cloud-node-controller");
  const start = (): { stop: () => Promise<void> } => {
    const controller = new AbortController();
    const running = sender.run(controller.signal);
    const stop = (): Promise<void> => {
      controller.abort(new Error("stop"));
      return running;
    };
    return { stop };
  };
  return { clock, client, metrics, sender, recorder, lines, start };
}

/** What ends after each test. */
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A sender that delivers. */
function setUpRunning(): SetUp {
  const all = setUp();
  stops.push(all.start().stop);
  return all;
}

function warn(recorder: EventRecorder, message = "it broke", object = node): void {
  recorder.record(object, { type: "Warning", reason: "Broken", message });
}

test("V-04: EventSender writes an event on a Node into default, with the Node's UID", async () => {
  const { clock, client, recorder } = setUpRunning();
  warn(recorder, "it broke\u202e");
  await clock.advance(0);
  expect(client.writes).toEqual([
    {
      verb: "create",
      path: { namespace: "default" },
      atMs: 0,
      body: {
        apiVersion: "v1",
        kind: "Event",
        metadata: {
          name: `node-a.${(BigInt(clock.now()) * 1_000_000n + 1n).toString(16)}`,
          namespace: "default",
        },
        involvedObject: {
          apiVersion: "v1",
          kind: "Node",
          name: "node-a",
          uid: "uid-a",
          resourceVersion: "7",
        },
        type: "Warning",
        reason: "Broken",
        message: "it broke\\u202e",
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        count: 1,
        source: { component: "cloud-node-controller" },
        reportingComponent: "cloud-node-controller",
        reportingInstance: "",
      },
    },
  ]);
});

test("EventSender writes an event on a namespaced object into its namespace", async () => {
  const { clock, client, recorder } = setUpRunning();
  warn(recorder, "m", { kind: "Lease", metadata: { name: "l", namespace: "kube-system" } });
  await clock.advance(0);
  expect(client.writes[0]).toMatchObject({
    path: { namespace: "kube-system" },
    body: { involvedObject: { namespace: "kube-system" } },
  });
});

test("EventSender names an event by a UUID where the object's name is no DNS subdomain", async () => {
  const { clock, client, recorder } = setUpRunning();
  warn(recorder, "m", { kind: "Role", metadata: { name: "system:node", namespace: "n" } });
  warn(recorder, "m", { kind: "Node", metadata: { name: "a".repeat(240) } });
  await clock.advance(0);
  for (const { body } of client.writes) {
    expect(body["metadata"]).toMatchObject({ name: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  }
  expect(client.writes.length).toBe(2);
});

test("EventSender gives events of one moment different names", async () => {
  const { clock, client, recorder } = setUpRunning();
  for (const message of ["a", "b", "c"]) warn(recorder, message);
  await clock.advance(0);
  expect(new Set(client.writes.map(({ body }) => JSON.stringify(body["metadata"]))).size).toBe(3);
});

test("V-01: EventSender raises the count of a repeated event by a strategic patch", async () => {
  const { clock, client, recorder } = setUpRunning();
  warn(recorder);
  await clock.advance(60_000);
  warn(recorder);
  await clock.advance(0);
  const [created, patched] = client.writes;
  expect(patched).toEqual({
    verb: "patch",
    type: "strategic",
    path: { namespace: "default", name: expect.stringMatching(/^node-a\./) },
    body: { count: 2, lastTimestamp: "2026-01-01T00:01:00Z", message: "it broke" },
    atMs: 60_000,
  });
  expect(created?.body["metadata"]).toMatchObject({ name: patched?.path.name });
});

test("V-01: EventSender creates an event again, with its count, when the old one is gone", async () => {
  const { clock, client, recorder } = setUpRunning();
  warn(recorder);
  await clock.advance(5_000);
  client.onWrite = ({ verb, body }) => {
    if (verb === "patch") throw new KubeError("notFound", "gone", { code: 404 });
    return body;
  };
  warn(recorder);
  await clock.advance(0);
  expect(client.writes.map(({ verb }) => verb)).toEqual(["create", "patch", "create"]);
  expect(client.writes[2]?.body).toMatchObject({ count: 2, involvedObject: { uid: "uid-a" } });
  for (const field of ["metadata", "firstTimestamp"]) {
    expect(client.writes[2]?.body[field]).toEqual(client.writes[0]?.body[field]);
  }
});

test("V-03: EventSender writes 25 of 30 events on one object", async () => {
  const { clock, client, metrics, recorder } = setUpRunning();
  for (let at = 0; at < 30; at += 1) warn(recorder);
  await clock.advance(0);
  expect(client.writes.length).toBe(25);
  expect(metrics.events.value({ result: "filtered" })).toBe(5);
});

test("EventSender tries an unanswered write twelve times, ten seconds apart", async () => {
  const { clock, client, metrics, recorder } = setUpRunning();
  client.onWrite = () => {
    throw refused;
  };
  warn(recorder);
  await clock.advance(300_000);
  const times = client.writes.map(({ atMs }) => atMs);
  expect(times).toEqual([0, ...Array.from({ length: 11 }, (_, at) => at * 10_000)]);
  expect(metrics.events.value({ result: "failed" })).toBe(1);
});

test("EventSender takes an event that exists already for sent, if an earlier try had no answer", async () => {
  const { clock, client, metrics, recorder, lines } = setUpRunning();
  client.onWrite = () => {
    if (client.writes.length === 1) throw refused;
    throw new KubeError("alreadyExists", 'events "x" already exists', { code: 409 });
  };
  warn(recorder);
  await clock.advance(300_000);
  expect(client.writes).toHaveLength(2);
  expect(metrics.events.value({ result: "sent" })).toBe(1);
  expect(lines).toEqual([]);
  warn(recorder, "another");
  await clock.advance(0);
  expect(metrics.events.value({ result: "failed" })).toBe(1);
});

test("V-05: EventSender gives up a refused event at once, warns once, and takes the next", async () => {
  const { clock, client, metrics, recorder, lines } = setUpRunning();
  client.onWrite = () => {
    throw forbidden;
  };
  warn(recorder, "one");
  warn(recorder, "two");
  await clock.advance(0);
  expect(client.writes.length).toBe(2);
  expect(lines.length).toBe(1);
  expect(lines[0]).toContain("events is forbidden");
  client.onWrite = ({ body }) => body;
  warn(recorder, "three");
  await clock.advance(0);
  expect(metrics.events.value({ result: "sent" })).toBe(1);
  expect(metrics.events.value({ result: "failed" })).toBe(2);
});

test("V-05: record() returns at once while nobody delivers, and drops what is over 1,000", () => {
  const { metrics, recorder } = setUp();
  for (let at = 0; at < 1_003; at += 1) warn(recorder, `m${at}`);
  expect(metrics.events.value({ result: "dropped" })).toBe(3);
});

test("V-05: a write without an answer holds up no caller", async () => {
  const { clock, client, recorder, start } = setUp();
  client.onWrite = () => new Promise(() => {});
  const { stop } = start();
  warn(recorder, "one");
  await clock.advance(1_000);
  warn(recorder, "two");
  expect(client.writes.length).toBe(1);
  const stopped = stop();
  await clock.advance(2_000);
  await stopped;
});

test("run() writes what is left after the stop, once each", async () => {
  const { clock, client, recorder, start } = setUp();
  client.onWrite = () => {
    throw refused;
  };
  const { stop } = start();
  warn(recorder, "one");
  await clock.advance(15_000);
  expect(client.writes.length).toBe(3);
  warn(recorder, "two");
  await stop();
  expect(client.writes.map(({ body }) => body["message"])).toEqual([
    "one",
    "one",
    "one",
    "one",
    "two",
  ]);
  expect(clock.pending).toBe(0);
});

test("run() ends two seconds after the stop at the latest, and counts what it dropped", async () => {
  const { clock, client, metrics, recorder, start } = setUp();
  client.onWrite = () => new Promise(() => {});
  const { stop } = start();
  for (const message of ["one", "two", "three"]) warn(recorder, message);
  await clock.advance(0);
  let ended = false;
  const stopped = stop().then(() => (ended = true));
  await clock.advance(1_999);
  expect(ended).toBe(false);
  await clock.advance(1);
  await stopped;
  expect(client.writes.length).toBe(1);
  expect(metrics.events.value({ result: "dropped" })).toBe(2);
});

test("run() ends at once when stopped with nothing to do, and when it was stopped before", async () => {
  const { clock, sender, start } = setUp();
  await start().stop();
  await sender.run(AbortSignal.abort());
  expect(clock.pending).toBe(0);
});

test("EventSender names the host where it is told one", async () => {
  const { clock, client } = setUp();
  const sender = new EventSender({ client, host: "h", clock, log: silentLogger });
  const controller = new AbortController();
  const running = sender.run(controller.signal);
  warn(sender.speakAs("c"));
  await clock.advance(0);
  expect(client.writes[0]?.body).toMatchObject({
    source: { component: "c", host: "h" },
    reportingInstance: "h",
  });
  controller.abort();
  await running;
});

interface Given {
  readonly object?: string;
  readonly type?: "Normal" | "Warning";
  readonly reason?: string;
  readonly message?: string;
  /** Milliseconds since the first event. */
  readonly at?: number;
}

/** Takes an event, and says what became of it: `create m`, `patch 2 m` or `drop`. */
function createFeed(): (given: Given) => Promise<string> {
  const { clock, client, recorder } = setUpRunning();
  const startMs = clock.now();
  return async ({ object = "a", type = "Warning", reason = "R", message = "m", at = 0 }) => {
    await clock.advance(Math.max(0, startMs + at - clock.now()));
    const metadata = { name: object, uid: `uid-${object}` };
    recorder.record({ kind: "Node", metadata }, { type, reason, message });
    await clock.advance(0);
    const [write] = client.writes.splice(0);
    if (write === undefined) return "drop";
    const { count, message: written } = write.body as { count: number; message: string };
    return write.verb === "create" ? `create ${written}` : `patch ${count} ${written}`;
  };
}

async function feed(given: readonly Given[]): Promise<string[]> {
  const send = createFeed();
  const shown: string[] = [];
  for (const one of given) shown.push(await send(one));
  return shown;
}

/** `count` events, `gapMs` apart so that the spam filter lets all of them pass. */
function many(count: number, build: (at: number) => Given, gapMs = 300_000): Given[] {
  return Array.from({ length: count }, (_, at) => ({ ...build(at), at: at * gapMs }));
}

test.each<[string, Given]>([
  ["object", { object: "b" }],
  ["type", { type: "Normal" }],
  ["reason", { reason: "Other" }],
  ["message", { message: "other" }],
])("another %s is a new event", async (_what, other) => {
  expect(await feed([{}, other, {}])).toEqual([
    "create m",
    `create ${other.message ?? "m"}`,
    "patch 2 m",
  ]);
});

test("V-02: EventSender combines from the tenth distinct message on", async () => {
  const given = Array.from({ length: 12 }, (_, at) => ({ message: `m${at}` }));
  const shown = await feed(given);
  expect(shown.slice(0, 9)).toEqual(given.slice(0, 9).map(({ message }) => `create ${message}`));
  expect(shown.slice(9)).toEqual([
    "create (combined from similar events): m9",
    "patch 2 (combined from similar events): m10",
    "patch 3 (combined from similar events): m11",
  ]);
});

test("V-02: EventSender ends a group ten minutes after its last event", async () => {
  const messages = Array.from({ length: 11 }, (_, at) => ({ message: `m${at}` }));
  const later = [
    { message: "still", at: 600_000 },
    { message: "going", at: 900_000 },
    { message: "fresh", at: 1_500_001 },
  ];
  expect((await feed([...messages, ...later])).slice(-3)).toEqual([
    "patch 3 (combined from similar events): still",
    "patch 4 (combined from similar events): going",
    "create fresh",
  ]);
});

test("EventSender does not take repetitions for distinct messages", async () => {
  const shown = await feed(many(20, (at) => ({ message: `m${at % 9}` }), 1_000));
  expect(shown.some((one) => one.includes("combined"))).toBe(false);
});

test("V-03: EventSender drops the 26th event on one object, whatever its reason, and no other", async () => {
  const burst = many(26, (at) => ({ reason: `R${at}` }), 1);
  expect((await feed(burst)).map((one) => one === "drop")).toEqual([
    ...Array(25).fill(false),
    true,
  ]);
  expect((await feed([...burst, { object: "b" }, { type: "Normal" }])).slice(-2)).toEqual([
    "create m",
    "create m",
  ]);
});

test("V-03: EventSender lets one event pass every five minutes, with the full count", async () => {
  const burst = many(30, () => ({}), 0);
  const later = [{ at: 299_000 }, { at: 300_000 }, { at: 300_001 }];
  expect((await feed([...burst, ...later])).slice(-3)).toEqual(["drop", "patch 32 m", "drop"]);
});

longTest("EventSender remembers 4,096 events, and forgets the longest unused first", async () => {
  const send = createFeed();
  for (let at = 0; at < 4_096; at += 1) await send({ object: `n${at}` });
  expect(await send({ object: "n0" })).toBe("patch 2 m");
  await send({ object: "one-more" });
  expect([await send({ object: "n0" }), await send({ object: "n1" })]).toEqual([
    "patch 3 m",
    "create m",
  ]);
});

test("EventSender forgets nothing that still has an effect", async () => {
  const others = (at: number): Given[] => [
    { object: "b", at },
    { object: "c", at: at + 1 },
  ];
  const burst = many(26, () => ({}), 0);
  // Six minutes later one token is back, and the group of nine other messages is not forgotten.
  expect(
    (await feed([...burst, ...others(360_000), { at: 360_002 }, { at: 360_003 }])).slice(-2),
  ).toEqual(["patch 27 m", "drop"]);
  const nine = Array.from({ length: 9 }, (_, at) => ({ message: `m${at}` }));
  expect(
    (await feed([...nine, ...others(590_000), { message: "tenth", at: 600_000 }])).at(-1),
  ).toBe("create (combined from similar events): tenth");
});

longTest("EventCorrelator keeps less than a KiB of an Event, whatever its length", () => {
  const measure = (): number => {
    Bun.gc(true);
    return heapStats().heapSize + heapStats().extraMemorySize;
  };
  const before = measure();
  const correlator = new EventCorrelator();
  const { metadata } = node;
  const correlate = (at: number): object | undefined =>
    correlator.correlate(
      { metadata, involvedObject: { name: `n${at}` }, message: `${at}`.padEnd(1_000, "x") },
      0,
    );
  for (let at = 0; at < 4_096; at += 1) correlate(at);
  expect((measure() - before) / 4_096).toBeLessThan(1_024);
  expect(correlate(0)).toHaveProperty("patch");
});
