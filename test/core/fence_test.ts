import { describe, expect, test } from "bun:test";
import { ALONE, Fence, type Leadership, LeadershipLostError } from "../../lib/core/fence.ts";

const never = new AbortController().signal;

function lead(): Leadership & { isOurs: boolean; lose(): void } {
  const lost = new AbortController();
  return {
    isOurs: true,
    signal: lost.signal,
    isHeld() {
      return this.isOurs;
    },
    lose() {
      this.isOurs = false;
      lost.abort(new LeadershipLostError("lost"));
    },
  };
}

describe("Fence", () => {
  test("lets nobody write before it is told who leads", () => {
    const fence = new Fence();
    expect(() => fence.check()).toThrow(new LeadershipLostError("this process does not lead"));
    expect(() => fence.bind(never)).toThrow(LeadershipLostError);
    fence.follow(ALONE);
    fence.check();
    expect(fence.bind(never).aborted).toBe(false);
  });

  test("lets a standby write nothing, and throws the reason once leadership is lost", () => {
    const leadership = lead();
    const fence = new Fence(leadership);
    leadership.isOurs = false;
    expect(() => fence.check()).toThrow("this process does not lead");
    leadership.lose();
    expect(() => fence.check()).toThrow(leadership.signal.reason);
    expect(() => fence.bind(never)).toThrow(leadership.signal.reason);
  });

  test("ends a write that is under way when leadership is lost, or when its caller stops it", () => {
    const leadership = lead();
    const fence = new Fence(leadership);
    const stopping = new AbortController();
    const [stopped, lost] = [fence.bind(stopping.signal), fence.bind(never)];
    stopping.abort("stopped");
    expect([stopped.reason, lost.aborted]).toEqual(["stopped", false]);
    leadership.lose();
    expect(lost.reason).toBe(leadership.signal.reason);
  });
});
