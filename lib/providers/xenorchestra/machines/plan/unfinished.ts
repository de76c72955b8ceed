/**
 * Plans how a VM that Xen Orchestra made becomes complete, or that it must be made again. Pure.
 * @module
 */
import { type MachineSpec, toMachineName } from "../../../../cloud/capabilities/machines.ts";
import { type Comparison, findFreePosition } from "./compare.ts";
import { type Vm, findShown } from "../observe/observation.ts";
import { type VmRecord, listHad, toPartsHash } from "../vm_record.ts";
import type { Step } from "../steps.ts";
import {
  BLOCK_REASON,
  formatMark,
  listOwnTags,
  OWN_TAG,
  SEED_DISK,
  START_TAG,
  TAG_PREFIX,
  toDiskName,
  toReadyTag,
  toSpecHash,
} from "../words.ts";
import {
  type Attempt,
  FRESH_PERIOD_MS,
  type FullView,
  type OrphanDisk,
  explainKeeping,
  findAdriftDisks,
  findOrphanDisks,
  isFresh,
  isOfAttempt,
  planAdrift,
  toDeletion,
  toFailure,
  toOrphanDeletion,
  toOrphansWaitMs,
} from "./find.ts";
import { type Plan, RENAME_OR_DELETE, toChain, toDecision, toPlan, toStep } from "./problems.ts";
import { planFirstStart } from "./complete.ts";
import type { Wanted } from "./wanted.ts";

/** When to look again while the hypervisor works on it, in milliseconds. */
const BUSY_MS = 5_000;

/** What is known about it. */
interface UnfinishedQuestion {
  readonly cloud: FullView;
  readonly spec: MachineSpec;
  readonly record: VmRecord;
  readonly wanted: Wanted;
  readonly vm: Vm;
  readonly attempt: Attempt & { readonly kind: "over" };
  readonly comparison: Comparison;
}

/** Plans. A VM that is not as it was asked for is made again. */
export function planUnfinished(question: UnfinishedQuestion): Plan {
  const { cloud, spec, wanted, vm, comparison } = question;
  const { parts } = comparison;
  const machine = findShown(cloud, vm);
  if (vm.power !== "stopped" || vm.isStarted) {
    const what = `VM ${vm.name} (${vm.id}) was started before it was complete`;
    const message = `${what}: shut it down, then ${RENAME_OR_DELETE}`;
    const problems = [toDecision("StartedTooEarly", message)];
    return toPlan("Blocked", { problems, machine, parts });
  }
  if (vm.isBusy) return toPlan("Creating", { machine, parts, againMs: BUSY_MS });
  const { attempt, record } = question;
  if (comparison.differences.length > 0 && isFresh(attempt, record, cloud.atMs)) {
    return toPlan("Creating", { machine, parts, againMs: FRESH_PERIOD_MS });
  }
  // Of a disk that was just made, reads may not show yet that the VM has it.
  if (listLeft(question).length > 0 && isFresh(attempt, record, cloud.atMs)) {
    return toPlan("Creating", { machine, parts, againMs: FRESH_PERIOD_MS });
  }
  const adrift = isOfAttempt(record) ? findAdriftDisks(cloud, spec) : [];
  if (adrift.length > 0) {
    return { ...planAdrift(adrift), state: "Creating", parts, ...(machine && { machine }) };
  }
  // Its own disks take room.
  const problems = wanted.problems.filter(({ reason }) => reason !== "StorageFull");
  if (problems.length > 0) return toPlan("Blocked", { problems, machine, parts });
  const wrong = comparison.differences.filter(({ fix }) => fix === undefined);
  if (wrong.length > 0 || !isFromTask(question)) return planAgain(question);
  const fixes = comparison.differences.flatMap(({ fix }) =>
    fix ? [toStep(spec, fix.summary, fix.change)] : [],
  );
  const againMs = toOrphansWaitMs(listLoose(question));
  if (againMs !== undefined) return toPlan("Creating", { machine, parts, againMs });
  // What these came to is read back before the last mark.
  const before = [...fixes, ...toMarking(question), ...toSeeding(question)];
  const last = toChain([toReady(question), ...toFirstStart(question)]);
  return toPlan("Creating", { steps: [...toChain(before), ...last], machine, parts });
}

/** Whether the VM has the description that it was asked for: it comes a while after the VM itself. */
function isFromTask({ vm, attempt }: UnfinishedQuestion): boolean {
  return vm.mark !== undefined || attempt.task?.vmId === vm.id;
}

function planAgain(question: UnfinishedQuestion): Plan {
  const { cloud, spec, record, wanted, vm, attempt, comparison } = question;
  const { parts } = comparison;
  const machine = findShown(cloud, vm);
  const { template } = wanted;
  const why = explainKeeping(vm, { identity: spec, resources: cloud.resources, record, template });
  if (why !== undefined) {
    const what = `VM ${vm.name} (${vm.id}) is not as it was asked for`;
    const message = `${what}, and Landfall does not delete it because ${why}: ${RENAME_OR_DELETE}`;
    return toPlan("Blocked", {
      problems: [toDecision("MachineUnfinished", message)],
      machine,
      parts,
    });
  }
  const failure = toFailure(toMachineName(spec), attempt);
  const steps = [toDeletion({ identity: spec, cloud, record }, vm, "half-made")];
  return toPlan("Unfinished", { steps, machine, parts, problems: failure ? [failure] : [] });
}

/** Says whose it is, if its description does not: the last mark says all of it. */
function toMarking({ spec, vm }: UnfinishedQuestion): Step[] {
  if (vm.mark !== undefined) return [];
  const fields = {
    tags: [...listOwnTags(spec), ...listOthers(vm)],
    nameDescription: toDescription(spec, vm, false),
  };
  return [toStep(spec, `mark VM ${vm.name}`, { kind: "patchVm", vmId: vm.id, fields })];
}

/** The tags that it has from its template. */
function listOthers({ tags }: Vm): string[] {
  return tags.filter((tag) => tag !== OWN_TAG && !tag.startsWith(TAG_PREFIX));
}

function toDescription(spec: MachineSpec, { mark }: Vm, isReady: boolean): string {
  const made = {
    hostId: mark?.hostId ?? spec.hostId,
    hash: mark?.hash ?? toSpecHash(spec),
  };
  return formatMark(spec, made, isReady);
}

/** Disks that a second VM of the same attempt left. Once the VM is complete, a person may have detached such a disk. */
function listLeft({ cloud, spec, vm, record }: UnfinishedQuestion): OrphanDisk[] {
  if (!isOfAttempt(record)) return [];
  const links = cloud.resources.attached.get(vm.id) ?? [];
  const own = new Set(links.map(({ diskId }) => diskId));
  return findOrphanDisks(cloud, spec).filter(({ disk, isSeed }) => !isSeed && !own.has(disk.id));
}

/** What an interrupted upload or another VM left. */
function listLoose(question: UnfinishedQuestion): OrphanDisk[] {
  const seeds = findOrphanDisks(question.cloud, question.spec).filter(({ isSeed }) => isSeed);
  return [...listLeft(question), ...seeds];
}

/** Attaches the seed, and deletes what an interrupted upload or another VM left. */
function toSeeding(question: UnfinishedQuestion): Step[] {
  const { cloud, spec, vm, wanted, record } = question;
  const { seed } = spec;
  const sweeps = listLoose(question).map((one) => toOrphanDeletion(spec, one, record));
  const name = toDiskName(vm.name, SEED_DISK);
  const links = cloud.resources.attached.get(vm.id) ?? [];
  const [attached, ...more] = links.filter(({ disk }) => disk?.name === name);
  // A request that arrived twice attached it twice.
  const detachments = more.map(({ linkId, diskId }) => {
    const link = { linkId, vmId: vm.id, ...(diskId !== undefined && { diskId }) };
    return toStep(spec, `detach a second disk ${name}`, { kind: "detachDisk", ...link });
  });
  const storageId =
    wanted.disks[0]?.storageId ?? cloud.resources.pools.get(vm.poolId)?.defaultStorageId;
  if (seed === undefined || attached !== undefined || storageId === undefined) {
    return [...detachments, ...sweeps];
  }
  const position = findFreePosition(links);
  const place = { vmId: vm.id, poolId: vm.poolId, storageId, position };
  const change = { kind: "attachSeed", ...place, seed, record } as const;
  return [...sweeps, toStep(spec, `upload and attach disk ${name}`, change)];
}

/** Starts it right after the last mark. If its host cannot, the complete VM says so. */
function toFirstStart({ cloud, spec, vm }: UnfinishedQuestion): readonly Step[] {
  return spec.isStarted ? planFirstStart(cloud, spec, vm).steps : [];
}

/** The last mark, with the protection from deletion. */
function toReady({ cloud, spec, vm, record }: UnfinishedQuestion): Step {
  const tags = [...listOwnTags(spec), ...listOthers(vm), toReadyTag(toSpecHash(spec))];
  const fields = {
    tags: spec.isStarted ? [...tags, START_TAG] : tags,
    blockedOperations: { destroy: BLOCK_REASON },
    nameDescription: toDescription(spec, vm, true),
  };
  const { templates, uploadAt } = record;
  // The process that began it may have sent an upload that a proxy holds back.
  const doubtAt = record.doubtAt ?? (cloud.resources.begun.has(vm.name) ? undefined : cloud.atMs);
  const had = listHad(spec);
  const next = {
    vm: vm.id,
    pool: vm.poolId,
    templates,
    doubtAt,
    uploadAt,
    parts: toPartsHash(vm),
    had,
  };
  const change = { kind: "ready", vmId: vm.id, fields, record: next } as const;
  return { ...toStep(spec, `note that VM ${vm.name} is complete`, change), completes: true };
}
