import { describe, expect, test } from "bun:test";
import {
  isDoubtDue,
  isDoubtful,
  judgeAttempt,
  toDoubtLeftMs,
  toFailure,
  toSettled,
  toWaitMs,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/find/attempt.ts";
import type { CreateTask } from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import type { VmRecord } from "../../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import { NAME, NOW, toView } from "../../scene.ts";

const PENDING: CreateTask = { id: "t2", status: "pending" };
const FAILED: CreateTask = { id: "t1", status: "failure", error: "HANDLE_INVALID" };
const DONE: CreateTask = { id: "t1", status: "success", vmId: "vm-1" };
const INTERRUPTED: CreateTask = { id: "t1", status: "interrupted" };

function judge(tasks: readonly CreateTask[], record: VmRecord = {}): string {
  const attempt = judgeAttempt(NAME, toView({ tasks }).stock, record, NOW);
  if (attempt.kind === "over") return `over ${attempt.task?.id ?? "none"}`;
  return `running ${attempt.againMs} ${attempt.problem?.reason ?? ""}`.trim();
}

describe("judgeAttempt()", () => {
  test.each<[string, readonly CreateTask[], VmRecord, string]>([
    ["waits while a task is pending", [PENDING, FAILED], {}, "running 2000"],
    [
      "says when a task is pending for long",
      [PENDING],
      { at: NOW - 1e6 },
      "running 2000 CreateSlow",
    ],
    ["is over without a record and without a task", [], {}, "over none"],
    ["finds the newest task without a record", [DONE], {}, "over t1"],
    ["finds the task of the record", [FAILED, DONE], { at: NOW, task: "t1" }, "over t1"],
    ["waits for a request whose answer was lost", [], { at: NOW - 5_000 }, "running 25000"],
    [
      "does so although an older task is shown",
      [FAILED],
      { at: NOW, prior: "t1" },
      "running 30000",
    ],
    [
      "does not take an older task for that of a lost answer",
      [FAILED],
      { at: NOW, prior: "t2" },
      "running 30000",
    ],
    ["finds the task of a lost answer", [FAILED], { at: NOW, prior: "t0" }, "over t1"],
    ["gives a lost request up", [], { at: NOW - 31_000 }, "over none"],
    ["waits for nothing after a refusal", [], { at: NOW, refused: true }, "over none"],
    [
      "waits for a task that is not shown",
      [],
      { at: NOW, task: "t9" },
      "running 10000 TaskNotShown",
    ],
    ["gives a task up that is not shown", [], { at: NOW - 6e5, task: "t9" }, "over none"],
    ["takes a time in the future for now", [], { at: NOW + 9e9 }, "running 30000"],
  ])("%s", (_what, tasks, record, judged) => {
    expect(judge(tasks, record)).toBe(judged);
  });

  test("decides nothing without a right to see tasks", () => {
    const { tasks: _tasks, ...stock } = toView().stock;
    expect(judgeAttempt(NAME, stock, {}, NOW)).toMatchObject({
      kind: "running",
      problem: { reason: "NoRight", kind: "decision" },
    });
  });
});

test.each<[VmRecord, number]>([
  [{}, 0],
  [{ at: NOW - 1_000, tries: 1 }, 4_000],
  [{ at: NOW - 1_000, tries: 3 }, 19_000],
  [{ at: NOW - 1_000, tries: 99 }, 599_000],
  [{ at: NOW - 60_000, tries: 1 }, 0],
  [{ at: NOW, vm: "vm-1" }, 0],
])("toWaitMs() waits longer after each attempt: %o", (record, ms) => {
  expect(toWaitMs(record, NOW)).toBe(ms);
});

test.each<[CreateTask | undefined, string | undefined]>([
  [undefined, undefined],
  [DONE, undefined],
  [FAILED, "CreateFailed"],
  [{ ...FAILED, error: "SR_BACKEND_FAILURE_44(, There is insufficient space, )" }, "StorageFull"],
  [{ id: "t", status: "interrupted" }, "CreateInterrupted"],
])("toFailure() names what happened: %o", (task, reason) => {
  expect(toFailure(NAME, task === undefined ? {} : { task })?.reason).toBe(reason);
});

test.each<[string, CreateTask | undefined, VmRecord, boolean]>([
  ["no attempt", undefined, {}, false],
  ["a lost request", undefined, { at: 1 }, true],
  ["a restart of the server", { id: "t1", status: "interrupted" }, { at: 1, task: "t1" }, true],
  ["a failure", FAILED, { at: 1, task: "t1" }, false],
  ["a success", DONE, { at: 1, task: "t1" }, false],
  ["a refusal", undefined, { at: 1, refused: true }, false],
  ["a complete machine", undefined, { at: 1, vm: "vm-1" }, false],
])("isDoubtful() after %s", (_what, task, record, expected) => {
  expect(isDoubtful({ ...(task && { task }) }, record)).toBe(expected);
});

test.each<[string, CreateTask | undefined, VmRecord, number]>([
  ["no attempt", undefined, {}, 0],
  ["a restart of the server", INTERRUPTED, { at: NOW - 60_000, task: "t1" }, 1_740_000],
  ["a restart long ago", INTERRUPTED, { at: NOW - 1_800_000, task: "t1" }, 0],
  ["a restart whose record is lost", { ...INTERRUPTED, endMs: NOW - 60_000 }, {}, 1_740_000],
  ["a success whose record is lost", { ...DONE, endMs: NOW - 60_000 }, {}, 0],
  ["an earlier restart", DONE, { vm: "vm-1", doubtAt: NOW - 300_000 }, 1_500_000],
  ["two restarts", INTERRUPTED, { at: NOW, task: "t1", doubtAt: NOW - 300_000 }, 1_800_000],
  ["a restart, after what it left was deleted", INTERRUPTED, { at: NOW, refused: true }, 0],
  ["a clock that went back", INTERRUPTED, { at: NOW + 9e9, task: "t1" }, 1_800_000],
])("toDoubtLeftMs() after %s", (_what, task, record, ms) => {
  expect(toDoubtLeftMs({ ...(task && { task }) }, record, NOW)).toBe(ms);
});

test.each<[string, readonly CreateTask[], VmRecord, boolean]>([
  ["the only attempt", [INTERRUPTED], { at: 1, task: "t1" }, true],
  ["an attempt after a failed one", [DONE, INTERRUPTED], { at: 1, prior: "t1" }, true],
  ["an attempt after one that is in doubt", [INTERRUPTED], { at: 1, doubtAt: 1 }, false],
  ["a request that arrived twice", [INTERRUPTED, PENDING], { at: 1, prior: "t0" }, false],
  ["no attempt of the record", [INTERRUPTED], {}, false],
  ["a machine that was complete", [INTERRUPTED], { at: 1, vm: "vm-1" }, false],
])("toSettled() with %s", (_what, tasks, record, isSettled) => {
  const after = toSettled(NAME, toView({ tasks }).stock, record);
  expect(after).toEqual(isSettled ? { ...record, refused: true } : undefined);
});

test("isDoubtDue() after half an hour", () => {
  expect([isDoubtDue({}, NOW), isDoubtDue({ doubtAt: NOW - 1_799_999 }, NOW)]).toEqual([
    false,
    false,
  ]);
  expect(isDoubtDue({ doubtAt: NOW - 1_800_000 }, NOW)).toBe(true);
});
