/**
 * Waiting for jobs: when the server is asked, and what is never started twice.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { ApiError, JobOverError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import {
  type JobOutcome,
  Jobs,
  toOutcome,
  type Work,
} from "../../../../lib/providers/cloudstack/session/jobs.ts";
import { ManualClock, settle } from "../../../support/manual_clock.ts";

const signal = new AbortController().signal;
const unreachable = new CloudError("unreachable", "no answer");

let clock: ManualClock;
let stop: AbortController;
/** When each job was asked about, in monotonic milliseconds. */
let asked: [string, number][];
let started: string[];
/** What the server says about each job: an error is thrown. */
let states: Map<string, JobOutcome | Error>;
let jobs: Jobs;

function toWork(key: string, more: Partial<Work> = {}): Work {
  const start = (): Promise<{ jobId: string }> => {
    started.push(key);
    return Promise.resolve({ jobId: `job-${key}` });
  };
  return { key, command: "makeIt", start, timeoutMs: 60_000, ...more };
}

/** The outcome of a call, without an unhandled rejection. */
function run(work: Work, by: AbortSignal = signal): Promise<unknown> {
  return jobs.run(work, by).catch((error: unknown) => error);
}

describe("Jobs", () => {
  beforeEach(() => {
    clock = new ManualClock();
    stop = new AbortController();
    asked = [];
    started = [];
    states = new Map();
    jobs = new Jobs({
      ask: (jobId) => {
        asked.push([jobId, clock.monotonic()]);
        const state = states.get(jobId);
        return state instanceof Error ? Promise.reject(state) : Promise.resolve(state);
      },
      clock,
      signal: stop.signal,
      random: () => 0,
    });
  });

  test("asks first after 0.3 s, and then less often, every 4 s to 5 s at last", async () => {
    const outcome = run(toWork("a"));
    await clock.advance(20_000);
    const times = asked.map(([, ms]) => ms);
    expect(times).toEqual([300, 900, 2_100, 4_500, 8_500, 12_500, 16_500]);
    states.set("job-a", { result: { success: true } });
    await clock.advance(5_000);
    expect(await outcome).toEqual({ success: true });
    expect(started).toEqual(["a"]);
    expect(clock.pending).toBe(0);
  });

  test("the jitter adds a quarter at most", async () => {
    const late = new Jobs({
      ask: (id) => Promise.resolve(void asked.push([id, clock.monotonic()])),
      clock,
      signal: stop.signal,
      random: () => 1,
    });
    late.run(toWork("a"), signal).catch(() => {});
    await clock.advance(40_000);
    const pauses = asked.slice(1).map(([, ms], at) => ms - (asked[at]?.[1] ?? 0));
    expect(Math.max(...pauses)).toBe(5_000);
  });

  test("returns at once what a server did at once", async () => {
    const start = (): Promise<{ result: unknown }> => Promise.resolve({ result: 7 });
    expect(await run(toWork("a", { start }))).toBe(7);
    expect(await run(toWork("a", { start }))).toBe(7);
    expect(asked).toEqual([]);
  });

  test("rejects with the failure of the job, which is over then", async () => {
    const failure = new CloudError("unreachable", "failed");
    states.set("job-a", { failure });
    const outcome = run(toWork("a"));
    await clock.advance(300);
    expect(await outcome).toBe(failure);
    void run(toWork("a"));
    await settle();
    expect(started).toEqual(["a", "a"]);
  });

  test("one poller asks about all jobs, each at its own time, and stops when none is left", async () => {
    const first = run(toWork("a"));
    await clock.advance(100);
    const second = run(toWork("b"));
    await clock.advance(1_000);
    expect(asked).toEqual([
      ["job-a", 300],
      ["job-b", 400],
      ["job-a", 900],
      ["job-b", 1_000],
    ]);
    states.set("job-a", { result: 1 }).set("job-b", { result: 2 });
    await clock.advance(2_000);
    expect(await Promise.all([first, second])).toEqual([1, 2]);
    expect(clock.pending).toBe(0);
  });

  test("two calls for the same change share one job", async () => {
    const both = Promise.all([run(toWork("a")), run(toWork("a"))]);
    states.set("job-a", { result: 1 });
    await clock.advance(300);
    expect(await both).toEqual([1, 1]);
    expect([started, asked.length]).toEqual([["a"], 1]);
  });

  test("a job that outlives its deadline is asked about again, and never started a second time", async () => {
    const late = run(toWork("a", { timeoutMs: 5_000 }));
    await clock.advance(5_000);
    expect(await late).toMatchObject({ kind: "unreachable" });
    expect(String(await late)).toContain("has not finished makeIt within 5 s");
    const count = asked.length;
    await clock.advance(60_000);
    expect(asked).toHaveLength(count);
    states.set("job-a", { result: 1 });
    expect(await run(toWork("a", { isRetry: true }))).toBe(1);
    expect([started, asked.length]).toEqual([["a"], count + 1]);
  });

  test("the outcome of a job that ended without a caller is not that of a later change", async () => {
    const late = run(toWork("a", { timeoutMs: 5_000 }));
    await clock.advance(5_000);
    await late;
    await clock.advance(60_000);
    states.set("job-a", { result: 1 });
    expect(await run(toWork("a"))).toBeInstanceOf(JobOverError);
    expect(started).toEqual(["a"]);
    states.set("job-a", { result: 2 });
    const next = run(toWork("a"));
    await clock.advance(300);
    expect([await next, started]).toEqual([2, ["a", "a"]]);
  });

  test("a job that still runs when a caller comes back is that caller's", async () => {
    const late = run(toWork("a", { timeoutMs: 5_000 }));
    await clock.advance(5_000);
    await late;
    await clock.advance(60_000);
    const next = run(toWork("a"));
    await clock.advance(1_000);
    states.set("job-a", { result: 1 });
    await clock.advance(5_000);
    expect([await next, started]).toEqual([1, ["a"]]);
  });

  test("a caller's signal ends its wait only", async () => {
    const gone = new AbortController();
    const leaver = run(toWork("a"), gone.signal);
    const other = run(toWork("a"));
    await settle();
    gone.abort(new Error("left"));
    expect(await leaver).toMatchObject({ message: "left" });
    states.set("job-a", { result: 1 });
    await clock.advance(300);
    expect(await other).toBe(1);
  });

  test("a caller that leaves while the job is being started does not make it start twice", async () => {
    const { promise, resolve } = Promise.withResolvers<{ jobId: string }>();
    const start = (): Promise<{ jobId: string }> => {
      started.push("a");
      return promise;
    };
    const gone = new AbortController();
    const leaver = run(toWork("a", { start }), gone.signal);
    gone.abort(new Error("left"));
    expect(await leaver).toMatchObject({ message: "left" });
    const next = run(toWork("a", { start }));
    resolve({ jobId: "job-a" });
    states.set("job-a", { result: 1 });
    await clock.advance(300);
    expect([await next, started]).toEqual([1, ["a"]]);
  });

  test("a change that could not be started may be started again", async () => {
    const start = (): Promise<never> => {
      started.push("a");
      return Promise.reject(unreachable);
    };
    expect(await run(toWork("a", { start }))).toBe(unreachable);
    expect(await run(toWork("a", { start }))).toBe(unreachable);
    expect(started).toHaveLength(2);
  });

  test("goes on asking while the server does not answer, and waits as long as it says", async () => {
    const outcome = run(toWork("a"));
    states.set("job-a", new CloudError("throttled", "later", { retryAfterMs: 10_000 }));
    await clock.advance(300);
    states.set("job-a", unreachable);
    await clock.advance(10_000);
    states.set("job-a", { result: 1 });
    await clock.advance(5_000);
    expect(await outcome).toBe(1);
    expect(asked.map(([, ms]) => ms)).toEqual([300, 10_300, 11_500]);
  });

  test("a refusal to say more ends the wait, and the job is still known", async () => {
    const denied = new CloudError("denied", "no");
    states.set("job-a", denied);
    const outcome = run(toWork("a"));
    await clock.advance(300);
    expect(await outcome).toBe(denied);
    states.set("job-a", { result: 1 });
    const next = run(toWork("a", { isRetry: true }));
    await clock.advance(1_000);
    expect([await next, started]).toEqual([1, ["a"]]);
  });

  test("a job that the server no longer knows is over", async () => {
    const lost = new ApiError({ code: 431, text: "" }, { command: "x", secrets: [] });
    states.set("job-a", lost);
    const outcome = run(toWork("a"));
    await clock.advance(300);
    expect(await outcome).toBe(lost);
    void run(toWork("a"));
    await settle();
    expect(started).toEqual(["a", "a"]);
  });

  test("says that a job is slow after the second look, once, and with what it makes", async () => {
    const slow: unknown[] = [];
    const start = (): Promise<{ jobId: string; objectId: string }> =>
      Promise.resolve({ jobId: "job-a", objectId: "object" });
    const onSlow = (job: unknown): Promise<void> => Promise.resolve(void slow.push(job));
    const outcome = run(toWork("a", { start, hooks: { onSlow } }));
    await clock.advance(899);
    expect(slow).toEqual([]);
    await clock.advance(10_000);
    expect(slow).toEqual([{ jobId: "job-a", objectId: "object" }]);
    states.set("job-a", { result: 1 });
    await clock.advance(5_000);
    expect(await outcome).toBe(1);
  });

  test("a quick job is never called slow", async () => {
    const onSlow = (): Promise<void> => Promise.reject(new Error("not slow"));
    const outcome = run(toWork("a", { hooks: { onSlow } }));
    await clock.advance(300);
    states.set("job-a", { result: 1 });
    await clock.advance(600);
    expect(await outcome).toBe(1);
  });

  test.each(["onObject", "onSlow"] as const)(
    "a caller whose %s fails waits no longer",
    async (at) => {
      const start = (): Promise<{ jobId: string; objectId: string }> =>
        Promise.resolve({ jobId: "job-a", objectId: "object" });
      const lost = new Error("cannot write it down");
      const outcome = run(toWork("a", { start, hooks: { [at]: () => Promise.reject(lost) } }));
      await clock.advance(900);
      expect(await outcome).toBe(lost);
      expect(clock.pending).toBe(0);
      states.set("job-a", { result: 1 });
      const next = run(toWork("a", { start, isRetry: true }));
      await clock.advance(5_000);
      expect(await next).toBe(1);
    },
  );

  test("resume() waits for a job that another process started", async () => {
    const outcome = jobs.resume("job-z", { command: "makeIt", timeoutMs: 5_000 }, signal);
    await clock.advance(300);
    states.set("job-z", { result: 1 });
    await clock.advance(600);
    expect(await outcome).toBe(1);
    expect(asked).toHaveLength(2);
  });

  test("resume() of a job that was started here ends it for the same change, too", async () => {
    const late = run(toWork("a", { timeoutMs: 1_000 }));
    await clock.advance(1_000);
    expect(await late).toMatchObject({ kind: "unreachable" });
    states.set("job-a", { result: 1 });
    const resumed = jobs.resume("job-a", { command: "makeIt", timeoutMs: 5_000 }, signal);
    await clock.advance(5_000);
    expect(await resumed).toBe(1);
    void run(toWork("a"));
    await settle();
    expect(started).toEqual(["a", "a"]);
  });

  test("ends with the process, and leaves no timer behind", async () => {
    const outcome = run(toWork("a"));
    await clock.advance(400);
    stop.abort(new Error("stopped"));
    await settle();
    expect(await outcome).toMatchObject({ message: "stopped" });
    expect(clock.pending).toBe(0);
  });
});

describe("toOutcome()", () => {
  test("knows a job that runs and one that succeeded", () => {
    expect(toOutcome({ jobstatus: 0 }, [])).toBeUndefined();
    expect(toOutcome({ jobstatus: "1", jobresult: { a: 1 } }, [])).toEqual({ result: { a: 1 } });
  });

  test.each([
    [{ errorcode: 431, errortext: "no" }, 431, "(no) to StopVMCmd"],
    ["no", 530, "(no) to StopVMCmd"],
    [undefined, 530, "to StopVMCmd"],
  ])("a failure with %p keeps code and text", (jobresult, code, text) => {
    const outcome = toOutcome({ jobstatus: 2, jobresult, cmd: "org.apache.StopVMCmd" }, []);
    expect(outcome).toMatchObject({ failure: { code } });
    if (outcome && "failure" in outcome) expect(outcome.failure.message).toContain(text);
  });

  test("refuses an answer without a status", () => {
    expect(() => toOutcome({}, [])).toThrow("cannot be read");
  });
});
