import { afterEach, describe, expect, test } from "bun:test";
import { ApiError } from "../../../../lib/simulator/cloudstack/replies.ts";
import {
  Jobs,
  toDate,
  toJobReply,
  type JobOptions,
} from "../../../../lib/simulator/cloudstack/world/jobs.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const ABOUT = {
  command: "startVirtualMachine",
  userId: "u",
  accountId: "a",
  instanceType: "VirtualMachine",
  instanceId: "v",
};

describe("Jobs", () => {
  let stop = new AbortController();
  afterEach(() => stop.abort());

  function createJobs(): { jobs: Jobs; clock: ManualClock; done: string[] } {
    stop = new AbortController();
    const clock = new ManualClock();
    const jobs = new Jobs({ clock, durationMs: () => 100, signal: stop.signal });
    return { jobs, clock, done: [] };
  }

  const work = (done: string[], name: string, serialKey = name): JobOptions => ({
    ...ABOUT,
    serialKey,
    begin: () => void done.push(`begin ${name}`),
    run: () => ({ success: done.push(`run ${name}`) > 0 }),
  });

  test("jobs of different objects run at the same time, those of one in turn", async () => {
    const { jobs, clock, done } = createJobs();
    for (const name of ["a1", "a2", "b"]) jobs.start(work(done, name, name.slice(0, 1)));
    await clock.advance(50);
    expect(done).toEqual(["begin a1", "begin b"]);
    await clock.advance(50);
    expect(done.toSorted()).toEqual(["begin a1", "begin a2", "begin b", "run a1", "run b"]);
    await clock.advance(100);
    expect(done.at(-1)).toBe("run a2");
    expect([...jobs.all.values()].map((job) => job.status)).toEqual([1, 1, 1]);
  });

  test("an ApiError fails the job, and the next one has its turn", async () => {
    const { jobs, clock, done } = createJobs();
    const fail = (): never => {
      throw new ApiError(534, "no router");
    };
    const job = jobs.start({ ...work(done, "a"), run: fail });
    const next = jobs.start(work(done, "a"));
    await clock.advance(200);
    expect(job).toMatchObject({
      status: 2,
      resultCode: 534,
      result: { errorcode: 534, errortext: "no router" },
    });
    expect(next.status).toBe(1);
  });

  test("a held job keeps its turn until it is released", async () => {
    const { jobs, clock, done } = createJobs();
    const held = jobs.start(work(done, "a"), { kind: "endless" });
    jobs.start(work(done, "a"));
    await clock.advance(1_000_000);
    expect([held.status, done]).toEqual([0, ["begin a"]]);
    jobs.release(held.id);
    await clock.advance(200);
    expect(done).toEqual(["begin a", "run a", "begin a", "run a"]);
    expect(() => jobs.release(held.id)).toThrow(RangeError);
  });

  test("every held job goes on when all are released", async () => {
    const { jobs, clock, done } = createJobs();
    const held = ["a", "b"].map((key) => jobs.start(work(done, key), { kind: "endless" }));
    await clock.advance(1_000);
    jobs.releaseAll();
    await clock.advance(200);
    expect(held.map(({ status }) => status)).toEqual([1, 1]);
  });

  test("a job that is made to fail changes nothing", async () => {
    const { jobs, clock, done } = createJobs();
    const job = jobs.start(work(done, "a"), { kind: "failed", code: 530, text: "no" });
    await clock.advance(100);
    expect([job.status, done]).toEqual([2, []]);
  });

  test("what a command did before its job is taken back when the job fails, and only then", async () => {
    const { jobs, clock, done } = createJobs();
    const undo = (): void => void done.push("undo");
    const fail = (): never => {
      throw new ApiError(530, "no");
    };
    jobs.start({ ...work(done, "a"), undo });
    await clock.advance(100);
    expect(done).toEqual(["begin a", "run a"]);
    jobs.start({ ...work(done, "b"), run: fail, undo });
    await clock.advance(100);
    jobs.start({ ...work(done, "c"), undo }, { kind: "failed", code: 530, text: "no" });
    await clock.advance(100);
    expect(done.slice(2)).toEqual(["begin b", "undo", "undo"]);
  });

  test("jobs without a key do not wait for each other", async () => {
    const { jobs, clock, done } = createJobs();
    const free: JobOptions = { ...ABOUT, run: () => ({ success: done.push("run") > 0 }) };
    jobs.start(free, { kind: "endless" });
    jobs.start(free);
    await clock.advance(100);
    expect(done).toEqual(["run"]);
  });

  test("a job that is made to fail late begins, takes its time, and takes back what it did", async () => {
    const { jobs, clock, done } = createJobs();
    const fate = { kind: "failed", code: 534, text: "no router", isLate: true } as const;
    const undo = (): void => void done.push("undo a");
    const job = jobs.start({ ...work(done, "a"), undo }, fate);
    await clock.advance(50);
    expect([job.status, done]).toEqual([0, ["begin a"]]);
    await clock.advance(50);
    expect([job.resultCode, done]).toEqual([534, ["begin a", "undo a"]]);
  });

  test("nothing runs after the simulator stopped", async () => {
    const { jobs, clock, done } = createJobs();
    const job = jobs.start(work(done, "a"));
    await clock.advance(50);
    stop.abort();
    await clock.advance(50);
    expect([job.status, done, clock.pending]).toEqual([0, ["begin a"], 0]);
  });

  test("toJobReply() shows a result only once there is one", async () => {
    const { jobs, clock, done } = createJobs();
    const job = jobs.start(work(done, "a"));
    const pending = {
      accountid: "a",
      userid: "u",
      jobstatus: 0,
      jobprocstatus: 0,
      jobresultcode: 0,
      jobinstancetype: "VirtualMachine",
      jobinstanceid: "v",
      created: "2026-01-01T00:00:00+0000",
      jobid: job.id,
    };
    expect(toJobReply(job)).toEqual({ ...pending, cmd: expect.stringMatching(/Cmd$/) });
    await clock.advance(1_000);
    expect(toJobReply(job)).toMatchObject({
      jobstatus: 1,
      jobresulttype: "object",
      jobresult: { success: true },
      completed: "2026-01-01T00:00:00+0000",
    });
  });
});

test("toDate() has no milliseconds, and a zone without a colon", () => {
  expect(toDate(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe("2026-01-02T03:04:05+0000");
});
