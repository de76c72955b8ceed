import { describe, expect, test } from "bun:test";
import type { MachinePlan } from "../../../../lib/cloud/capabilities/machines.ts";
import type { Progress } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import type { MachineGoal } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import {
  findAddress,
  reportAbsent,
  reportIdle,
  reportProgress,
} from "../../../../lib/controllers/vino/status/entries.ts";
import { toEntry, toKnown, toMachine, VINO_OWNER } from "../../../support/vino/known.ts";
import { toProblem } from "../../../support/vino/reports.ts";

const NAME = toEntry("worker", 0).name;

const NOW = { monotonicMs: 0, wallMs: 0 };

function toProgress(
  plan: Partial<MachinePlan>,
  change: Partial<Progress> = {},
  goal: MachineGoal["kind"] = "remove",
): Progress {
  return {
    task: {
      name: NAME,
      identity: { owner: VINO_OWNER, role: "worker", index: 0 },
      hostId: "h1",
      known: toKnown("worker", 0, "h1", { entry: toEntry("worker", 0, { machineId: "vm-old" }) }),
      goal: goal === "remove" ? { kind: "remove" } : ({ kind: "exist" } as MachineGoal),
    },
    plan: { state: "Ready", steps: [], problems: [], parts: [], ...plan },
    observedAtMs: 0,
    dueMs: Infinity,
    failures: 0,
    retryMs: 0,
    sinceMs: 0,
    setbacks: [],
    ...change,
  };
}

describe("reportProgress()", () => {
  const wanted = { isWanted: true, now: NOW } as const;

  test.each([
    [true, "An object uses its BareMetalHost: keep the machine until none does"],
    [false, "No object uses its BareMetalHost now"],
  ])("says before a deletion by hand what uses the host: %p", (isConsumed, use) => {
    const problem = { ...toProblem("notice", "delete it"), losesMachine: true };
    const progress = toProgress({ problems: [problem, toProblem("notice", "other")] }, {}, "exist");
    const task = { ...progress.task, known: toKnown("worker", 0, "h1", { isConsumed }) };
    const { problems, entry } = reportProgress({ ...progress, task }, wanted);
    expect(problems.map(({ message }) => message)).toEqual([`delete it. ${use}`, "other"]);
    expect(entry.message).toBe(`delete it. ${use}`);
  });

  test("says what the plan says", () => {
    const plan = { machine: toMachine("worker", 0), parts: [{ name: "CPUs", wanted: "2" }] };
    expect(
      reportProgress(toProgress(plan, {}, "exist"), { ...wanted, address: "192.0.2.1" }),
    ).toEqual({
      entry: {
        name: NAME,
        role: "worker",
        index: 0,
        host: "h1",
        machineId: "vm-worker-0",
        address: "192.0.2.1",
        state: "Ready",
      },
      isWanted: true,
      problems: [],
      parts: [{ name: "CPUs", wanted: "2" }],
      power: "running",
    });
  });

  test("keeps the ID of a machine that may be in a lost pool, and forgets that of one that is gone", () => {
    const idOf = (state: MachinePlan["state"]): string | undefined =>
      reportProgress(toProgress({ state }, {}, "exist"), wanted).entry.machineId;
    expect(idOf("Unknown")).toBe("vm-old");
    expect(idOf("Absent")).toBeUndefined();
  });

  test("says why a step failed before what the plan says, and a remark only if there is nothing else", () => {
    const plan = { problems: [toProblem("notice", "a hand edit")] };
    const failure = { kind: "retry", message: "no room" } as const;
    const say = (progress: Progress): string | undefined =>
      reportProgress(progress, { ...wanted, remark: "host b is paused" }).entry.message;
    expect(say(toProgress(plan, { failure }))).toBe("no room");
    expect(say(toProgress(plan))).toBe("a hand edit");
    expect(say(toProgress({}))).toBe("host b is paused");
  });
});

test("reportIdle() says what the cloud shows, without a plan", () => {
  const stateOf = (known: Parameters<typeof reportIdle>[0]): string =>
    reportIdle(known, false, "stays").entry.state;
  expect(stateOf(toKnown("worker", 0))).toBe("Ready");
  const half = toMachine("worker", 0, { isComplete: false });
  expect(stateOf(toKnown("worker", 0, "h1", { machine: half }))).toBe("Unfinished");
  const { machine: _gone, ...rest } = toKnown("worker", 0, "h1", {
    entry: toEntry("worker", 0, { machineId: "vm-1", address: "192.0.2.1" }),
  });
  expect(reportIdle(rest, true, "stays").entry).toMatchObject({
    state: "Unknown",
    machineId: "vm-1",
    address: "192.0.2.1",
  });
});

test("reportAbsent() says why a machine is not begun", () => {
  const { entry, isWanted } = reportAbsent(
    NAME,
    { role: "worker", index: 0, hostId: "h1" },
    "no address",
  );
  expect(entry).toEqual({
    name: NAME,
    role: "worker",
    index: 0,
    host: "h1",
    state: "Absent",
    message: "no address",
  });
  expect(isWanted).toBe(true);
});

test("findAddress() takes that of the boot interface, otherwise the first there is", () => {
  const interfaces = ["a", "b", "c"].map((name, at) => ({
    name,
    network: name,
    mac: "",
    addresses: at === 0 ? [] : [{ ip: `192.0.2.${at}`, prefixLength: 24 }],
    routes: [],
    dnsServers: [],
  }));
  expect(findAddress(interfaces, { bootInterfaceName: "c" })).toBe("192.0.2.2");
  expect(findAddress(interfaces, { bootInterfaceName: "a" })).toBe("192.0.2.1");
  expect(findAddress(interfaces, {})).toBe("192.0.2.1");
  expect(findAddress([], {})).toBeUndefined();
});

describe("reportProgress() while a machine is made again", () => {
  const setbacks = [toProblem("retry", "no room")];
  const tell = (plan: Partial<MachinePlan>): string[] => {
    const progress = toProgress({ state: "Creating", ...plan }, { setbacks }, "exist");
    const { entry, problems } = reportProgress(progress, { isWanted: true, now: NOW });
    return [entry.message ?? "", ...problems.map(({ message }) => message)];
  };

  test("says why the last attempt failed", () => {
    expect(tell({})).toEqual(["no room", "no room"]);
    const notice = toProblem("notice", "worth knowing");
    expect(tell({ problems: [notice] })).toEqual(["no room", "no room", "worth knowing"]);
  });

  test("says only what is wrong now, if something is", () => {
    const slow = toProblem("retry", "it takes long");
    expect(tell({ problems: [slow] })).toEqual(["it takes long", "it takes long"]);
  });
});

describe("reportProgress() says what a machine waits for", () => {
  const LATER = { dueMs: 40_999, retryMs: 40_999 };
  const FAILED = { problems: [toProblem("retry", "no room")] };

  test.each<
    [string, Partial<MachinePlan>, Partial<Progress>, string | undefined, string | undefined]
  >([
    [
      "a turn",
      { state: "Absent" },
      { dueMs: 0 },
      "after others: it makes only a few at once",
      undefined,
    ],
    ["a time", { state: "Absent" }, LATER, "Landfall makes it at 2026-01-01T00:00:40Z", undefined],
    ["an answer", { state: "Unknown" }, {}, "Landfall asks the cloud whether it exists", undefined],
    ["another attempt", { state: "Absent", ...FAILED }, LATER, "no room", "2026-01-01T00:00:40Z"],
    ["an attempt that runs", { state: "Absent", ...FAILED }, {}, "no room", undefined],
    ["nothing", { state: "Ready" }, { dueMs: 0 }, undefined, undefined],
  ])("%s", (_title, plan, change, message, expected) => {
    const now = { monotonicMs: 1_000, wallMs: Date.UTC(2026, 0, 1, 0, 0, 0, 1) };
    const at = { dueMs: Infinity, retryMs: -Infinity, ...change };
    const progress = toProgress(plan, at, "exist");
    const { entry, retryAt } = reportProgress(progress, { isWanted: true, now });
    if (message === undefined) expect(entry.message).toBeUndefined();
    else expect(entry.message).toEndWith(message);
    expect(retryAt).toBe(expected);
  });
});
