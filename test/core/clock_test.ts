/**
 * The machine's clock, deadlines, and the clock that tests move.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import {
  abortable,
  isTimeout,
  Sleeper,
  startDeadline,
  systemClock,
  toBackoffMs,
  withDeadline,
} from "../../lib/core/clock.ts";
import { ManualClock } from "../support/manual_clock.ts";

const never = new AbortController().signal;

describe("systemClock", () => {
  test("sleeps at least as long as it is told", async () => {
    const startMs = systemClock.monotonic();
    await systemClock.sleep(20, never);
    // Timers count whole milliseconds, the clock fractions.
    expect(systemClock.monotonic() - startMs).toBeGreaterThanOrEqual(19);
  });

  test.each([0, -5])("does not wait for %i ms", async (ms) => {
    await systemClock.sleep(ms, never);
  });

  test("does not take a wait of months for none", async () => {
    const stop = new AbortController();
    let hasEnded = false;
    const sleeping = systemClock.sleep(2 ** 32, stop.signal).finally(() => (hasEnded = true));
    await systemClock.sleep(20, never);
    expect(hasEnded).toBe(false);
    stop.abort(new Error("stop"));
    await expect(sleeping).rejects.toThrow("stop");
  });

  test("rejects with the reason of a signal that has aborted", async () => {
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(systemClock.sleep(60_000, signal)).rejects.toThrow("stop");
  });

  test("leaves no listener at its signal, which may live as long as the process", async () => {
    const { signal } = new AbortController();
    const sleeping = systemClock.sleep(1, signal);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await sleeping;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("rejects with the reason as soon as the signal aborts", async () => {
    const stop = new AbortController();
    const sleeping = systemClock.sleep(60_000, stop.signal);
    stop.abort(new Error("stop"));
    await expect(sleeping).rejects.toThrow("stop");
  });
});

test("isTimeout() tells the end of a deadline from every other reason", async () => {
  const clock = new ManualClock();
  const late = withDeadline(new AbortController().signal, 10, clock);
  await clock.advance(10);
  expect(isTimeout(late.reason)).toBe(true);
  expect(isTimeout(AbortSignal.abort().reason)).toBe(false);
  expect(isTimeout(undefined)).toBe(false);
});

describe("withDeadline()", () => {
  test("goes by the clock it is given", async () => {
    const clock = new ManualClock();
    const signal = withDeadline(never, 10_000, clock);
    await clock.advance(9_999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  test("aborts with a TimeoutError at the deadline", async () => {
    const signal = withDeadline(never, 10);
    await expect(systemClock.sleep(10_000, signal)).rejects.toMatchObject({ name: "TimeoutError" });
  });

  test("aborts with the reason of its signal, if that comes first", () => {
    const stop = new AbortController();
    const signal = withDeadline(stop.signal, 60_000);
    stop.abort(new Error("stop"));
    expect(signal.reason).toEqual(new Error("stop"));
  });
});

describe("startDeadline()", () => {
  test("aborts with a TimeoutError at the deadline, by its clock", async () => {
    const clock = new ManualClock();
    using deadline = startDeadline(never, 10_000, clock);
    await clock.advance(9_999);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  test.each(["before", "after"])("aborts with the reason of a signal that aborts %s", (when) => {
    const stop = new AbortController();
    if (when === "before") stop.abort(new Error("stop"));
    using deadline = startDeadline(stop.signal, 60_000, new ManualClock());
    stop.abort(new Error("stop"));
    expect(deadline.signal.reason).toEqual(new Error("stop"));
  });

  test("leaves no timer when it is met, and aborts no more", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const deadline = startDeadline(stop.signal, 10_000, clock);
    expect(clock.pending).toBe(1);
    deadline[Symbol.dispose]();
    expect(clock.pending).toBe(0);
    await clock.advance(10_000);
    stop.abort(new Error("stop"));
    expect(deadline.signal.aborted).toBe(false);
  });
});

describe("abortable()", () => {
  test("settles as the promise does", async () => {
    expect(await abortable(Promise.resolve(1), never)).toBe(1);
    await expect(abortable(Promise.reject(new Error("no")), never)).rejects.toThrow("no");
  });

  test("rejects with the reason as soon as the signal aborts", async () => {
    const stop = new AbortController();
    const waiting = abortable(new Promise(() => {}), stop.signal);
    stop.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
  });

  test("does not wait at all with a signal that has aborted, and swallows a later failure", async () => {
    const work = Promise.withResolvers<never>();
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(abortable(work.promise, signal)).rejects.toThrow("stop");
    work.reject(new Error("later"));
  });
});

/** A sleep, and what it ended with: absent while it goes on. */
function start(ms: number, signal: AbortSignal = new AbortController().signal) {
  const clock = new ManualClock(0);
  const sleeper = new Sleeper(clock);
  const state: { woken?: boolean } = {};
  const over = sleeper.sleep(ms, signal).then((woken) => (state.woken = woken));
  return { clock, sleeper, state, over };
}

describe("Sleeper", () => {
  test("sleeps for its time", async () => {
    const { clock, state } = start(1_000);
    await clock.advance(999);
    expect(state.woken).toBeUndefined();
    await clock.advance(1);
    expect(state.woken).toBe(false);
  });

  test.each([1_000, Infinity])("wakes before %p ms when it is woken", async (ms) => {
    const { clock, sleeper, state, over } = start(ms);
    await clock.advance(500);
    expect(state.woken).toBeUndefined();
    sleeper.wake();
    expect(await over).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test.each([1_000, Infinity])("ends within %p ms when the signal aborts", async (ms) => {
    const stop = new AbortController();
    const { clock, over } = start(ms, stop.signal);
    stop.abort(new Error("stop"));
    expect(await over).toBe(false);
    expect(clock.pending).toBe(0);
    expect(await start(ms, stop.signal).over).toBe(false);
  });

  test("takes no timer for a sleep without an end", async () => {
    const { clock, sleeper, over } = start(Infinity);
    await clock.advance(0);
    expect(clock.pending).toBe(0);
    sleeper.wake();
    await over;
  });

  test("keeps no wake for later", async () => {
    const { clock, sleeper, over } = start(1_000);
    sleeper.wake();
    sleeper.wake();
    await over;
    let woken: boolean | undefined;
    void sleeper.sleep(1_000, new AbortController().signal).then((one) => (woken = one));
    await clock.advance(999);
    expect(woken).toBeUndefined();
    await clock.advance(1);
    expect(woken).toBe(false);
  });
});

const still = { baseMs: 1000, capMs: 30_000, random: () => 0 };

describe("toBackoffMs()", () => {
  test.each([
    [-1, 0],
    [0, 0],
    [1, 1000],
    [2, 2000],
    [5, 16_000],
    [6, 30_000],
    [10_000, 30_000],
  ])("waits after %i failures for %i ms", (failures, expected) => {
    expect(toBackoffMs(failures, still)).toBe(expected);
  });

  test("stays finite however often it failed, even without a cap", () => {
    expect(toBackoffMs(1e9, { ...still, capMs: Infinity })).toBe(1000 * 2 ** 52);
  });

  test.each([
    [undefined, 0.5, 1500],
    [undefined, 0.999, 1999],
    [0.2, 0.5, 1100],
    [0, 0.5, 1000],
  ])(
    "adds jitter %p of the delay times %p, never less than the delay",
    (jitter, random, expected) => {
      const options = { ...still, random: () => random, ...(jitter !== undefined && { jitter }) };
      expect(toBackoffMs(1, options)).toBeCloseTo(expected, 6);
    },
  );

  test("adds jitter on top of the cap", () => {
    expect(toBackoffMs(20, { ...still, random: () => 0.5 })).toBe(45_000);
  });
});
