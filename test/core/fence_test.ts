import { describe, expect, test } from "bun:test";
import { ALONE, Fence, type Leadership, LeadershipLostError } from "../../lib/core/fence.ts";
import { ElectionServer, LEASE, Replica } from "../support/kube/election/rig.ts";
import { ManualClock } from "../support/manual_clock.ts";

const never = new AbortController().signal;

/** A cloud that is busy at times, and a client of it as a provider may have one. */
class BalancerCloud {
  readonly made: string[] = [];
  /** Refusals with a wish for a pause, before the next request is granted. */
  busy = 0;
  pauseMs = 5_000;
  readonly #clock: ManualClock;
  readonly #fence: Fence;

  constructor(clock: ManualClock, fence: Fence) {
    this.#clock = clock;
    this.#fence = fence;
  }

  async create(name: string, signal: AbortSignal): Promise<void> {
    const stopped = this.#fence.bind(signal);
    for (;;) {
      this.#fence.check();
      if (this.busy === 0) break;
      this.busy -= 1;
      await this.#clock.sleep(this.pauseMs, stopped);
    }
    this.made.push(name);
  }

  /** Signing in changes nothing that a leader decides on. */
  signIn(): Promise<string> {
    return Promise.resolve("token");
  }
}

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

describe("a cloud behind a fence, of processes that stand for the Lease", () => {
  interface Process extends Replica {
    readonly cloud: BalancerCloud;
  }

  /** The first leads, the second stands by. */
  async function setStage(): Promise<{
    readonly clock: ManualClock;
    readonly server: ElectionServer;
    readonly leader: Process;
    readonly standby: Process;
  }> {
    const clock = new ManualClock();
    const server = new ElectionServer(clock);
    const start = async (name: string): Promise<Process> => {
      const replica = new Replica(server, { name });
      const cloud = new BalancerCloud(clock, new Fence(replica.elector));
      replica.start();
      await clock.advance(500);
      return Object.assign(replica, { cloud });
    };
    const leader = await start("a");
    return { clock, server, leader, standby: await start("b") };
  }

  test("takes what the leader writes, and nothing of a standby but its sign-in", async () => {
    const { leader, standby } = await setStage();
    await leader.cloud.create("web", never);
    await expect(standby.cloud.create("web", never)).rejects.toThrow("does not lead");
    expect(await standby.cloud.signIn()).toBe("token");
    expect([leader.cloud.made, standby.cloud.made]).toEqual([["web"], []]);
  });

  test("refuses the write of a leader that stood still, before anything has told it", async () => {
    const { clock, leader, standby } = await setStage();
    await leader.cloud.create("first", never);
    leader.pause();
    await clock.advance(20_000);
    await standby.cloud.create("second", never);
    const writing = leader.cloud.create("second", never);
    await expect(writing).rejects.toThrow(
      "leaderelection lost: Lease kube-system/ccm: the last successful renewal",
    );
    expect([leader.cloud.made, standby.cloud.made]).toEqual([["first"], ["second"]]);
    leader.resume();
    await clock.advance(0);
    expect(leader.end?.error).toBeInstanceOf(LeadershipLostError);
  });

  test("refuses the next try of a write that waited while its process stood still", async () => {
    const { clock, leader } = await setStage();
    leader.cloud.busy = 1;
    leader.cloud.pauseMs = 20_000;
    leader.pause();
    const results = Promise.allSettled([leader.cloud.create("web", never)]);
    await clock.advance(20_000);
    expect(await results).toMatchObject([{ reason: { name: "LeadershipLostError" } }]);
    expect(leader.cloud.made).toEqual([]);
  });

  test("ends a write that is under way when another takes the Lease", async () => {
    const { clock, server, leader } = await setStage();
    leader.cloud.busy = 1;
    leader.cloud.pauseMs = 20_000;
    const results = Promise.allSettled([leader.cloud.create("web", never)]);
    server.objects.patch("leases", LEASE, { spec: { holderIdentity: "other" } });
    await clock.advance(2_500);
    expect(await results).toMatchObject([{ reason: leader.elector.signal.reason }]);
    expect(leader.elector.signal.reason).toMatchObject({
      message: "leaderelection lost: Lease kube-system/ccm: other holds it",
    });
  });
});
