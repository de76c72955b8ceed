/**
 * Finds the VM of a machine in an observation, how far the last attempt to create it is, and what such an attempt left;
 * or says why that is not possible. Pure.
 *
 * A task that runs may destroy the VM that it makes. So nothing is touched, and nothing is created, before it is clear
 * that none runs.
 * @module
 */
import {
  type MachineIdentity,
  type MachineProblem,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import { toBackoffMs } from "../../../../core/clock.ts";
import { quote } from "../../../../core/text/printable.ts";
import {
  type Attached,
  type CreateTask,
  type Disk,
  type Resources,
  type Template,
  type Observation,
  type Vm,
  isComplete,
} from "../observe/observation.ts";
import {
  type Plan,
  RENAME_OR_DELETE,
  findLostPool,
  toDecision,
  toPlan,
  toRetry,
  toStep,
} from "./problems.ts";
import type { EarlierVms, Step } from "../steps.ts";
import type { VmRecord } from "../vm_record.ts";
import { SLOW_MS as UPLOADED_MS, TAKEN_MS } from "../wire/changes.ts";
import {
  SEED_DISK,
  findUidTag,
  isDiskNameOf,
  isMarkOf,
  parseDiskMark,
  toDiskName,
} from "../words.ts";

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
/** For so long after an attempt began, or succeeded, reads may show less. */
const FRESH_MS = 10_000;
/** When to look again for what reads do not show yet. */
export const FRESH_PERIOD_MS = 500;
/** When to look again while a task runs. */
const PENDING_MS = 2_000;
/** After this time a hypervisor has finished what it was asked for. */
const DOUBT_MS = 1_800_000;
/** After this time an upload whose answer was lost has made a disk, or never will. */
const UPLOAD_MS = UPLOADED_MS + 10_000;
/** For so long observations must show templates at rest: what was made of them shows a moment later. */
const IDLE_MS = 2_000;
const BACKOFF = { baseMs: 5_000, capMs: 600_000, jitter: 0 };

/** Judges the last attempt. @param nowMs In wall-clock milliseconds */
export function judgeAttempt(
  name: string,
  resources: Resources,
  record: VmRecord,
  nowMs: number,
): Attempt {
  if (resources.tasks === undefined) {
    const advice = "give the user the privilege task read";
    const message = `Xen Orchestra does not show the tasks that create VMs: ${advice}`;
    return { kind: "running", againMs: HIDDEN_MS, problem: toDecision("NoRight", message) };
  }
  const tasks = resources.tasks.get(name) ?? [];
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
  // The list of tasks follows the answer that names a new one, by milliseconds.
  if (ageMs < FRESH_MS) return { kind: "running", againMs: PENDING_MS };
  // If others are shown, xo-server died before it kept this one.
  const isLost = ageMs >= LOST_MS && resources.tasks.size > 0;
  if (isLost || ageMs >= HIDDEN_MS) return { kind: "over" };
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
export function toSettled(
  name: string,
  resources: Resources,
  record: VmRecord,
): VmRecord | undefined {
  const tasks = resources.tasks?.get(name) ?? [];
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
 * then the VM is there. So nothing comes as soon as observations show no task, no VM and templates at rest.
 */
export function toDoubtLeftMs(
  attempt: { readonly task?: CreateTask },
  record: VmRecord,
  { atMs: nowMs, resources }: Pick<Observation, "atMs"> & { readonly resources: Resources },
): number {
  const { task } = attempt;
  const isLost =
    record.at === undefined && record.vm === undefined && task?.status === "interrupted";
  const isDoubted = isDoubtful(attempt, record) || isLost;
  const restMs = toRestMs(resources, [...(record.templates ?? []), task?.template]);
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
  { tasks, templates }: Resources,
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

/** What is known about the machine. */
interface HalfMadeQuestion {
  readonly identity: MachineIdentity;
  readonly resources: Resources;
  readonly record: VmRecord;
  /** The template that is named now, if it is known. */
  readonly template?: Template | undefined;
}

/** Whose a VM or template is, by what it says itself. `unmarked`: it says nothing. */
export function judgeOwner(vm: Vm, identity: MachineIdentity): "ours" | "unmarked" | "foreign" {
  if (vm.mark !== undefined) return isMarkOf(vm.mark, identity) ? "ours" : "foreign";
  const uid = findUidTag(vm.tags);
  if (uid === undefined) return "unmarked";
  return uid === identity.owner.uid ? "ours" : "foreign";
}

/** Whether a VM was complete once: then it is never half-made, even if a person removed its marks. */
export function wasComplete(vm: Vm, { vm: completeId }: VmRecord): boolean {
  return isComplete(vm) || vm.mark?.isReady === true || vm.id === completeId;
}

/**
 * Says why a VM or template must not be deleted as half-made. No task with its name may run: the caller knows.
 *
 * @returns A clause; `undefined` if it may
 */
export function explainKeeping(vm: Vm | Template, question: HalfMadeQuestion): string | undefined {
  const { identity, resources, record, template } = question;
  const name = toMachineName(identity);
  const tasks = resources.tasks?.get(name) ?? [];
  if (vm.name !== name) return "it has another name";
  if (judgeOwner(vm, identity) === "foreign") return "it has the mark of another machine";
  if (wasComplete(vm, record)) return "it was complete once";
  if ("isDefault" in vm && vm.isDefault) return "it is a default template";
  if (template !== undefined && [template.id, template.uuid].includes(vm.id)) {
    return "it is the template of the machine";
  }
  const isAsked = tasks.length > 0 || record.at !== undefined || vm.creation?.user !== undefined;
  if (!isAsked) return "nothing says that Landfall asked for it";
  if (vm.power !== "stopped") return "it is not halted";
  if (vm.isStarted) return "it was started";
  if (vm.isBusy) return "an operation runs on it";
  if (vm.hasSnapshots) return "it has a snapshot";
  const asked = listAsked(question, tasks);
  return explainCreation(vm, resources, asked) ?? explainDisks(vm, { name, resources, asked });
}

/** IDs and UUIDs of the templates that it may have been asked for from. */
function listAsked(
  { template, record }: HalfMadeQuestion,
  tasks: readonly CreateTask[],
): ReadonlySet<string> {
  const all = [template?.uuid, template?.id, ...(record.templates ?? [])];
  const known = [...all, ...tasks.map((task) => task.template)];
  return new Set(known.filter((one) => one !== undefined));
}

function explainCreation(
  { creation }: Vm,
  resources: Resources,
  asked: ReadonlySet<string>,
): string | undefined {
  if (creation?.user === undefined && creation?.template === undefined) return undefined;
  if (resources.userId === undefined || creation.user !== resources.userId)
    return "another user made it";
  const isAsked = creation.template !== undefined && asked.has(creation.template);
  return isAsked ? undefined : "it was made from another template";
}

/** A half-made VM has only disks of its own, and those of its template under their old names. */
function explainDisks(
  vm: Vm,
  {
    name,
    resources,
    asked,
  }: Pick<HalfMadeQuestion, "resources"> & {
    readonly name: string;
    readonly asked: ReadonlySet<string>;
  },
): string | undefined {
  const links = resources.attached.get(vm.id) ?? [];
  const seen = new Set(links.map(({ linkId }) => linkId));
  if (vm.linkIds.some((id) => !seen.has(id))) return "one of its disks cannot be seen";
  const templates = resources.templates.filter(({ id, uuid }) => asked.has(id) || asked.has(uuid));
  const inherited = templates.flatMap(({ id }) => resources.attached.get(id) ?? []);
  const names = new Set(inherited.map(({ disk }) => disk?.name));
  const isOwn = ({ isCd, diskId, disk }: Attached): boolean =>
    isCd ||
    diskId === undefined ||
    (disk !== undefined && (isDiskNameOf(name, disk.name) || names.has(disk.name)));
  return links.every(isOwn) ? undefined : "it has a disk that Landfall did not make";
}

/**
 * For so long observations must show a disk as unused before it is deleted: they follow what uses it late, and perhaps
 * another process attached it.
 */
const UNUSED_MS = 10_000;

/** A disk that nothing uses. */
export interface OrphanDisk {
  readonly disk: Disk;
  /** When it may be deleted, in milliseconds from the observation on; 0: now. */
  readonly waitMs: number;
  /** Whether it is the one that the machine reads at its first start: it holds nothing of a guest. */
  readonly isSeed: boolean;
}

/** Disks with a name that only this machine can have, and without the mark of another one. */
export function findOrphanDisks({ resources }: FullView, identity: MachineIdentity): OrphanDisk[] {
  return listOwn(resources.orphans, identity);
}

/** When the first of these disks may be deleted that must wait, in milliseconds; `undefined`: all may be deleted. */
export function toOrphansWaitMs(orphans: readonly OrphanDisk[]): number | undefined {
  const waits = orphans.flatMap(({ waitMs }) => (waitMs > 0 ? [waitMs] : []));
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** Of disks of this machine, those that are not shown as they are: what they were attached to is gone. */
export function findAdriftDisks({ resources }: FullView, identity: MachineIdentity): OrphanDisk[] {
  return listOwn(resources.adrift, identity);
}

/** Waits until reads show what became of disks; the controller waits longer each time. */
export function planAdrift(disks: readonly OrphanDisk[]): Plan {
  const some = disks.map(({ disk: { id, name } }) => `${name} (${id})`).join(", ");
  const what = `Xen Orchestra shows ${some} as attached to a VM that it does not show`;
  const advice =
    "if that does not pass, give the user the right to see that VM, or rename the disk to keep it";
  const problems = [toRetry("DisksUnclear", `${what}: ${advice}`)];
  return toPlan("Unknown", { problems, againMs: FRESH_PERIOD_MS });
}

function listOwn(
  disks: readonly (Disk & { readonly unusedMs?: number })[],
  identity: MachineIdentity,
): OrphanDisk[] {
  const name = toMachineName(identity);
  const seed = toDiskName(name, SEED_DISK);
  const isOurs = ({ name: called, description }: Disk): boolean => {
    const mark = parseDiskMark(description);
    return isDiskNameOf(name, called) && (mark === undefined || isMarkOf(mark, identity));
  };
  return disks.filter(isOurs).map(({ unusedMs = 0, ...disk }) => {
    return { disk, isSeed: disk.name === seed, waitMs: Math.max(0, UNUSED_MS - unusedMs) };
  });
}

/** The step that deletes a disk that nothing uses. */
export function toOrphanDeletion(
  identity: MachineIdentity,
  { disk: { id, name }, isSeed }: Pick<OrphanDisk, "disk" | "isSeed">,
  record: Pick<VmRecord, "at" | "vm">,
): Step {
  const change = { kind: "deleteDisk", diskId: id, diskName: name } as const;
  const step = toStep(identity, `delete disk ${name} (${id}), which nothing uses`, change);
  return isSeed || isOfAttempt(record) ? { ...step, isCleanup: true } : step;
}

/** Whether disks that nothing uses are of an attempt: none begins while disks of a VM that was complete are there. */
export function isOfAttempt({ at, vm }: Pick<VmRecord, "at" | "vm">): boolean {
  return vm === undefined && at !== undefined;
}

/** A view for a change. */
export type FullView = Observation & { readonly resources: Resources };

/** What to find. */
interface FindQuestion {
  readonly cloud: FullView;
  readonly identity: MachineIdentity;
  readonly record: VmRecord;
  /** The pool where it belongs. Absent: not known. */
  readonly poolId?: string;
  readonly template?: Template | undefined;
}

/** What was found. */
export type Found =
  /** It is not known whether it exists. */
  | { readonly kind: "unknown"; readonly problem: MachineProblem }
  /** Xen Orchestra may be making it. */
  | { readonly kind: "running"; readonly attempt: Attempt & { kind: "running" }; readonly vm?: Vm }
  /** A person must decide. */
  | {
      readonly kind: "blocked";
      readonly problem: MachineProblem;
      /** Whether only something that is not ours is there. @default {false} */
      readonly isForeign?: boolean;
    }
  /** Something half-made must go first. */
  | { readonly kind: "leftover"; readonly steps: readonly Step[] }
  | { readonly kind: "complete"; readonly vm: Vm }
  /** There is one VM, which is not complete. */
  | { readonly kind: "unfinished"; readonly vm: Vm; readonly attempt: Attempt & { kind: "over" } }
  | { readonly kind: "none"; readonly attempt: Attempt & { kind: "over" } };

/** Finds the VM. */
export function findMachine(question: FindQuestion): Found {
  const { cloud, identity, record } = question;
  const name = toMachineName(identity);
  const all = cloud.vms.get(name) ?? [];
  const vms = all.filter((vm) => judgeOwner(vm, identity) !== "foreign");
  const unknown = explainUnknown(question, vms);
  if (unknown !== undefined) return { kind: "unknown", problem: unknown };
  const attempt = judgeAttempt(name, cloud.resources, record, cloud.atMs);
  const [vm, ...others] = vms;
  const isDone = vm !== undefined && others.length === 0 && wasComplete(vm, record);
  if (attempt.kind === "running" && (attempt.isPending === true || !isDone)) {
    return { kind: "running", attempt, ...(vm && { vm }) };
  }
  const templates = findTemplates(question, vms, isDone);
  if (templates !== undefined) return templates;
  if (others.length > 0) return findTwins(question, vms);
  if (isDone) return { kind: "complete", vm };
  // Without a right to see tasks nothing comes this far.
  if (attempt.kind === "running") return { kind: "running", attempt };
  if (vm !== undefined) return { kind: "unfinished", vm, attempt };
  // What was just made is not absent.
  if (isFresh(attempt, record, cloud.atMs)) {
    return { kind: "running", attempt: { kind: "running", againMs: FRESH_PERIOD_MS } };
  }
  return findImpostor(question, all) ?? { kind: "none", attempt };
}

/** Why it is not known whether the machine exists, or whether what is shown of it is all. */
function explainUnknown(
  { cloud, record, poolId }: FindQuestion,
  vms: readonly Vm[],
): MachineProblem | undefined {
  const needed = vms.length > 0 ? vms.map((vm) => vm.poolId) : [poolId ?? record.pool];
  for (const id of needed) {
    const problem = id === undefined ? undefined : findLostPool(cloud.pools, id);
    if (id === undefined || problem === undefined) continue;
    // Another pool that does not answer may hold it now.
    const isMissing = cloud.gap === undefined && cloud.pools.every((pool) => pool.id !== id);
    return isMissing ? { ...problem, missingPoolId: id } : problem;
  }
  if (vms.length > 0 || cloud.gap === undefined) return undefined;
  // A machine that was never asked for can be in no other pool.
  const wasAsked = record.at !== undefined || record.vm !== undefined || poolId === undefined;
  if (!wasAsked) return undefined;
  return toRetry("PoolNotConnected", `${cloud.gap}, and the machine may be there`);
}

/** Half-made templates with its name. */
function findTemplates(
  question: FindQuestion,
  vms: readonly Vm[],
  isDone: boolean,
): Found | undefined {
  const { cloud, identity, record, template } = question;
  const { resources } = cloud;
  const name = toMachineName(identity);
  const templates = resources.templates.filter((one) => one.name === name);
  for (const one of templates) {
    const why = explainKeeping(one, { identity, resources, record, template });
    if (why === undefined) {
      const thing = { id: one.id, kind: "template", poolId: one.poolId } as const;
      const step = toStep(identity, `delete half-made template ${name} (${one.id})`, {
        kind: "deleteHalfMade",
        thing,
        inherited: listInherited(resources, one),
        userId: resources.userId,
        ...toNextRecord(question, [...vms, ...templates].length),
      });
      return { kind: "leftover", steps: [{ ...step, isCleanup: true }] };
    }
    if (isDone) continue;
    const what = `template ${name} (${one.id}) is in the way`;
    const message = `${what}, and Landfall does not delete it because ${why}: ${RENAME_OR_DELETE}`;
    return { kind: "blocked", problem: toDecision("NameTaken", message) };
  }
  return undefined;
}

/** The record after a deletion. @param count How many things have the name */
function toNextRecord(
  { cloud, identity, record }: Pick<FindQuestion, "identity" | "record" | "cloud">,
  count: number,
): { readonly record?: VmRecord } {
  const settled = toSettled(toMachineName(identity), cloud.resources, record);
  return count === 1 && settled !== undefined ? { record: settled } : {};
}

/** The disks of something half-made that have names of the template, and none of its own. */
function listInherited({ attached }: Resources, { id, name }: Vm): string[] {
  return (attached.get(id) ?? []).flatMap(({ isCd, disk }) =>
    isCd || disk === undefined || isDiskNameOf(name, disk.name) ? [] : [disk.id],
  );
}

/** Of several VMs with its name the complete one stays, otherwise the oldest one. */
function findTwins(question: FindQuestion, vms: readonly Vm[]): Found {
  const { identity, record } = question;
  const name = toMachineName(identity);
  const complete = vms.filter((vm) => wasComplete(vm, record));
  const ids = vms.map(({ id }) => id).join(", ");
  const what = `${vms.length} VMs have the name ${name} (${ids})`;
  if (complete.length > 1) {
    const advice =
      "find out which one its BareMetalHost means, and rename the others to keep their data";
    const message = `${what}, and more than one of them was complete: ${advice}, or delete those with their data`;
    const problem = { ...toDecision("TwoMachines", message), losesMachine: true };
    return { kind: "blocked", problem };
  }
  const [oldest] = vms.toSorted((one, other) => toBirthMs(one) - toBirthMs(other));
  const survivor = complete[0] ?? oldest;
  const steps: Step[] = [];
  for (const vm of vms) {
    if (vm === survivor) continue;
    const why = explainKeeping(vm, { ...question, resources: question.cloud.resources });
    if (why !== undefined) {
      const message = `${what}: Landfall does not delete ${vm.id} because ${why}: ${RENAME_OR_DELETE}`;
      return { kind: "blocked", problem: toDecision("TwoMachines", message) };
    }
    steps.push(toDeletion(question, vm, "second"));
  }
  return { kind: "leftover", steps };
}

function toBirthMs({ creation }: Vm): number {
  return creation?.dateMs ?? Number.MAX_SAFE_INTEGER;
}

/** The step that deletes a half-made VM. */
export function toDeletion(
  question: Pick<FindQuestion, "identity" | "record" | "cloud">,
  vm: Vm,
  word: "half-made" | "second",
): Step {
  const { identity, cloud } = question;
  const thing = { id: vm.id, kind: "vm", poolId: vm.poolId } as const;
  const step = toStep(identity, `delete ${word} VM ${vm.name} (${vm.id})`, {
    kind: "deleteHalfMade",
    thing,
    inherited: listInherited(cloud.resources, vm),
    userId: cloud.resources.userId,
    ...(word === "half-made" && toNextRecord(question, 1)),
  });
  return { ...step, isCleanup: true };
}

/** Finds a VM that stands in the way although it is not the machine. */
function findImpostor(
  { cloud, identity, record }: FindQuestion,
  all: readonly Vm[],
): Found | undefined {
  const name = toMachineName(identity);
  const [foreign] = all;
  if (foreign !== undefined) {
    const message = `VM ${name} (${foreign.id}) is not of this machine: ${RENAME_OR_DELETE}`;
    return { kind: "blocked", problem: toDecision("NameTaken", message), isForeign: true };
  }
  // The tag names only the Vino, so the record must name the VM.
  const stray = cloud.strays.find(
    (vm) => judgeOwner(vm, identity) === "ours" && (vm.mark !== undefined || vm.id === record.vm),
  );
  if (stray === undefined) return undefined;
  const mark = stray.mark === undefined ? `the tag of ${name}` : `the mark of ${name}`;
  const remedy =
    stray.mark === undefined
      ? "remove its tag vino:uid=… if it is not that machine any more"
      : 'remove "vino uid=…" from its description if it is a copy';
  const message = `VM ${quote(stray.name)} (${stray.id}) has ${mark}: name it ${name} again, or ${remedy}`;
  return { kind: "blocked", problem: toDecision("MachineRenamed", message) };
}
