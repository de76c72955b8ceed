import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { AssertionError } from "../../lib/core/errors.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { createLoopMetrics, WorkQueue } from "../../lib/engine/work_queue.ts";
import { ManualClock, settle } from "../support/manual_clock.ts";
import { tries } from "../support/extent.ts";

const never = new AbortController().signal;

function setUp(random = 0): { queue: WorkQueue; clock: ManualClock } {
  const clock = new ManualClock();
  const metrics = createLoopMetrics(new MetricsRegistry());
  return { clock, queue: new WorkQueue({ name: "test", clock, metrics, random: () => random }) };
}

/** Takes every key that waits now. */
async function drain(queue: WorkQueue): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = [];
  while (queue.size > 0) keys.push(await queue.get(never));
  return keys;
}

test("I-08: WorkQueue hands keys out first in first out, and equal keys once", async () => {
  const { queue } = setUp();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  expect(await drain(queue)).toEqual(["a", "b", "c"]);
});

test("I-08: WorkQueue.add() of a key that is worked on hands it out again only after done()", async () => {
  const { queue } = setUp();
  queue.add("a");
  await queue.get(never);
  queue.add("a");
  queue.add("a");
  expect(queue.size).toBe(0);
  queue.done("a");
  expect(await drain(queue)).toEqual(["a"]);
  queue.done("a");
  expect(queue.size).toBe(0);
});

test("WorkQueue.get() waits, and gives each key to one worker in the order they asked", async () => {
  const { queue } = setUp();
  const first = queue.get(never);
  const second = queue.get(never);
  queue.add("a");
  queue.add("b");
  expect(await Promise.all([first, second])).toEqual(["a", "b"]);
});

test("WorkQueue.get() rejects with the signal's reason and loses no key", async () => {
  const { queue } = setUp();
  const controller = new AbortController();
  const waiting = queue.get(controller.signal);
  controller.abort(new Error("stop"));
  await expect(waiting).rejects.toThrow("stop");
  await expect(queue.get(controller.signal)).rejects.toThrow("stop");
  queue.add("a");
  expect(await queue.get(never)).toBe("a");
});

test("WorkQueue.done() of a key that nobody holds is a bug", () => {
  expect(() => setUp().queue.done("a")).toThrow(AssertionError);
});

test("WorkQueue.addAfter() keeps a key once, with the earlier time", async () => {
  const { queue, clock } = setUp();
  queue.addAfter("a", 5_000);
  queue.addAfter("a", 2_000);
  queue.addAfter("a", 9_000);
  queue.addAfter("b", 1_000);
  expect(queue.remainingMs("a")).toBe(2_000);
  await clock.advance(1_999);
  expect(await drain(queue)).toEqual(["b"]);
  await clock.advance(1);
  expect(await drain(queue)).toEqual(["a"]);
  queue.done("a");
  await clock.advance(60_000);
  expect(queue.size).toBe(0);
  expect(clock.pending).toBe(0);
});

test.each([0, -5, Number.NaN])("WorkQueue.addAfter() of %p ms adds at once", (ms) => {
  const { queue } = setUp();
  queue.addAfter("a", ms);
  expect(queue.size).toBe(1);
});

test("WorkQueue.addAfter() adds keys in the order they are due, not the order they came", async () => {
  const { queue, clock } = setUp();
  queue.addAfter("late", 900);
  queue.addAfter("early", 100);
  await clock.advance(1_000);
  expect(await drain(queue)).toEqual(["early", "late"]);
});

test("N-21: WorkQueue.addRateLimited() doubles from 1 s to 5 min, and forget() starts afresh", async () => {
  const { queue, clock } = setUp();
  const delays: (number | undefined)[] = [];
  for (let failure = 0; failure < 11; failure += 1) {
    queue.addRateLimited("a");
    delays.push(queue.remainingMs("a"));
    await clock.advance(300_000);
    await queue.get(never);
    queue.done("a");
  }
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((s) => s * 1_000));
  expect(queue.failures("a")).toBe(11);
  queue.forget("a");
  queue.addRateLimited("a");
  expect(queue.remainingMs("a")).toBe(1_000);
});

test("WorkQueue.addRateLimited() drops a delay from before the failure", async () => {
  const { queue, clock } = setUp();
  for (let failure = 0; failure < 5; failure += 1) queue.addRateLimited("a");
  queue.add("a");
  await queue.get(never);
  queue.addAfter("a", 5_000);
  queue.addRateLimited("a");
  expect(queue.remainingMs("a")).toBe(32_000);
  queue.done("a");
  await clock.advance(31_000);
  expect(queue.size).toBe(0);
  await clock.advance(1_000);
  expect(queue.size).toBe(1);
});

test("WorkQueue.addRateLimited() counts each key by itself and adds at most a fifth of jitter", () => {
  const { queue } = setUp(1);
  queue.addRateLimited("a");
  queue.forget("b");
  queue.addRateLimited("b");
  expect([queue.remainingMs("a"), queue.remainingMs("b")]).toEqual([1_200, 1_200]);
});

test("N-21: WorkQueue.add() retries at once while a retry is pending, and drops that retry", async () => {
  const { queue, clock } = setUp();
  queue.addRateLimited("a");
  queue.add("a");
  expect(await drain(queue)).toEqual(["a"]);
  queue.done("a");
  expect(queue.remainingMs("a")).toBeUndefined();
  await clock.advance(10_000);
  expect(queue.size).toBe(0);
  expect(queue.failures("a")).toBe(1);
});

test("WorkQueue.shutDown() takes nothing new, hands out what waits, then says so", async () => {
  const { queue, clock } = setUp();
  queue.add("a");
  queue.addAfter("b", 1_000);
  const idle = setUp().queue;
  const waiting = idle.get(never);
  idle.shutDown();
  expect(await waiting).toBeUndefined();
  queue.shutDown();
  queue.add("c");
  queue.addAfter("d", 0);
  queue.addRateLimited("e");
  expect([await queue.get(never), await queue.get(never)]).toEqual(["a", undefined]);
  await clock.advance(600_000);
  expect(queue.size).toBe(0);
  expect(clock.pending).toBe(0);
});

test("WorkQueue.shutDown() still hands out a key that was added while it was worked on", async () => {
  const { queue } = setUp();
  queue.add("a");
  await queue.get(never);
  queue.add("a");
  queue.shutDown();
  queue.done("a");
  expect([await queue.get(never), await queue.get(never)]).toEqual(["a", undefined]);
});

type Operation =
  | { readonly do: "add"; readonly key: string }
  | { readonly do: "addRateLimited"; readonly key: string }
  | { readonly do: "forget"; readonly key: string }
  | { readonly do: "addAfter"; readonly key: string; readonly ms: number }
  | { readonly do: "get" }
  | { readonly do: "done" }
  | { readonly do: "advance"; readonly ms: number };

const keys = fc.constantFrom("a", "b", "c", "d");
const operations: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ do: fc.constantFrom("add", "addRateLimited", "forget"), key: keys }),
  fc.record({
    do: fc.constant("addAfter" as const),
    key: keys,
    ms: fc.integer({ min: 0, max: 99 }),
  }),
  fc.record({ do: fc.constantFrom("get", "get", "done", "done") }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 200 }) }),
);

test("I-08: WorkQueue never gives a key to two workers and never loses an update", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operations, { maxLength: 60 }), async (script) => {
      const { queue, clock } = setUp();
      const held: string[] = [];
      /** Keys with an add, or a delay, that no worker has seen yet. */
      const owed = new Set<string>();
      const take = async (): Promise<void> => {
        const key = await queue.get(never);
        if (key === undefined) throw new Error("the queue is not shut down");
        expect(held).not.toContain(key);
        held.push(key);
        if (queue.remainingMs(key) === undefined) owed.delete(key);
      };
      const release = (): void => {
        const key = held.shift();
        if (key !== undefined) queue.done(key);
      };
      for (const step of script) {
        if (step.do === "advance") await clock.advance(step.ms);
        else if (step.do === "get") await (queue.size > 0 ? take() : settle(0));
        else if (step.do === "done") release();
        else if (step.do === "forget") queue.forget(step.key);
        else {
          if (step.do === "addAfter") queue.addAfter(step.key, step.ms);
          else queue[step.do](step.key);
          owed.add(step.key);
        }
      }
      // Time passes and workers go on: whatever was added is seen, and then there is rest.
      for (let turn = 0; turn < 40; turn += 1) {
        release();
        if (queue.size > 0) await take();
      }
      await clock.advance(400_000);
      while (queue.size > 0 || held.length > 0) {
        if (queue.size > 0) await take();
        release();
      }
      expect([...owed]).toEqual([]);
      expect(clock.pending).toBe(0);
    }),
    tries(150),
  );
});

test("createLoopMetrics() gives metrics that several queues share, told apart by name", async () => {
  const registry = new MetricsRegistry();
  const metrics = createLoopMetrics(registry);
  const clock = new ManualClock();
  const node = new WorkQueue({ name: "node", clock, metrics });
  const service = new WorkQueue({ name: "service", clock, metrics });
  node.add("a");
  node.add("a");
  node.add("b");
  service.add("c");
  expect(metrics.adds.value({ name: "node" })).toBe(2);
  expect(metrics.depth.value({ name: "node" })).toBe(2);
  expect(metrics.depth.value({ name: "service" })).toBe(1);
  await clock.advance(2_000);
  const key = await node.get(new AbortController().signal);
  await clock.advance(5_000);
  node.done(key ?? "");
  node.addAfter("a", 1_000);
  expect(metrics.depth.value({ name: "node" })).toBe(1);
  expect(metrics.retries.value({ name: "node" })).toBe(1);
  const text = registry.render();
  expect(text).toContain('workqueue_queue_duration_seconds_sum{name="node"} 2\n');
  expect(text).toContain('workqueue_work_duration_seconds_sum{name="node"} 5\n');
  expect(text).toContain('workqueue_work_duration_seconds_bucket{le="10",name="node"} 1\n');
});
