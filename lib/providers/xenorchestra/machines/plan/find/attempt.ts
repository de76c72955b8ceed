/**
 * Judges how far the last attempt to create a VM is, by the record and by the tasks of Xen Orchestra. Pure.
 *
 * A task that runs may destroy the VM that it makes. So nothing is touched, and nothing is created, before it is clear
 * that none runs.
 * @module
 */
import type { MachineProblem } from "../../../../../cloud/capabilities/machines.ts";
import { toBackoffMs } from "../../../../../core/clock.ts";
import type { CreateTask, Stock, View } from "../../look/view.ts";
import type { VmRecord } from "../../vm_record.ts";
import type { EarlierVms } from "../../steps.ts";
import { SLOW_MS as UPLOADED_MS, TAKEN_MS } from "../../wire/timeouts.ts";
import { toDecision, toRetry } from "../problems.ts";

/** What is known about the last attempt. */
export type Attempt =
  /** No task runs for sure. `task`: how the last attempt ended, if that is known. */
  | { readonly kind: "over"; readonly task?: CreateTask }
  /** It may run. */
  | {
      readonly kind: "running";
      /** Whether it runs for sure. */
      readonly isPending?: boolean;
      readonly againMs: number;
      readonly problem?: MachineProblem;
    };

/** After this time a request whose answer was lost has arrived, or never will. */
const LOST_MS = TAKEN_MS + 10_000;
/** After this time a task that is not shown is over. */
const HIDDEN_MS = 600_000;
/** A task that takes longer is worth knowing. */
const SLOW_MS = 900_000;
/** For so long after an attempt that failed reads may show more. */
const TAKEN_BACK_MS = 1_000;
/** For so long after an attempt that succeeded reads may show less. */
const FRESH_MS = 10_000;
/** When to look again for what reads do not show yet. */
export const FRESH_PERIOD_MS = 500;
/** When to look again while a task runs. */
const PENDING_MS = 2_000;
/** After this time a hypervisor has finished what it was asked for. */
const DOUBT_MS = 1_800_000;
/** After this time an upload whose answer was lost has made a disk, or never will. */
const UPLOAD_MS = UPLOADED_MS + 10_000;
/** For so long looks must show templates at rest: what was made of them shows a moment later. */
const IDLE_MS = 2_000;
const BACKOFF = { baseMs: 5_000, capMs: 600_000, jitter: 0 };

/** Judges the last attempt. @param nowMs In wall-clock milliseconds */
export function judgeAttempt(name: string, stock: Stock, record: VmRecord, nowMs: number): Attempt {
  if (stock.tasks === undefined) {
    const advice = "give the user the privilege task read";
    const message = `Xen Orchestra does not show the tasks that create VMs: ${advice}`;
    return { kind: "running", againMs: HIDDEN_MS, problem: toDecision("NoRight", message) };
  }
  const tasks = stock.tasks.get(name) ?? [];
  const ageMs = toAgeMs(record, nowMs);
  const pending = tasks.find(({ status }) => status === "pending");
  if (pending !== undefined) {
    const message = `Xen Orchestra has been creating ${name} for a long time (task ${pending.id}): check its pool`;
    const isSlow = ageMs !== undefined && ageMs > SLOW_MS;
    return {
      kind: "running",
      isPending: true,
      againMs: PENDING_MS,
      ...(isSlow && { problem: toRetry("CreateSlow", message) }),
    };
  }
  const task = findTask(tasks, record);
  if (task?.status === "failure" && task.tookMs !== undefined && ageMs !== undefined) {
    // Reads may still show parts of what it took back.
    const againMs = task.tookMs + TAKEN_BACK_MS - ageMs;
    if (againMs > 0) return { kind: "running", againMs };
  }
  if (task !== undefined) return { kind: "over", task };
  if (ageMs === undefined || record.refused === true) return { kind: "over" };
  if (record.task === undefined) {
    return ageMs >= LOST_MS ? { kind: "over" } : { kind: "running", againMs: LOST_MS - ageMs };
  }
  if (ageMs >= HIDDEN_MS) return { kind: "over" };
  const advice = "check that the user has the privilege task read for its own tasks";
  const message = `Xen Orchestra does not show the task ${record.task} that creates ${name}: ${advice}`;
  return { kind: "running", againMs: 10_000, problem: toRetry("TaskNotShown", message) };
}

/**
 * Whether the last attempt succeeded so shortly ago that reads may not show all of it yet: then its success is the
 * truth, and what they lack is there.
 */
export function isFresh(
  { task }: { readonly task?: CreateTask },
  { at, vm, refused }: VmRecord,
  nowMs: number,
): boolean {
  const isOver = vm !== undefined || refused === true;
  if (at === undefined || isOver || task?.status !== "success") return false;
  return task.tookMs !== undefined && nowMs < at + task.tookMs + FRESH_MS;
}

/** Finds the task of the last attempt; without a record the newest one. */
function findTask(tasks: readonly CreateTask[], record: VmRecord): CreateTask | undefined {
  if (record.task !== undefined) return tasks.find(({ id }) => id === record.task);
  const [newest] = tasks;
  if (newest === undefined || record.prior === undefined) return newest;
  // Their IDs begin with the time, and an administrator may have deleted the one from before.
  return newest.id > record.prior ? newest : undefined;
}

/** The VMs that the machine had, as far as that is known, and that are not gone for sure. */
export function findEarlier(
  { task }: { readonly task?: CreateTask },
  record: VmRecord,
): EarlierVms {
  const { vm, pool: poolId, gone } = record;
  const vmIds = [...new Set([vm, task?.vmId])].filter((id) => id !== undefined);
  return { vmIds: gone === true ? [] : vmIds, ...(poolId !== undefined && { poolId }) };
}

/** Whether a hypervisor may still work on an attempt, and show something of it later. */
export function isDoubtful({ task }: { readonly task?: CreateTask }, record: VmRecord): boolean {
  if (record.at === undefined || record.refused === true || record.vm !== undefined) return false;
  return task === undefined || task.status === "interrupted";
}

/**
 * What to remember after the only thing that came of all attempts is deleted: so nothing comes late.
 *
 * @returns `undefined` if more may come
 */
export function toSettled(name: string, stock: Stock, record: VmRecord): VmRecord | undefined {
  const tasks = stock.tasks?.get(name) ?? [];
  const { at, prior = "", vm, doubtAt } = record;
  if (at === undefined || vm !== undefined || doubtAt !== undefined) return undefined;
  // A proxy that repeats requests makes two tasks.
  const isOnly = tasks.filter(({ id }) => id > prior).length <= 1;
  return isOnly ? { ...record, refused: true } : undefined;
}

/**
 * For how long something of an attempt may still come, in milliseconds; 0: nothing comes any more.
 *
 * What reached Xen Orchestra has a task. What reached a hypervisor shows on the template as long as it works on it, and
 * then the VM is there. So nothing comes as soon as looks show no task, no VM and templates at rest.
 */
export function toDoubtLeftMs(
  attempt: { readonly task?: CreateTask },
  record: VmRecord,
  { atMs: nowMs, stock }: Pick<View, "atMs"> & { readonly stock: Stock },
): number {
  const { task } = attempt;
  const isLost =
    record.at === undefined && record.vm === undefined && task?.status === "interrupted";
  const isDoubted = isDoubtful(attempt, record) || isLost;
  const restMs = toRestMs(stock, [...(record.templates ?? []), task?.template]);
  const toLeftMs = (sinceMs: number | undefined, ms: number): number =>
    sinceMs === undefined ? 0 : Math.max(0, ms - Math.max(0, nowMs - sinceMs));
  if (restMs === undefined) {
    const sinceMs = isLost ? task.endMs : isDoubted ? record.at : undefined;
    return Math.max(toLeftMs(record.doubtAt, DOUBT_MS), toLeftMs(sinceMs, DOUBT_MS));
  }
  const isOpen = isDoubted || record.doubtAt !== undefined;
  return Math.max(toLeftMs(record.uploadAt, UPLOAD_MS), isOpen ? restMs : 0);
}

/**
 * When no hypervisor makes a VM of these templates for sure, in milliseconds from now; `undefined`: that is not known.
 */
function toRestMs(
  { tasks, templates }: Stock,
  uuids: readonly (string | undefined)[],
): number | undefined {
  const asked = new Set(uuids.filter((uuid) => uuid !== undefined));
  const found = templates.filter(({ id, uuid }) => asked.has(uuid) || asked.has(id));
  const isKnown = tasks !== undefined && asked.size > 0 && found.length === asked.size;
  if (!isKnown || found.some(({ isBusy }) => isBusy)) return undefined;
  return Math.max(0, ...found.map(({ idleMs = 0 }) => IDLE_MS - idleMs));
}

/** Whether it is time to look for what an attempt left later. */
export function isDoubtDue({ doubtAt }: VmRecord, nowMs: number): boolean {
  return doubtAt !== undefined && nowMs - doubtAt >= DOUBT_MS;
}

/** How old the last attempt is; `undefined` if there was none. A clock that went back makes it new. */
function toAgeMs({ at }: VmRecord, nowMs: number): number | undefined {
  return at === undefined ? undefined : Math.max(0, nowMs - at);
}

/** How long to wait before the next attempt, in milliseconds; 0: not at all. */
export function toWaitMs(record: VmRecord, nowMs: number): number {
  const ageMs = toAgeMs(record, nowMs);
  if (ageMs === undefined || record.vm !== undefined) return 0;
  return Math.max(0, toBackoffMs(record.tries ?? 1, BACKOFF) - ageMs);
}

/** Says why the last attempt failed. @returns `undefined` if it did not, or that is not known */
export function toFailure(
  name: string,
  { task }: { readonly task?: CreateTask },
): MachineProblem | undefined {
  if (task === undefined || task.status === "success") return undefined;
  if (task.status !== "failure") {
    return toRetry("CreateInterrupted", `Xen Orchestra was interrupted while it created ${name}`);
  }
  const { error = "an unknown error" } = task;
  const isFull = /SR_BACKEND_FAILURE_44|insufficient space/i.test(error);
  const advice = isFull ? ": make room on the storage, or name another one" : "";
  const message = `Xen Orchestra could not create ${name}: ${error}${advice}`;
  return toRetry(isFull ? "StorageFull" : "CreateFailed", message);
}
