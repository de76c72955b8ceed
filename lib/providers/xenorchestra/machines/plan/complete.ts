/**
 * Plans how a complete VM becomes as the specification wants it, and its first start. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import {
  type MachineProblem,
  type MachineSpec,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import { type Observation, type Vm, findShown, isComplete } from "../observe/observation.ts";
import {
  type Comparison,
  type Difference,
  findOtherTemplate,
  isBuilt,
  listAttachedDisks,
} from "./compare.ts";
import {
  type FullView,
  type OrphanDisk,
  findOrphanDisks,
  isDoubtDue,
  toOrphanDeletion,
  toOrphansWaitMs,
} from "./find.ts";
import {
  type Plan,
  nameTemplate,
  toChain,
  toNews,
  toNotice,
  toPlan,
  toRetry,
  toStep,
} from "./problems.ts";
import type { Wanted } from "./wanted.ts";
import type { Step } from "../steps.ts";
import { type VmRecord, toShownHash, toPartsHash, listHad } from "../vm_record.ts";
import { CHANGE_MS } from "../wire/changes.ts";
import { START_TAG, listReadyTags, toDiskName, toReadyTag, toSpecHash } from "../words.ts";

/** How to start it, or why it cannot be started now. */
interface FirstStart {
  readonly steps: readonly Step[];
  readonly problems: readonly MachineProblem[];
}

/** Whether a complete VM was never started since. Until then it must not be published: metal3 would keep it off. */
export function awaitsFirstStart({ tags, power }: Pick<Vm, "tags" | "power">): boolean {
  return tags.includes(START_TAG) && power === "stopped";
}

/** Plans it for a VM that is off. */
export function planFirstStart(cloud: Observation, spec: MachineSpec, vm: Vm): FirstStart {
  const name = toMachineName(spec);
  const vmId = vm.id;
  const hostId = vm.mark?.hostId ?? spec.hostId;
  const host = cloud.hostsById.get(hostId);
  if (host?.isEnabled !== true || host.poolId !== vm.poolId) {
    const message = `host ${host?.name ?? hostId} cannot start ${name} now: enable it, or start the VM on another host`;
    return { steps: [], problems: [toRetry("HostNotUsable", message)] };
  }
  const summary = `start VM ${name} on host ${host.name}`;
  const start = toNews(toStep(spec, summary, { kind: "start", vmId, hostId }));
  return { steps: toChain([start, toStartedNote(spec, vm)]), problems: [] };
}

/** The step that notes that the first start is over. */
function toStartedNote(spec: MachineSpec, { id: vmId }: Vm): Step {
  const summary = `note that ${toMachineName(spec)} was started`;
  return toStep(spec, summary, { kind: "removeTag", vmId, tag: START_TAG });
}

/** After this time a request to make a disk whose answer was lost has arrived, or never will. */
const ADDING_MS = CHANGE_MS + 10_000;

/** What is known about a complete VM. */
interface CompleteQuestion {
  readonly cloud: FullView;
  readonly spec: MachineSpec;
  readonly record: VmRecord;
  readonly vm: Vm;
  readonly wanted: Wanted;
  readonly comparison: Comparison;
}

/** Plans the changes, the first start, and what the record must say. */
export function planComplete(question: CompleteQuestion): Plan {
  const { cloud, spec, vm, comparison } = question;
  const { differences, parts } = comparison;
  const isOff = vm.power === "stopped";
  const now = differences.filter(({ needsStop }) => needsStop !== true || isOff);
  const waiting = differences.filter(({ needsStop }) => needsStop === true && !isOff);
  // The first one is shown alone where there is little room.
  const problems = [
    ...listMissing(question),
    ...differences.flatMap(({ problem }) => problem ?? []),
    ...toNeedsStop(spec, waiting),
    ...compareTemplate(question),
  ].toSorted((one, other) => URGENCY[one.kind] - URGENCY[other.kind]);
  const fixes = now.flatMap(({ fix }) =>
    fix ? [toNews(toStep(spec, fix.summary, fix.change))] : [],
  );
  const isSame = differences.length === 0 && problems.length === 0;
  const start = planStart(question);
  const sweeps = planSweeps(question);
  const notes = toNotes(question, isSame);
  const unsaved = toUnsaved(question, isSame);
  // If nothing differs, nothing else is changed between them.
  const due = toDue(question);
  const first = isSame ? toChain([...due, ...unsaved, ...notes]) : [...due, ...unsaved, ...fixes];
  const then = [...start.steps, ...(isSame ? [] : notes), ...sweeps.steps];
  const steps = [...first, ...then, ...toCertainty(question)];
  const machine = findShown(cloud, vm);
  const disks = listAttachedDisks(cloud.resources, vm);
  const state = awaitsFirstStart(vm) ? "Unfinished" : "Ready";
  return toPlan(state, {
    steps,
    againMs: sweeps.againMs,
    problems: [...problems, ...start.problems],
    machine,
    parts,
    isBuilt: isBuilt(comparison) && isClear(question),
    shown: toShownHash(vm),
    ...(disks && { disks }),
  });
}

/** The tag for the first start, if only the description of the last mark was written. */
function toDue({ spec, vm, record }: CompleteQuestion): Step[] {
  const isNew = record.vm !== vm.id && listReadyTags(vm.tags).length === 0;
  const isOff = vm.power === "stopped" && !vm.isStarted;
  if (!isNew || !isOff || !spec.isStarted || vm.tags.includes(START_TAG)) return [];
  const change = { kind: "addTag", vmId: vm.id, tag: START_TAG } as const;
  return [toStep(spec, `note that ${vm.name} was not started`, change)];
}

/** Whether the pool has all networks that the specification names. */
function isClear({ spec, wanted }: CompleteQuestion): boolean {
  return wanted.interfaces.length === spec.interfaces.length;
}

/**
 * Seeds that came after one was attached, and what came beside a disk that was added. Other disks may hold data, and a
 * person detached them.
 */
function planSweeps(question: CompleteQuestion): {
  readonly steps: readonly Step[];
  readonly againMs: number | undefined;
} {
  const { cloud, spec, record } = question;
  const seeds = findOrphanDisks(cloud, spec).filter(({ isSeed }) => isSeed);
  const added = findAdded(question);
  const loose = [...seeds, ...(added?.others ?? [])];
  const waits = [toOrphansWaitMs(loose) ?? 0, added?.leftMs ?? 0].filter((ms) => ms > 0);
  return {
    steps: loose
      .filter(({ waitMs }) => waitMs === 0)
      .map((one) => ({ ...toOrphanDeletion(spec, one, record), isCleanup: true })),
    againMs: waits.length === 0 ? undefined : Math.min(...waits),
  };
}

/**
 * What a disk left that was added: others of its name that were never described, so that no guest ever had them, and
 * how long one may still come, in milliseconds.
 *
 * @returns `undefined` if none was added, or nothing of it is left
 */
function findAdded({
  cloud,
  spec,
  vm,
  record: { vm: vmId, adding, addingAt = 0 },
  comparison,
}: CompleteQuestion): { readonly others: OrphanDisk[]; readonly leftMs: number } | undefined {
  if (vmId !== vm.id || adding === undefined || comparison.missing.includes(adding)) {
    return undefined;
  }
  const name = toDiskName(vm.name, adding);
  const others = findOrphanDisks(cloud, spec).filter(
    ({ disk }) => disk.name === name && disk.description === "",
  );
  const leftMs = Math.max(0, ADDING_MS - Math.max(0, cloud.atMs - addingAt));
  return others.length > 0 || leftMs > 0 ? { others, leftMs } : undefined;
}

/**
 * What the record lacks: the VM, after a crash between the last mark and the record, because without marks it would not
 * be known as complete; the parts that it has while nothing differs; and the disks that it has had.
 */
function toUnsaved(question: CompleteQuestion, isRight: boolean): Step[] {
  const { spec, vm, record, comparison } = question;
  const isKnown = record.vm === vm.id;
  const before = isKnown ? record : {};
  const parts = isRight ? toPartsHash(vm) : before.parts;
  const had = listHad(spec, before.had, comparison.missing);
  const isMissing = comparison.missing.some((name) => name === before.adding);
  // Its description may differ yet.
  const isOpen = isMissing || !isRight || findAdded(question) !== undefined;
  const { adding, addingAt } = isOpen ? before : {};
  const isSame = parts === before.parts && adding === before.adding;
  const hasSame = before.had === undefined || isDeepStrictEqual(had, before.had);
  if (isKnown && isSame && hasSame) return [];
  const { templates, doubtAt, uploadAt } = record;
  const kept = { templates, doubtAt, uploadAt, parts, had, adding, addingAt };
  const next = { vm: vm.id, pool: vm.poolId, ...kept };
  return [toStep(spec, `remember VM ${vm.name}`, { kind: "saveRecord", record: next })];
}

const URGENCY: Readonly<Record<MachineProblem["kind"], number>> = {
  decision: 0,
  retry: 1,
  notice: 2,
};

/**
 * What the spec names and the pool does not have. Without its network an interface cannot be compared or added, so a
 * person must correct the spec. The disks exist already.
 */
const KINDS: ReadonlyMap<string, MachineProblem["kind"]> = new Map([
  ["NetworkNotFound", "decision"],
  ["NetworkAmbiguous", "decision"],
  ["StorageNotFound", "notice"],
  ["StorageAmbiguous", "notice"],
]);

/** What a complete machine no longer needs is not told: its template, and room for its disks. */
function listMissing({ wanted }: CompleteQuestion): MachineProblem[] {
  return wanted.problems.flatMap((one): MachineProblem[] => {
    const kind = KINDS.get(one.reason);
    return kind === undefined ? [] : [{ ...one, kind }];
  });
}

function compareTemplate({ cloud, wanted, spec, vm }: CompleteQuestion): MachineProblem[] {
  const { template } = wanted;
  const from = findOtherTemplate(vm, template);
  if (template === undefined || from === undefined) return [];
  const [is, should] = [from, template.id].map((id) => nameTemplate(cloud.resources, id));
  const message =
    `${toMachineName(spec)} was made from ${is} and not from ${should}. Landfall leaves it as it is. ` +
    "If you delete it in Xen Orchestra, Landfall makes it again, and all data on its disks is lost";
  return [{ ...toNotice("TemplateDiffers", message), losesMachine: true }];
}

function toNeedsStop(spec: MachineSpec, waiting: readonly Difference[]): MachineProblem[] {
  if (waiting.length === 0) return [];
  const what = waiting
    .map(({ part }) => `${part.name} from ${part.actual ?? "none"} to ${part.wanted ?? "none"}`)
    .join(", ");
  const advice = "stop it, and start it again when this notice is gone";
  const message = `${toMachineName(spec)} must be shut down to change ${what}: ${advice}`;
  return [{ ...toNotice("NeedsStop", message), isWaiting: true }];
}

/** Starts a VM that was never started since it was completed, on its host. */
function planStart({ cloud, spec, vm }: CompleteQuestion): FirstStart {
  // Without the last mark it gets that first.
  if (!vm.tags.includes(START_TAG) || !isComplete(vm)) return { steps: [], problems: [] };
  if (vm.power !== "stopped") return { steps: [toStartedNote(spec, vm)], problems: [] };
  return planFirstStart(cloud, spec, vm);
}

/** Nothing of an earlier attempt is there, long after it: so none will come. */
function toCertainty({ cloud, spec, record }: CompleteQuestion): Step[] {
  if (!isDoubtDue(record, cloud.atMs)) return [];
  const { doubtAt: _doubtAt, uploadAt: _uploadAt, ...rest } = record;
  const summary = `note that no attempt to create ${toMachineName(spec)} is left`;
  return [toStep(spec, summary, { kind: "saveRecord", record: rest })];
}

/** Stands for the hash of a specification while the VM is as none wants it. */
const NO_SPEC = "differs";

/** Notes which specification the VM fulfils, so that no closer look is needed any more. */
function toNotes({ spec, vm }: CompleteQuestion, isSame: boolean): Step[] {
  const name = toMachineName(spec);
  const vmId = vm.id;
  const ready = listReadyTags(vm.tags);
  if (!isSame) {
    // Without any such tag it would not count as complete, so it gets one that no specification has.
    const tag = toReadyTag(NO_SPEC);
    const note = toStep(spec, `note that ${name} was complete`, { kind: "addTag", vmId, tag });
    return ready.length === 0 ? [note] : [];
  }
  const wanted = toReadyTag(toSpecHash(spec));
  const summary = `note that ${name} is as it should be`;
  const add = toStep(spec, summary, { kind: "addTag", vmId, tag: wanted });
  const old = ready.filter((tag) => tag !== wanted);
  const removals = old.map((tag) =>
    toStep(spec, `remove an old note from ${name}`, { kind: "removeTag", vmId, tag }),
  );
  return [...(ready.includes(wanted) ? [] : [add]), ...removals];
}
