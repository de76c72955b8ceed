import { expect, test } from "bun:test";
import { AssertionError } from "../../lib/core/errors.ts";
import { LeadershipLostError } from "../../lib/core/fence.ts";
import { createLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { createLoopMetrics, type LoopMetrics, WorkQueue } from "../../lib/engine/work_queue.ts";
import { toLastReconcile, Workers, type WorkersOptions } from "../../lib/engine/workers.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";
import { untilAborted } from "../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../support/manual_clock.ts";

interface SetUp {
  readonly clock: ManualClock;
  readonly queue: WorkQueue;
  readonly workers: Workers;
  readonly metrics: LoopMetrics;
  readonly lines: string[];
  /** The reconciles that began, as `key@ms`. */
  readonly begun: string[];
  /** @param reason @default an orderly stop */
  stop(reason?: Error): Promise<void>;
  readonly running: Promise<void>;
}

function start(reconcile: WorkersOptions["reconcile"], over: Partial<WorkersOptions> = {}): SetUp {
  const clock = new ManualClock(0);
  const metrics = createLoopMetrics(new MetricsRegistry());
  const queue = new WorkQueue({ name: "test", clock, metrics, random: () => 0 });
  const lines: string[] = [];
  const write = (line: string): void =>
    void lines.push(line.slice("1970-01-01T00:00:00.000Z ".length));
  const log = createLogger({ format: "text", now: () => 0, write });
  const begun: string[] = [];
  const workers = new Workers({
    name: "test",
    noun: "node",
    queue,
    workers: 2,
    clock,
    log,
    metrics,
    ...over,
    reconcile: (key, signal, detach) => {
      begun.push(`${key}@${clock.monotonic()}`);
      return reconcile(key, signal, detach);
    },
  });
  const stopper = new AbortController();
  const running = workers.run(stopper.signal);
  const stop = (reason = new Error("the process stops")): Promise<void> => {
    stopper.abort(reason);
    return running;
  };
  return { clock, queue, workers, metrics, lines, begun, stop, running };
}

/** A promise and what ends it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test("Workers runs each key once and remembers that it went well", async () => {
  const { clock, queue, workers, metrics, lines, begun, stop } = start(async () => {});
  queue.add("a");
  queue.add("b");
  await clock.advance(5_000);
  expect(begun).toEqual(["a@0", "b@0"]);
  expect(workers.outcomes.get("a")).toEqual({ at: 0, outcome: "ok" });
  expect(metrics.reconciles.value({ controller: "test", outcome: "ok" })).toBe(2);
  expect(lines).toEqual([]);
  await stop();
  expect(clock.pending).toBe(0);
});

test("Workers comes back after the time that a reconcile asked for", async () => {
  const reconcile = async (): Promise<{ requeueAfterMs: number }> => ({ requeueAfterMs: 10_000 });
  const { clock, queue, workers, begun, stop } = start(reconcile);
  queue.add("a");
  await clock.advance(25_000);
  expect(begun).toEqual(["a@0", "a@10000", "a@20000"]);
  expect(workers.outcomes.get("a")).toEqual({ at: 20_000, outcome: "ok", nextAt: 30_000 });
  await stop();
});

test("N-21: Workers retries ever later, and a success starts afresh", async () => {
  let broken = true;
  const { clock, queue, workers, lines, begun, stop } = start(async () => {
    if (broken) throw new Error("no cloud");
  });
  queue.add("a");
  await clock.advance(8_000);
  expect(begun).toEqual(["a@0", "a@1000", "a@3000", "a@7000"]);
  expect(workers.outcomes.get("a")).toEqual({
    at: 7_000,
    outcome: "error",
    error: "no cloud",
    nextAt: 15_000,
  });
  expect(lines.length).toBe(4);
  expect(lines[3]).toBe(
    'WARN  Reconcile failed controller=test node=a failures=4 retryIn=8s error="no cloud"\n',
  );
  broken = false;
  await clock.advance(10_000);
  expect(queue.failures("a")).toBe(0);
  broken = true;
  queue.add("a");
  await clock.advance(1_000);
  expect(begun.slice(4)).toEqual(["a@15000", "a@18000", "a@19000"]);
  await stop();
});

test("N-22: one failing key holds up no other", async () => {
  const done: string[] = [];
  const { clock, queue, stop } = start(async (key) => {
    if (key === "bad") throw new Error("no cloud");
    done.push(key);
  });
  for (const key of ["bad", "a", "b", "c"]) queue.add(key);
  await clock.advance(0);
  expect(done).toEqual(["a", "b", "c"]);
  await stop();
});

test("N-22: a hung reconcile is ended by its deadline, and others go on meanwhile", async () => {
  const { clock, queue, workers, metrics, lines, begun, stop } = start((key, signal) =>
    key === "hung" ? untilAborted(signal) : Promise.resolve(),
  );
  queue.add("hung");
  queue.add("a");
  await clock.advance(59_999);
  queue.add("b");
  await clock.advance(0);
  expect(begun).toEqual(["hung@0", "a@0", "b@59999"]);
  await clock.advance(1);
  expect(workers.outcomes.get("hung")).toEqual({
    at: 60_000,
    outcome: "timeout",
    error: "no end within 60 s",
    nextAt: 61_000,
  });
  expect(lines[0]).toStartWith("WARN  Reconcile timed out");
  await clock.advance(1_000);
  expect(begun.at(-1)).toBe("hung@61000");
  expect(metrics.reconciles.value({ controller: "test", outcome: "timeout" })).toBe(1);
  const stopped = stop();
  await clock.advance(2_500);
  await stopped;
});

test("N-22: a reconcile that ignores its signal loses its worker a second after the deadline", async () => {
  const hang = (): Promise<never> => new Promise(() => {});
  const { clock, queue, lines, begun, stop } = start(
    (key) => (key === "hung" ? hang() : Promise.resolve()),
    { workers: 1 },
  );
  queue.add("hung");
  queue.add("a");
  await clock.advance(60_999);
  expect(begun).toEqual(["hung@0"]);
  await clock.advance(1);
  expect(begun).toEqual(["hung@0", "a@61000"]);
  expect(lines[0]).toStartWith("ERROR Reconcile ignores its signal; abandoning it");
  await stop();
});

test("Workers takes a pending reconcile for neither a success nor a failure", async () => {
  let isPending = false;
  const { clock, queue, workers, metrics, stop } = start(() =>
    isPending ? Promise.resolve({ isPending }) : Promise.reject(new Error("not there")),
  );
  queue.add("a");
  await clock.advance(1_000);
  expect(queue.failures("a")).toBe(2);
  isPending = true;
  await clock.advance(2_000);
  expect(queue.failures("a")).toBe(2);
  expect(workers.outcomes.get("a")).toEqual({ at: 1_000, outcome: "error", error: "not there" });
  expect(metrics.reconciles.value({ controller: "test", outcome: "ok" })).toBe(0);
  isPending = false;
  queue.add("a");
  await clock.advance(0);
  expect(queue.remainingMs("a")).toBe(4_000);
  await stop();
});

test("Workers comes back to a pending reconcile when it asked for that", async () => {
  const times: number[] = [];
  const { clock, queue, stop } = start(async () => {
    times.push(clock.monotonic());
    return { isPending: true, requeueAfterMs: 5_000 };
  });
  queue.add("a");
  await clock.advance(11_000);
  expect(times).toEqual([0, 5_000, 10_000]);
  await stop();
});

test.each([
  ["conflict", new KubeError("conflict", "stale", { code: 409 }), "conflict", 1_000, undefined],
  [
    "any other refusal",
    new KubeError("forbidden", "denied"),
    "error",
    1_000,
    "WARN  Reconcile failed",
  ],
  ["bug", new TypeError("x is undefined"), "error", 1_000, "WARN  Reconcile failed"],
  [
    "pause that was asked for",
    new KubeError("throttled", "busy", { retryAfterMs: 42_000 }),
    "throttled",
    42_000,
    "INFO  Reconcile was throttled",
  ],
  ["throttling without a pause", new KubeError("throttled", "busy"), "error", 1_000, "WARN"],
] as const)("Workers after a %s", async (_what, error, outcome, nextAt, line) => {
  const { clock, queue, workers, lines, stop } = start(async () => {
    throw error;
  });
  queue.add("a");
  await clock.advance(0);
  expect(workers.outcomes.get("a")).toEqual({
    at: 0,
    outcome,
    error: error.message,
    nextAt,
  });
  if (line === undefined) expect(lines).toEqual([]);
  else expect(lines[0]).toStartWith(line);
  expect(queue.failures("a")).toBe(outcome === "throttled" ? 0 : 1);
  await stop();
});

test("Workers is done with a key that Kubernetes does not know", async () => {
  const { clock, queue, workers, lines, begun, stop } = start(async () => {
    throw new KubeError("notFound", "no such Node", { code: 404 });
  });
  queue.add("a");
  await clock.advance(600_000);
  expect(begun).toEqual(["a@0"]);
  expect(lines).toEqual([]);
  expect(workers.outcomes.size).toBe(0);
  await stop();
});

test("Workers tries again, and warns, while the object exists and something else is missing", async () => {
  const objects = new Set(["a"]);
  const fail = async () => {
    throw new KubeError("notFound", 'namespaces "nosuch" not found', { code: 404 });
  };
  const over = { exists: (key: string) => objects.has(key) };
  const { clock, queue, workers, metrics, lines, begun, stop } = start(fail, over);
  queue.add("a");
  await clock.advance(0);
  // The watch may only be late.
  expect(lines).toEqual([]);
  expect(workers.outcomes.get("a")).toMatchObject({ outcome: "notFound", nextAt: 1_000 });
  await clock.advance(3_000);
  expect(begun).toEqual(["a@0", "a@1000", "a@3000"]);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toStartWith("WARN  Reconcile failed ");
  expect(lines[0]).toContain('namespaces \\"nosuch\\" not found');
  expect(workers.outcomes.get("a")?.outcome).toBe("error");
  expect(metrics.reconciles.value({ controller: "test", outcome: "error" })).toBe(2);
  objects.delete("a");
  await clock.advance(600_000);
  expect(begun).toEqual(["a@0", "a@1000", "a@3000", "a@7000"]);
  expect(workers.outcomes.size).toBe(0);
  await stop();
});

test("Workers remembers failures alone when successes are no news", async () => {
  let isBroken = true;
  const reconcile = async () => {
    if (isBroken) throw new Error("broken");
    return { requeueAfterMs: 60_000 };
  };
  const { clock, queue, workers, begun, stop } = start(reconcile, { forgetsSuccesses: true });
  queue.add("a");
  await clock.advance(0);
  expect(workers.outcomes.get("a")?.error).toBe("broken");
  isBroken = false;
  await clock.advance(1_000);
  expect(workers.outcomes.size).toBe(0);
  await clock.advance(60_000);
  expect(begun).toEqual(["a@0", "a@1000", "a@61000"]);
  await stop();
});

test("Workers forgets keys whose object is gone", async () => {
  const present = new Set(["a", "b"]);
  const { clock, queue, workers, stop } = start(async () => {}, {
    exists: (key) => present.has(key),
  });
  queue.add("a");
  queue.add("b");
  await clock.advance(0);
  expect([...workers.outcomes.keys()]).toEqual(["a", "b"]);
  present.delete("a");
  queue.add("a");
  await clock.advance(0);
  expect([...workers.outcomes.keys()]).toEqual(["b"]);
  await stop();
});

/** Reconciles that take as long as their key says, `b 60000`, and hold the only worker for ten seconds. */
function startSlow(end: () => void = () => undefined): SetUp {
  const setUp: SetUp = start(
    async (key, signal, detach) => {
      if (key.startsWith("!")) detach();
      await setUp.clock.sleep(Number(key.split(" ")[1]), signal);
      end();
    },
    { workers: 1, sliceMs: 10_000 },
  );
  return setUp;
}

test.each([
  ["after its slice", "slow 60000", 10_000],
  ["when it is about to wait for others", "! 60000", 0],
])("Workers lets a long reconcile go on without a worker %s", async (_when, key, ms) => {
  const { clock, queue, workers, begun, stop } = startSlow();
  queue.add(key);
  queue.add("b 0");
  await clock.advance(ms);
  expect(begun).toEqual([`${key}@0`, `b 0@${ms}`]);
  queue.add(key);
  await clock.advance(59_999 - ms);
  expect(begun).toHaveLength(2);
  await clock.advance(1);
  expect(workers.outcomes.get(key)?.outcome).toBe("ok");
  // What changed meanwhile is seen by the next one.
  expect(begun.at(-1)).toBe(`${key}@60000`);
  await clock.advance(60_000);
  await stop();
  expect(clock.pending).toBe(0);
});

test("Workers counts the failure of a reconcile without a worker", async () => {
  const { clock, queue, workers, begun, stop } = startSlow(() => {
    throw new Error("late");
  });
  queue.add("a 60000");
  await clock.advance(60_000);
  expect(workers.outcomes.get("a 60000")).toMatchObject({ error: "late", nextAt: 61_000 });
  await clock.advance(1_000);
  expect(begun.at(-1)).toBe("a 60000@61000");
  await clock.advance(60_000);
  await stop();
});

test.each([
  ["after the grace at a stop", new Error("stop"), 2_500],
  ["at once without leadership", new LeadershipLostError("lost"), 0],
])("run() ends a reconcile without a worker %s", async (_when, reason, ms) => {
  const { clock, queue, stop } = startSlow();
  queue.add("a 60000");
  await clock.advance(20_000);
  let isEnded = false;
  const stopped = stop(reason).then(() => (isEnded = true));
  if (ms > 0) {
    await clock.advance(ms - 1);
    expect(isEnded).toBe(false);
    await clock.advance(1);
  }
  await stopped;
  expect(clock.pending).toBe(0);
});

test("run() waits no longer than a second for a reconcile without a worker that ignores its signal", async () => {
  const { clock, queue, stop } = start(() => new Promise(() => undefined), { sliceMs: 10_000 });
  queue.add("a");
  await clock.advance(20_000);
  const stopped = stop(new LeadershipLostError("lost"));
  await clock.advance(1_000);
  await stopped;
});

test("run() rejects with a broken invariant of a reconcile without a worker", async () => {
  const { clock, queue, running } = startSlow(() => {
    throw new AssertionError("broken");
  });
  const failure = running.catch((error: unknown) => error);
  queue.add("a 60000");
  await clock.advance(60_000);
  expect(await failure).toBeInstanceOf(AssertionError);
});

test("run() takes nothing new after the stop and lets what runs finish", async () => {
  const { opened, open } = gate();
  const { clock, queue, workers, begun, stop } = start(() => opened, { workers: 1 });
  queue.add("a");
  queue.add("b");
  await clock.advance(0);
  let ended = false;
  const stopped = stop().then(() => (ended = true));
  await clock.advance(2_000);
  expect(ended).toBe(false);
  open();
  await stopped;
  expect(begun).toEqual(["a@0"]);
  expect(workers.outcomes.get("a")?.outcome).toBe("ok");
  queue.add("c");
  expect(queue.size).toBe(1);
  expect(clock.pending).toBe(0);
});

test("run() does not begin with a key that comes at the moment of the stop", async () => {
  const { clock, queue, begun, stop } = start(async () => {});
  await clock.advance(0);
  queue.add("a");
  await stop();
  expect(begun).toEqual([]);
});

test("run() aborts what still runs after the grace, without a word about it", async () => {
  let reason: unknown;
  const { clock, queue, workers, lines, stop } = start((_key, signal) =>
    untilAborted(signal).catch((error: unknown) => {
      reason = error;
      throw error;
    }),
  );
  queue.add("a");
  await clock.advance(0);
  const stopped = stop();
  await clock.advance(2_499);
  expect(reason).toBeUndefined();
  await clock.advance(1);
  await stopped;
  expect(reason).toEqual(new Error("the process stops"));
  expect(lines).toEqual([]);
  expect(workers.outcomes.size).toBe(0);
  expect(clock.pending).toBe(0);
});

test("run() aborts what runs at once when leadership is lost, without a grace", async () => {
  let reason: unknown;
  const { clock, queue, lines, begun, stop } = start(
    (_key, signal) =>
      untilAborted(signal).catch((error: unknown) => {
        reason = error;
        throw error;
      }),
    { workers: 1 },
  );
  queue.add("a");
  queue.add("b");
  await clock.advance(0);
  const lost = new LeadershipLostError("lost");
  const stopped = stop(lost);
  // In the very same turn: nothing that is awaited may go on first.
  await Promise.resolve();
  expect(reason).toBe(lost);
  await stopped;
  expect(begun).toEqual(["a@0"]);
  expect(lines).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("run() rejects with a broken invariant, after the others have finished", async () => {
  const { opened, open } = gate();
  const { clock, queue, running } = start((key) =>
    key === "bug" ? Promise.reject(new AssertionError("broken")) : opened,
  );
  const failure = running.catch((error: unknown) => error);
  queue.add("a");
  queue.add("bug");
  await clock.advance(0);
  queue.add("late");
  open();
  expect(await failure).toBeInstanceOf(AssertionError);
  expect(queue.size).toBe(1);
});

test("toLastReconcile() says when it ended, and how", () => {
  const at = Date.parse("2026-03-01T12:00:00Z");
  const time = "2026-03-01T12:00:00.000Z";
  expect(toLastReconcile({ at, outcome: "ok", nextAt: at + 1 })).toEqual({
    at: time,
    outcome: "ok",
  });
  expect(toLastReconcile({ at, outcome: "error", error: "no" })).toEqual({
    at: time,
    outcome: "error",
    error: "no",
  });
  expect(toLastReconcile(undefined)).toBeNull();
});
