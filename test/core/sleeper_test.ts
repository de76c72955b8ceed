import { describe, expect, test } from "bun:test";
import { Sleeper } from "../../lib/core/sleeper.ts";
import { ManualClock } from "../support/manual_clock.ts";

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
