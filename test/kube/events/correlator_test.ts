import { expect, test } from "bun:test";
import { heapStats } from "bun:jsc";
import { type Correlation, EventCorrelator } from "../../../lib/kube/events/correlator.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";

interface Given {
  readonly object?: string;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly at?: number;
}

let serial = 0;

function toEvent({
  object = "a",
  type = "Warning",
  reason = "R",
  message = "m",
  at = 0,
}: Given): KubeEvent {
  serial += 1;
  const time = new Date(at).toISOString();
  return {
    metadata: { name: `${object}.${serial}`, namespace: "default" },
    involvedObject: { kind: "Node", name: object, uid: `uid-${object}` },
    type,
    reason,
    message,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    source: { component: "test" },
  };
}

/** What became of an event, as `create m`, `patch 2 m` or `drop`. */
function show(correlation: Correlation): string {
  if (correlation.kind === "drop") return "drop";
  const { count, message } = correlation.event;
  return correlation.kind === "create" ? `create ${message}` : `patch ${count} ${message}`;
}

function feed(given: readonly Given[]): string[] {
  const correlator = new EventCorrelator();
  return given.map((one) => show(correlator.correlate(toEvent(one), one.at ?? 0)));
}

/** `count` events, `gapMs` apart so that the spam filter lets all of them pass. */
function many(count: number, build: (at: number) => Given, gapMs = 300_000): Given[] {
  return Array.from({ length: count }, (_, at) => ({ ...build(at), at: at * gapMs }));
}

test("V-01: EventCorrelator counts equal events on the first one's name and time", () => {
  const correlator = new EventCorrelator();
  const first = toEvent({ at: 0 });
  correlator.correlate(first, 0);
  correlator.correlate(toEvent({ at: 1_000 }), 1_000);
  const third = correlator.correlate(toEvent({ at: 2_000 }), 2_000);
  expect(third).toMatchObject({
    kind: "patch",
    patch: { count: 3, lastTimestamp: "1970-01-01T00:00:02.000Z", message: "m" },
    event: {
      metadata: { name: first.metadata.name },
      firstTimestamp: "1970-01-01T00:00:00.000Z",
      lastTimestamp: "1970-01-01T00:00:02.000Z",
      count: 3,
    },
  });
  expect(Object.keys(third.kind === "patch" ? third.patch : {}).sort()).toEqual([
    "count",
    "lastTimestamp",
    "message",
  ]);
});

test.each<[string, Given]>([
  ["object", { object: "b" }],
  ["type", { type: "Normal" }],
  ["reason", { reason: "Other" }],
  ["message", { message: "other" }],
])("EventCorrelator starts a new event for another %s", (_what, other) => {
  expect(feed([{}, other, {}])).toEqual([
    "create m",
    `create ${other.message ?? "m"}`,
    "patch 2 m",
  ]);
});

test("V-02: EventCorrelator combines from the tenth distinct message on", () => {
  const given = Array.from({ length: 12 }, (_, at) => ({ message: `m${at}` }));
  const shown = feed(given);
  expect(shown.slice(0, 9)).toEqual(given.slice(0, 9).map(({ message }) => `create ${message}`));
  expect(shown.slice(9)).toEqual([
    "create (combined from similar events): m9",
    "patch 2 (combined from similar events): m10",
    "patch 3 (combined from similar events): m11",
  ]);
});

test("V-02: EventCorrelator ends a group ten minutes after its last event", () => {
  const messages = Array.from({ length: 11 }, (_, at) => ({ message: `m${at}` }));
  const later = [
    { message: "still", at: 600_000 },
    { message: "going", at: 900_000 },
    { message: "fresh", at: 1_500_001 },
  ];
  expect(feed([...messages, ...later]).slice(-3)).toEqual([
    "patch 3 (combined from similar events): still",
    "patch 4 (combined from similar events): going",
    "create fresh",
  ]);
});

test("EventCorrelator does not take repetitions for distinct messages", () => {
  const shown = feed(many(20, (at) => ({ message: `m${at % 9}` }), 1_000));
  expect(shown.some((one) => one.includes("combined"))).toBe(false);
});

test("V-03: EventCorrelator drops the 26th event on one object, whatever its reason, and no other", () => {
  const burst = many(26, (at) => ({ reason: `R${at}` }), 1);
  expect(feed(burst).map((one) => one === "drop")).toEqual([...Array(25).fill(false), true]);
  expect(feed([...burst, { object: "b" }, { type: "Normal" }]).slice(-2)).toEqual([
    "create m",
    "create m",
  ]);
});

test("V-03: EventCorrelator lets one event pass every five minutes after a burst, with the full count", () => {
  const burst = many(30, () => ({}), 0);
  const later = [{ at: 299_000 }, { at: 300_000 }, { at: 300_001 }];
  expect(feed([...burst, ...later]).slice(-3)).toEqual(["drop", "patch 32 m", "drop"]);
});

test("EventCorrelator remembers 4,096 events, and forgets the longest unused first", () => {
  const correlator = new EventCorrelator();
  const send = (object: string): string => show(correlator.correlate(toEvent({ object }), 0));
  for (let at = 0; at < 4_096; at += 1) send(`n${at}`);
  expect(send("n0")).toBe("patch 2 m");
  send("one-more");
  expect([send("n0"), send("n1")]).toEqual(["patch 3 m", "create m"]);
});

test("EventCorrelator forgets nothing that still has an effect when other objects have Events", () => {
  const others = (at: number): Given[] => [
    { object: "b", at },
    { object: "c", at: at + 1 },
  ];
  const burst = many(26, () => ({}), 0);
  // Six minutes later one token is back, and the group of nine other messages is not forgotten.
  expect(feed([...burst, ...others(360_000), { at: 360_002 }, { at: 360_003 }]).slice(-2)).toEqual([
    "patch 27 m",
    "drop",
  ]);
  const nine = Array.from({ length: 9 }, (_, at) => ({ message: `m${at}` }));
  expect(feed([...nine, ...others(590_000), { message: "tenth", at: 600_000 }]).at(-1)).toBe(
    "create (combined from similar events): tenth",
  );
});

test("EventCorrelator keeps less than a KiB of an Event, whatever its length", () => {
  const kept: EventCorrelator[] = [];
  const measure = (): number => {
    Bun.gc(true);
    return heapStats().heapSize + heapStats().extraMemorySize;
  };
  const before = measure();
  const correlator = new EventCorrelator();
  kept.push(correlator);
  for (let at = 0; at < 4_096; at += 1) {
    correlator.correlate(toEvent({ object: `n${at}`, message: `${at}`.padEnd(1_000, "x") }), 0);
  }
  expect((measure() - before) / 4_096).toBeLessThan(1_024);
  expect(kept).toHaveLength(1);
});
