import { describe, expect, test } from "bun:test";
import { LeadershipLostError } from "../../../lib/core/fence.ts";
import { createLogger } from "../../../lib/core/log.ts";
import { Recovery } from "../../../lib/kube/api/request.ts";
import {
  createIdentity,
  type ElectionTimes,
  toElectionDeadlineMs,
} from "../../../lib/kube/election/leader.ts";
import { toMicroTime } from "../../../lib/kube/election/lease.ts";
import {
  MemoryApiServer,
  LEASE,
  Replica,
  type ReplicaOptions,
  TIMES,
} from "../../support/kube/election/rig.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const LEASES = "leases";

interface Stage {
  readonly clock: ManualClock;
  readonly server: MemoryApiServer;
  add(options: Partial<ReplicaOptions> & { readonly name: string }): Replica;
}

function setStage(): Stage {
  const clock = new ManualClock();
  const server = new MemoryApiServer(clock);
  return { clock, server, add: (options) => new Replica(server, options) };
}

/** A Lease as somebody else left it. */
function putLease({ server, clock }: Stage, spec: object, metadata: object = {}): void {
  const now = toMicroTime(clock.now());
  server.objects.create(LEASES, {
    metadata: { ...LEASE, ...metadata },
    spec: {
      holderIdentity: "theirs",
      leaseDurationSeconds: 15,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 3,
      ...spec,
    },
  });
}

describe("createIdentity()", () => {
  test("names host and process, never twice the same", () => {
    expect(createIdentity("cp-1")).toMatch(/^cp-1_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(createIdentity("cp-1")).not.toBe(createIdentity("cp-1"));
  });
});

describe("toElectionDeadlineMs()", () => {
  test.each([
    [10_000, 5_000],
    [1_500, 1_000],
  ])("lets two requests into %d ms, and takes no less than a second", (renewDeadlineMs, ms) => {
    expect(toElectionDeadlineMs({ ...TIMES, renewDeadlineMs })).toBe(ms);
  });
});

describe("new LeaderElector()", () => {
  const refused: [string, Partial<ElectionTimes>][] = [
    ["a deadline as long as the lease", { renewDeadlineMs: 15_000 }],
    ["a deadline of no more than 1.2 periods", { renewDeadlineMs: 2_400 }],
    ["no period", { retryPeriodMs: 0 }],
    ["a negative period", { retryPeriodMs: -1 }],
  ];
  test.each(refused)("refuses %s", (_what, times) => {
    const { add } = setStage();
    expect(() => add({ name: "a", times: { ...TIMES, ...times } })).toThrow(RangeError);
  });

  test("refuses an empty identity", () => {
    const { add } = setStage();
    expect(() => add({ name: "" })).toThrow(RangeError);
  });
});

describe("LeaderElector", () => {
  test("creates the Lease and leads at once", async () => {
    const stage = setStage();
    const a = stage.add({ name: "a" });
    expect(a.elector.isHeld()).toBe(false);
    a.start();
    await stage.clock.advance(0);
    expect(a.elector).toMatchObject({ isLeading: true, holder: "a" });
    expect(a.elector.isHeld()).toBe(true);
    const now = toMicroTime(stage.clock.now());
    expect(stage.server.lease?.spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    });
    expect(a.metrics.render()).toContain('leader_election_master_status{name="ccm"} 1');
    expect(a.events).toMatchObject([
      {
        object: { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: LEASE },
        event: { type: "Normal", reason: "LeaderElection", message: "a became leader" },
      },
    ]);
  });

  test("renews every retry period with one request, and never acquires again", async () => {
    const stage = setStage();
    const a = stage.add({ name: "a" });
    a.start();
    await stage.clock.advance(0);
    const first = stage.server.lease?.spec;
    stage.server.requests.clear();
    await stage.clock.advance(20_000);
    const verbs = stage.server.requests.entries.map(({ verb }) => verb);
    expect(verbs).toEqual(Array.from({ length: 10 }, () => "update"));
    const renewTime = toMicroTime(stage.clock.now());
    expect(stage.server.lease?.spec).toEqual({ ...first, renewTime });
    expect(a.metrics.render()).not.toContain("leader_election_slowpath_total{");
  });

  test("takes over from a silent leader a lease duration after its last renewal was seen", async () => {
    const stage = setStage();
    const [a, b] = [stage.add({ name: "a" }), stage.add({ name: "b" })];
    a.start();
    await stage.clock.advance(0);
    b.start();
    await stage.clock.advance(4_100);
    a.pause();
    // Renewed at 4 s, seen within 1.5 s, taken at the end of the 15 s that count from then.
    await stage.clock.advance(14_800);
    expect(b.elector.isHeld()).toBe(false);
    expect(b.elector.holder).toBe("a");
    await stage.clock.advance(1_800);
    expect(b.elector.isHeld()).toBe(true);
    expect(stage.server.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    a.resume();
    await stage.clock.advance(0);
    expect(a.elector.isHeld()).toBe(false);
    expect(a.end?.error).toBeInstanceOf(LeadershipLostError);
  });

  test("stops in good order: works to its end, then releases, and the next leads soon", async () => {
    const stage = setStage();
    const [a, b] = [stage.add({ name: "a" }), stage.add({ name: "b" })];
    const finish = Promise.withResolvers<void>();
    a.start(() => finish.promise);
    await stage.clock.advance(0);
    b.start();
    await stage.clock.advance(3_000);
    a.stop();
    await stage.clock.advance(8_000);
    // What it does takes long; the Lease is kept meanwhile.
    expect(a.elector.isHeld()).toBe(true);
    finish.resolve();
    await stage.clock.advance(0);
    expect(a.end).toEqual({ error: undefined });
    expect(a.elector.isHeld()).toBe(false);
    expect(a.elector.signal.aborted).toBe(false);
    const now = toMicroTime(stage.clock.now());
    expect(stage.server.lease?.spec).toEqual({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    });
    await stage.clock.advance(1_500);
    expect(b.elector.isHeld()).toBe(true);
    expect(stage.server.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    expect(a.events.map(({ event }) => event.message)).toEqual([
      "a became leader",
      "a stopped leading",
    ]);
  });

  test("does not lead by an answer that is older than leadership lasts", async () => {
    const stage = setStage();
    const a = stage.add({ name: "a" });
    let requests = 0;
    a.trip = () => ({ thereMs: 0, backMs: (requests += 1) === 2 ? 10 : 0 });
    a.start();
    await stage.clock.advance(5);
    expect(stage.server.lease?.spec?.holderIdentity).toBe("a");
    a.pause();
    await stage.clock.advance(13_000);
    a.resume();
    await stage.clock.advance(0);
    expect(a.elector.isLeading).toBe(false);
    expect(a.end).toBeUndefined();
    await stage.clock.advance(4_400);
    expect(a.elector.isHeld()).toBe(true);
    expect(a.end).toBeUndefined();
  });

  test("a standby that is stopped leaves the Lease alone", async () => {
    const stage = setStage();
    const [a, b] = [stage.add({ name: "a" }), stage.add({ name: "b" })];
    a.start();
    await stage.clock.advance(0);
    b.start();
    await stage.clock.advance(1_000);
    const before = stage.server.lease;
    b.stop();
    await stage.clock.advance(0);
    expect(b.end).toEqual({ error: undefined });
    expect(stage.server.lease).toEqual(before);
    expect(b.events).toEqual([]);
  });

  test("gives back what it got without hearing of it", async () => {
    const stage = setStage();
    const a = stage.add({ name: "a" });
    a.trip = () => ({ thereMs: 0, backMs: 60_000 });
    a.start();
    await stage.clock.advance(0);
    a.trip = () => ({ thereMs: 0, backMs: 0 });
    // The read was answered too late; the next one is not, but the creation is.
    await stage.clock.advance(5_000);
    let requests = 0;
    a.trip = () => ({ thereMs: 0, backMs: (requests += 1) === 2 ? 60_000 : 0 });
    await stage.clock.advance(3_300);
    expect(stage.server.lease?.spec?.holderIdentity).toBe("a");
    expect(a.elector.isLeading).toBe(false);
    a.stop();
    await stage.clock.advance(0);
    expect(stage.server.lease?.spec?.holderIdentity).toBe("");
  });
});

function patchLease({ server }: Stage, spec: Readonly<Record<string, string | number>>): void {
  server.objects.patch(LEASES, LEASE, { spec });
}

describe("LeaderElector and the Leases of others", () => {
  /** A process that finds a Lease of others. */
  function standBeside(spec: object): { readonly stage: Stage; readonly a: Replica } {
    const stage = setStage();
    putLease(stage, spec);
    const a = stage.add({ name: "a" });
    a.start();
    return { stage, a };
  }

  test("waits for a holder that it never saw before, whatever the times in the Lease say", async () => {
    const stage = setStage();
    putLease(stage, { renewTime: "2001-01-01T00:00:00.000000Z" });
    const a = stage.add({ name: "a", skewMs: 3_600_000 });
    a.start();
    await stage.clock.advance(14_900);
    expect(a.elector.isHeld()).toBe(false);
    await stage.clock.advance(300);
    expect(a.elector.isHeld()).toBe(true);
    expect(stage.server.lease?.spec?.leaseTransitions).toBe(4);
  });

  test("goes by the duration in the Lease, not by its own", async () => {
    const { stage, a } = standBeside({ leaseDurationSeconds: 40 });
    await stage.clock.advance(39_900);
    expect(a.elector.isHeld()).toBe(false);
    await stage.clock.advance(300);
    expect(a.elector.isHeld()).toBe(true);
  });

  test("shows no more of a holder's name than a line can bear", async () => {
    const { stage, a } = standBeside({ holderIdentity: "x".repeat(1_000_000) });
    await stage.clock.advance(1_000);
    expect(a.elector.holder).toHaveLength(256);
  });

  const release = { holderIdentity: "", leaseDurationSeconds: 1 };
  test.each<[title: string, change: (stage: Stage) => void, heldMs: number]>([
    ["deleted", ({ server }) => void server.objects.delete(LEASES, LEASE), 15_000],
    ["emptied by hand", (stage) => patchLease(stage, { holderIdentity: "" }), 15_000],
    ["given back", (stage) => patchLease(stage, release), 4_500],
  ])("takes a Lease that was %s when nobody counts on it any more", async (_how, change, ms) => {
    const { stage, a } = standBeside({});
    await stage.clock.advance(4_000);
    change(stage);
    await stage.clock.advance(ms - 4_000 - 100);
    expect(a.elector.isHeld()).toBe(false);
    await stage.clock.advance(1_100);
    expect(a.elector.isHeld()).toBe(true);
  });

  test("waits no longer than its own duration for the holder of a Lease that was deleted", async () => {
    const { stage, a } = standBeside({ leaseDurationSeconds: 2 ** 31 - 1 });
    await stage.clock.advance(60_000);
    expect(a.elector.isHeld()).toBe(false);
    stage.server.objects.delete(LEASES, LEASE);
    await stage.clock.advance(14_900);
    expect(a.elector.isHeld()).toBe(false);
    await stage.clock.advance(2_000);
    expect(a.elector.isHeld()).toBe(true);
  });

  test("leaves a Lease that was deleted to its holder, which creates it again", async () => {
    const stage = setStage();
    const [a, b] = [stage.add({ name: "a" }), stage.add({ name: "b" })];
    a.start();
    await stage.clock.advance(0);
    b.start();
    await stage.clock.advance(100);
    stage.server.objects.delete(LEASES, LEASE);
    await stage.clock.advance(30_000);
    expect(stage.server.lease?.spec?.holderIdentity).toBe("a");
    expect([a.elector.isHeld(), b.elector.isLeading]).toEqual([true, false]);
  });

  test("takes a Lease that has seen as many holders as can be counted", async () => {
    const stage = setStage();
    const leaseTransitions = 2 ** 31 - 1;
    putLease(stage, { holderIdentity: "", leaseTransitions });
    stage.add({ name: "a" }).start();
    await stage.clock.advance(0);
    expect(stage.server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions });
  });

  test("waits as long as a Go controller renews", async () => {
    const { stage, a } = standBeside({});
    for (let beat = 0; beat < 30; beat += 1) {
      await stage.clock.advance(2_000);
      const renewTime = toMicroTime(stage.clock.now());
      stage.server.objects.patch(LEASES, LEASE, { spec: { renewTime } });
    }
    expect(a.elector).toMatchObject({ isLeading: false, holder: "theirs" });
    expect(stage.server.lease?.spec?.leaseTransitions).toBe(3);
  });

  test("keeps everything in a Lease that is not of the record", async () => {
    const stage = setStage();
    const metadata = { labels: { a: "b" }, annotations: { c: "d" }, finalizers: ["x.example/y"] };
    putLease(stage, { holderIdentity: "" }, metadata);
    const a = stage.add({ name: "a" });
    a.start();
    await stage.clock.advance(6_000);
    expect(stage.server.lease?.metadata).toMatchObject(metadata);
    stage.server.objects.patch(LEASES, LEASE, { metadata: { annotations: { e: "f" } } });
    await stage.clock.advance(6_000);
    a.stop();
    await stage.clock.advance(0);
    expect(stage.server.lease?.metadata).toMatchObject({
      ...metadata,
      annotations: { c: "d", e: "f" },
    });
    expect(stage.server.lease?.spec?.holderIdentity).toBe("");
    expect(a.metrics.render()).toContain('leader_election_slowpath_total{name="ccm"} 1');
  });
});

describe("LeaderElector that leads", () => {
  async function lead(): Promise<{ readonly stage: Stage; readonly a: Replica }> {
    const stage = setStage();
    const a = stage.add({ name: "a" });
    a.start();
    await stage.clock.advance(0);
    expect(a.elector.isHeld()).toBe(true);
    return { stage, a };
  }

  function tooOld(seconds: string): string {
    const limit = "12 s: the renew deadline of 10 s and a retry period of 2 s";
    return `the last successful renewal was sent ${seconds} s ago, and the limit is ${limit}`;
  }

  function expectLost(a: Replica, why = "the last successful renewal"): void {
    expect(a.elector.isHeld()).toBe(false);
    expect(a.elector.signal.reason).toBeInstanceOf(LeadershipLostError);
    expect(String(a.elector.signal.reason)).toContain(
      `leaderelection lost: Lease kube-system/ccm: ${why}`,
    );
    expect(a.end?.error).toBe(a.elector.signal.reason);
    expect(a.events.at(-1)?.event.message).toBe("a stopped leading");
    expect(a.metrics.render()).toContain('leader_election_master_status{name="ccm"} 0');
  }

  test("gives up while nobody else can lead yet when the API server is away", async () => {
    const { stage, a } = await lead();
    a.trip = () => ({ thereMs: 0, backMs: 0, lost: "there" });
    await stage.clock.advance(11_990);
    expect(a.elector.isHeld()).toBe(true);
    await stage.clock.advance(20);
    expectLost(a, tooOld("12.0"));
    expect(stage.server.lease?.spec?.holderIdentity).toBe("a");
  });

  test("gives up halfway to the end of the Lease if that is sooner, and says so", async () => {
    const stage = setStage();
    const a = stage.add({ name: "a", times: { ...TIMES, leaseDurationMs: 11_000 } });
    a.start();
    await stage.clock.advance(0);
    a.trip = () => ({ thereMs: 0, backMs: 0, lost: "there" });
    await stage.clock.advance(10_510);
    const limit =
      "10.5 s: halfway between the renew deadline of 10 s and the lease duration of 11 s";
    expectLost(a, `the last successful renewal was sent 10.5 s ago, and the limit is ${limit}`);
  });

  test("gives up in time also while a request waits for its answer", async () => {
    const { stage, a } = await lead();
    a.trip = () => ({ thereMs: 90_000, backMs: 0 });
    await stage.clock.advance(12_010);
    expectLost(a, tooOld("12.0"));
  });

  test("counts from when a renewal was sent, not from when its answer came", async () => {
    const { stage, a } = await lead();
    await stage.clock.advance(1_000);
    a.trip = () => ({ thereMs: 0, backMs: 4_900 });
    await stage.clock.advance(5_900);
    // Sent at 2 s, answered at 6.9 s; nothing arrives any more.
    a.trip = () => ({ thereMs: 0, backMs: 0, lost: "there" });
    await stage.clock.advance(7_090);
    expect(a.elector.isHeld()).toBe(true);
    await stage.clock.advance(20);
    expectLost(a, tooOld("12.0"));
  });

  test.each([
    ["an outage", { status: 503 }],
    ["conflicts", { resource: LEASES, verb: "update", status: 409 }],
  ])("lives through %s of less than its deadline, and gives up in a longer one", async (...row) => {
    const [, refusal] = row;
    const { stage, a } = await lead();
    const end = stage.server.faults.refuse(refusal);
    await stage.clock.advance(9_500);
    end();
    await stage.clock.advance(60_000);
    expect(a.elector.isHeld()).toBe(true);
    expect(a.end).toBeUndefined();
    stage.server.faults.refuse(refusal);
    await stage.clock.advance(14_010);
    expectLost(a);
  });

  test.each([
    ["somebody", "b", "b holds it"],
    ["nobody", "", "it has no holder"],
  ])("stops at its next renewal when %s holds the Lease", async (_who, holder, why) => {
    const { stage, a } = await lead();
    stage.server.objects.patch(LEASES, LEASE, { spec: { holderIdentity: holder } });
    await stage.clock.advance(2_000);
    expectLost(a, why);
    expect(stage.server.lease?.spec?.holderIdentity).toBe(holder);
  });

  test("creates the Lease again when a user deletes it", async () => {
    const { stage, a } = await lead();
    stage.server.objects.delete(LEASES, LEASE);
    await stage.clock.advance(2_000);
    expect(stage.server.lease?.spec?.holderIdentity).toBe("a");
    expect(a.elector.isHeld()).toBe(true);
  });

  test("knows after a pause that it may lead no longer, before anything else happens", async () => {
    const { stage, a } = await lead();
    a.pause();
    await stage.clock.advance(12_001);
    expect(a.elector.isHeld()).toBe(false);
    expect(a.elector.signal.aborted).toBe(true);
    a.resume();
    await stage.clock.advance(30_000);
    expectLost(a, tooOld("12.0"));
    expect(stage.server.lease?.spec?.leaseTransitions).toBe(0);
  });

  test("does not lead again by an answer that came too late", async () => {
    const { stage, a } = await lead();
    await stage.clock.advance(1_990);
    a.trip = () => ({ thereMs: 0, backMs: 20 });
    await stage.clock.advance(20);
    a.pause();
    await stage.clock.advance(12_500);
    a.resume();
    await stage.clock.advance(0);
    expectLost(a, tooOld("14.5"));
  });

  test("gives up when the wall clock says that the machine was suspended", async () => {
    const { stage, a } = await lead();
    const { now } = a.clock;
    a.clock.now = () => now() + 13_000;
    expect(a.elector.isHeld()).toBe(false);
    await stage.clock.advance(0);
    expectLost(a, tooOld("13.0"));
  });

  test("does not mind a wall clock that is set back", async () => {
    const { stage, a } = await lead();
    const { now } = a.clock;
    a.clock.now = () => now() - 86_400_000;
    await stage.clock.advance(60_000);
    expect(a.elector.isHeld()).toBe(true);
    a.trip = () => ({ thereMs: 0, backMs: 0, lost: "there" });
    a.clock.now = () => now() - 2 * 86_400_000;
    await stage.clock.advance(14_000);
    expectLost(a, tooOld("12.0"));
  });

  test("aborts what it leads for, and ends after that", async () => {
    const stage = setStage();
    const a = stage.add({ name: "a" });
    const finish = Promise.withResolvers<void>();
    let reason: unknown;
    a.start((signal) => {
      signal.addEventListener("abort", () => (reason = signal.reason));
      return finish.promise;
    });
    await stage.clock.advance(0);
    stage.server.objects.patch(LEASES, LEASE, { spec: { holderIdentity: "b" } });
    await stage.clock.advance(2_000);
    expect(reason).toBeInstanceOf(LeadershipLostError);
    expect(a.end).toBeUndefined();
    finish.resolve();
    await stage.clock.advance(0);
    expectLost(a, "b holds it");
  });

  test("releases the Lease also when what it leads for breaks", async () => {
    const stage = setStage();
    const a = stage.add({ name: "a" });
    const bug = new Error("a bug");
    a.start(() => Promise.reject(bug));
    await stage.clock.advance(0);
    expect(a.end?.error).toBe(bug);
    expect(stage.server.lease?.spec?.holderIdentity).toBe("");
  });

  test("gives releasing up when nobody answers", async () => {
    const { stage, a } = await lead();
    a.trip = () => ({ thereMs: 90_000, backMs: 0 });
    a.stop();
    await stage.clock.advance(4_000);
    expect(a.end).toEqual({ error: undefined });
  });
});

describe("LeaderElector.isHealthy()", () => {
  test("fails only for a leader that is still there long after its Lease", async () => {
    const stage = setStage();
    const [a, b] = [stage.add({ name: "a" }), stage.add({ name: "b" })];
    const finish = Promise.withResolvers<void>();
    expect(a.elector.isHealthy()).toBe(true);
    a.start(() => finish.promise);
    await stage.clock.advance(0);
    b.start();
    stage.server.faults.refuse({ status: 503 });
    await stage.clock.advance(34_990);
    expect(a.elector.isHealthy()).toBe(true);
    await stage.clock.advance(20);
    expect(a.elector.isHealthy()).toBe(false);
    await stage.clock.advance(60_000);
    expect(b.elector.isHealthy()).toBe(true);
  });
});

describe("what a LeaderElector tells", () => {
  const ABOUT = "lease=kube-system/ccm identity=a";

  function setUp(): {
    readonly stage: Stage;
    readonly a: Replica;
    readonly lines: string[];
    /** How often it was told that the API server answers again. */
    readonly countRecoveries: () => number;
  } {
    const stage = setStage();
    const lines: string[] = [];
    let recoveries = 0;
    const recovery = new Recovery();
    recovery.subscribe(() => (recoveries += 1));
    const write = (line: string): void => void lines.push(line.trim().slice(25));
    const log = createLogger({ format: "text", write, now: () => stage.clock.now() });
    const a = stage.add({ name: "a", log, recovery });
    return { stage, a, lines, countRecoveries: () => recoveries };
  }

  test("is each holder once, and that a user emptied the Lease", async () => {
    const { stage, a, lines } = setUp();
    putLease(stage, { holderIdentity: "b" });
    a.start();
    for (const holderIdentity of ["c", "", "b"]) {
      await stage.clock.advance(5_000);
      stage.server.objects.patch(LEASES, LEASE, { spec: { holderIdentity } });
    }
    await stage.clock.advance(5_000);
    expect(lines).toEqual([
      `INFO  Standing by: another process is leader ${ABOUT} holder=b`,
      `INFO  Standing by: another process is leader ${ABOUT} holder=c`,
      `INFO  Waiting: the Lease has no holder, but its last holder may still act as leader ${ABOUT}`,
      `INFO  Standing by: another process is leader ${ABOUT} holder=b`,
    ]);
    expect(a.metrics.render()).toContain('leader_election_master_status{name="ccm"} 0');
  });

  test("is a problem when it is new, its end, and what the API server refuses in an Event", async () => {
    const { stage, a, lines, countRecoveries } = setUp();
    // Another process is faster, which is no problem.
    const lose = stage.server.faults.refuse({ verb: "create", status: 409 });
    a.start();
    await stage.clock.advance(20_000);
    expect(lines).toEqual([]);
    lose();
    const answer = stage.server.faults.refuse({ status: 503 });
    await stage.clock.advance(20_000);
    expect([lines.length, a.events.length]).toEqual([1, 0]);
    answer();
    const allow = stage.server.faults.refuse({ resource: LEASES, status: 422 });
    await stage.clock.advance(20_000);
    expect(lines).toHaveLength(2);
    expect(a.events.map(({ event }) => event.reason)).toEqual(["LeaderElectionFailed"]);
    expect(countRecoveries()).toBe(0);
    allow();
    await stage.clock.advance(5_000);
    expect(lines.slice(2)).toEqual([
      `INFO  The Lease can be used again ${ABOUT}`,
      `INFO  Became leader ${ABOUT}`,
    ]);
    expect(countRecoveries()).toBe(2);
    stage.server.objects.patch(LEASES, LEASE, { spec: { holderIdentity: "b" } });
    await stage.clock.advance(5_000);
    expect(lines.slice(4)).toEqual([`ERROR leaderelection lost ${ABOUT} reason="b holds it"`]);
  });
});

describe("LeaderElector without rights", () => {
  test("names Lease and rule, once a minute, and leads as soon as it may", async () => {
    const stage = setStage();
    const warnings: unknown[] = [];
    const log = {
      debug: () => undefined,
      info: () => undefined,
      error: () => undefined,
      warn: (message: string, fields: unknown) => void warnings.push({ message, fields }),
      with: () => log,
    };
    const give = stage.server.faults.refuse({ resource: LEASES, status: 403 });
    const a = stage.add({ name: "a", log });
    a.start();
    await stage.clock.advance(59_000);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({
      message: "Cannot use the Lease",
      fields: { error: { kind: "forbidden" }, advice: expect.stringContaining('named "ccm"') },
    });
    expect(a.events).toMatchObject([
      {
        object: { kind: "Lease", metadata: LEASE },
        event: { type: "Warning", reason: "LeaderElectionFailed" },
      },
    ]);
    const { message = "" } = a.events[0]?.event ?? {};
    for (const part of ["403", "kube-system", "ccm", "leases", "coordination.k8s.io", "update"]) {
      expect(message).toContain(part);
    }
    await stage.clock.advance(10_000);
    expect(warnings).toHaveLength(2);
    give();
    await stage.clock.advance(4_400);
    expect(a.elector.isHeld()).toBe(true);
  });
});
