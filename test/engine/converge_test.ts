import { expect, test } from "bun:test";
import { ALONE, Fence, LeadershipLostError } from "../../lib/core/fence.ts";
import { type Convergence, Converger, type Plan, type Step } from "../../lib/engine/converge.ts";
import type { ReconcileResult } from "../../lib/engine/workers.ts";
import { ManualClock } from "../support/manual_clock.ts";

interface Task {
  readonly kind: "count";
  readonly desired: number;
}

/** Counts up to what is desired, one step each time. */
class Counter implements Convergence<Task, number> {
  desired = 2;
  count = 0;
  readonly failures: unknown[] = [];
  readonly prepared: number[] = [];
  onObserve = (): void => undefined;
  onApply = async (_signal: AbortSignal): Promise<void> => void (this.count += 1);

  find = (): Task => ({ kind: "count", desired: this.desired });
  prepare = async ({ desired }: Task): Promise<undefined> => void this.prepared.push(desired);
  isSame = (before: Task, after: Task): boolean => before.desired === after.desired;
  observe = async (): Promise<number> => (this.onObserve(), this.count);
  plan = ({ desired }: Task, count: number): Plan<Step> => ({
    steps: count < desired ? [{ summary: `add the ${count + 1}. one` }] : [],
  });
  apply = (_step: Step, _planned: object, signal: AbortSignal): Promise<void> =>
    this.onApply(signal);
  report = async (): Promise<ReconcileResult> => ({ requeueAfterMs: this.count });
  fail = async (error: unknown): Promise<undefined> => void this.failures.push(error);
}

function run(
  work: Counter,
  {
    clock = new ManualClock(),
    fence = new Fence(ALONE),
    signal = new AbortController().signal,
  } = {},
): Promise<unknown> {
  const converger = new Converger({ clock, fence });
  return converger
    .reconcile(work, signal, () => undefined)
    .catch((error: unknown) => (error instanceof Error ? error.message : error));
}

test("Converger applies one step after the other, until a plan has none", async () => {
  expect(await run(new Counter())).toEqual({ requeueAfterMs: 2 });
});

test("Converger begins again if the object changes while it is observed", async () => {
  const work = new Counter();
  work.onObserve = () => void (work.desired = 1);
  expect(await run(work)).toEqual({ requeueAfterMs: 1 });
  expect(work.prepared).toEqual([2, 1, 1]);
});

test("Converger gives up a step that is needed again and again, and says so", async () => {
  const work = new Counter();
  work.onApply = async () => undefined;
  expect(await run(work)).toBe('"add the 1. one" succeeded 3 times and is needed again');
  expect(work.failures).toHaveLength(1);
});

test("Converger applies nothing without leadership, and is silent about that", async () => {
  const work = new Counter();
  expect(await run(work, { fence: new Fence() })).toBe("this process does not lead");
  work.onApply = () => Promise.reject(new LeadershipLostError("lost"));
  expect(await run(work)).toBe("lost");
  expect([work.count, work.failures]).toEqual([0, []]);
});

test("Converger ends a step that takes longer than half an hour", async () => {
  const clock = new ManualClock();
  const work = new Counter();
  work.onApply = (signal) => clock.sleep(Infinity, signal);
  const running = run(work, { clock });
  await clock.advance(1_799_000);
  expect(work.failures).toEqual([]);
  await clock.advance(1_000);
  expect(await running).toBe("The time is up");
});

test("Converger ends between two steps when it is stopped", async () => {
  const work = new Counter();
  const stop = new AbortController();
  work.onApply = async () => {
    work.count += 1;
    stop.abort(new Error("stop"));
  };
  expect(await run(work, { signal: stop.signal })).toBe("stop");
  expect([work.count, work.failures]).toEqual([1, []]);
});
