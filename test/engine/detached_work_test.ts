import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { LeadershipLostError } from "../../lib/core/fence.ts";
import { type DetachedRun, DetachedWork } from "../../lib/engine/detached_work.ts";
import type { ReconcileResult } from "../../lib/engine/workers.ts";
import { ManualClock } from "../support/manual_clock.ts";

const { signal } = new AbortController();

function toStage(): {
  readonly clock: ManualClock;
  readonly work: DetachedWork;
  readonly queued: string[];
} {
  const clock = new ManualClock();
  const queued: string[] = [];
  const enqueue = (key: string): number => queued.push(key);
  return {
    clock,
    queued,
    work: new DetachedWork({ clock, sliceMs: 10_000, graceMs: 2_500, enqueue }),
  };
}

/** Work that takes so long, and then fails if there is an error. */
function toJob(clock: ManualClock, ms: number, error?: Error) {
  return async (run: DetachedRun): Promise<ReconcileResult> => {
    await clock.sleep(ms, run.signal);
    if (error) throw error;
    return { requeueAfterMs: 7 };
  };
}

describe("DetachedWork", () => {
  test("is an ordinary reconcile within its slice", async () => {
    const { clock, work, queued } = toStage();
    const done = work.run("a", toJob(clock, 9_000), signal);
    await clock.advance(9_000);
    expect(await done).toEqual({ requeueAfterMs: 7 });
    const failed = work.run("a", toJob(clock, 1_000, new Error("no")), signal);
    failed.catch(() => undefined);
    await clock.advance(1_000);
    expect(failed).rejects.toThrow("no");
    expect([queued, clock.pending]).toEqual([[], 0]);
  });

  test("frees the worker after the slice, and adds the key when the work ends", async () => {
    const { clock, work, queued } = toStage();
    const slow = work.run("a", toJob(clock, 60_000), signal);
    await clock.advance(10_000);
    expect(await slow).toEqual({ isPending: true });
    expect(work.isRunning("a")).toBe(true);
    await clock.advance(49_000);
    expect(queued).toEqual([]);
    await clock.advance(1_000);
    expect([queued, work.isRunning("a")]).toEqual([["a"], false]);
    const next = work.run("a", toJob(clock, 0), signal);
    expect(await next).toEqual({ requeueAfterMs: 7 });
  });

  test("keeps nothing of work that ended well, also if its key never comes back", async () => {
    const { clock, work, queued } = toStage();
    const count = (): number => {
      Bun.gc(true);
      return heapStats().objectTypeCounts["AbortController"] ?? 0;
    };
    const before = count();
    for (let at = 0; at < 200; at += 1) {
      void work.run(`a${at}`, toJob(clock, 11_000), signal);
    }
    await clock.advance(11_000);
    expect(queued).toHaveLength(200);
    expect(count() - before).toBeLessThan(50);
    expect(work.isRunning("a0")).toBe(false);
  });

  test("frees the worker at once when the work is about to wait for others", async () => {
    const { clock, work } = toStage();
    const job = toJob(clock, 60_000);
    const waiting = work.run("a", (run) => (run.detach(), job(run)), signal);
    expect(await waiting).toEqual({ isPending: true });
  });

  test("never does two works on one key at once", async () => {
    const { clock, work } = toStage();
    let starts = 0;
    const job = toJob(clock, 60_000);
    const count = (run: DetachedRun): Promise<ReconcileResult> => {
      starts += 1;
      return job(run);
    };
    const first = work.run("a", count, signal);
    await clock.advance(10_000);
    await first;
    expect(await work.run("a", count, signal)).toEqual({ isPending: true });
    expect(starts).toBe(1);
  });

  test("throws a late failure in the next reconcile, once, and tries a changed key at once", async () => {
    const { clock, work, queued } = toStage();
    const slow = work.run("a", toJob(clock, 60_000, new Error("late")), signal);
    await clock.advance(10_000);
    await slow;
    await work.run("a", toJob(clock, 0), signal);
    await clock.advance(50_000);
    expect(queued).toEqual(["a"]);
    expect(work.run("a", toJob(clock, 0), signal)).rejects.toThrow("late");
    expect(queued).toEqual(["a", "a"]);
    expect(await work.run("a", toJob(clock, 0), signal)).toEqual({ requeueAfterMs: 7 });
  });

  test("obeys the signal of its reconcile before it is detached, and not after that", async () => {
    const { clock, work } = toStage();
    const early = new AbortController();
    const obedient = work.run("a", toJob(clock, 60_000), early.signal);
    obedient.catch(() => undefined);
    early.abort(new Error("stop"));
    expect(obedient).rejects.toThrow("stop");
    const late = new AbortController();
    const detached = work.run("b", toJob(clock, 60_000), late.signal);
    await clock.advance(10_000);
    await detached;
    late.abort(new Error("stop"));
    await clock.advance(0);
    expect(work.isRunning("b")).toBe(true);
  });

  test.each([
    ["after the grace at a stop", new Error("stop"), 2_500],
    ["at once without leadership", new LeadershipLostError("lost"), 0],
  ])("ends detached work %s", async (_what, reason, ms) => {
    const { clock, work, queued } = toStage();
    const stop = new AbortController();
    const slow = work.run("a", toJob(clock, 60_000), signal);
    await clock.advance(10_000);
    await slow;
    const state = { isEnded: false };
    const follow = async (): Promise<void> => {
      await work.follow(stop.signal);
      state.isEnded = true;
    };
    const following = follow();
    stop.abort(reason);
    if (ms > 0) {
      await clock.advance(ms - 1);
      expect([state.isEnded, work.isRunning("a")]).toEqual([false, true]);
      await clock.advance(1);
    }
    await clock.advance(0);
    expect([state.isEnded, work.isRunning("a"), queued]).toEqual([true, false, []]);
    await following;
    expect(clock.pending).toBe(0);
  });

  test("waits no longer than a second for work that ignores its signal", async () => {
    const { clock, work } = toStage();
    const stop = new AbortController();
    const deaf = work.run("a", (run) => (run.detach(), new Promise(() => undefined)), signal);
    await deaf;
    stop.abort(new LeadershipLostError("lost"));
    const following = work.follow(stop.signal);
    await clock.advance(1_000);
    await following;
  });
});
