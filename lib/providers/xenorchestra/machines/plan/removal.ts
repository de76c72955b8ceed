/**
 * Plans how a machine goes, with everything that is ours. Pure.
 * @module
 */
import { formatTime } from "../../../../core/clock.ts";
import { type MachineIdentity, toMachineName } from "../../../../cloud/capabilities/machines.ts";
import {
  type Attached,
  type CreateTask,
  type Disk,
  type Observation,
  type Vm,
  findShown,
} from "../observe/observation.ts";
import { type VmRecord, parseRecord } from "../vm_record.ts";
import type { Step } from "../steps.ts";
import { isDiskNameOf, isMarkOf, parseDiskMark, toDiskName } from "../words.ts";
import {
  type Found,
  type FullView,
  type OrphanDisk,
  explainKeeping,
  findAdriftDisks,
  findEarlier,
  findMachine,
  findOrphanDisks,
  judgeOwner,
  planAdrift,
  toDeletion,
  toDoubtLeftMs,
  toOrphanDeletion,
  toOrphansWaitMs,
} from "./find.ts";
import {
  findLostPool,
  type Plan,
  RENAME_OR_DELETE,
  RETRY_MS,
  toDecision,
  toNews,
  toNotice,
  toPlan,
  toProof,
  toStep,
} from "./problems.ts";

/** How long a guest may take to shut down before its machine is switched off. */
const CLEAN_MS = 120_000;
/** When to look again while a guest shuts down. */
const STOPPING_MS = 5_000;
/** When to look again for what may come late. */
const LATE_MS = 10_000;

/** See `Machines.planRemoval`. */
export function planRemoval(
  cloud: Observation,
  identity: MachineIdentity,
  text: string | undefined,
): Plan {
  const { resources } = cloud;
  const record = parseRecord(text);
  if (resources === undefined) return planWithoutStock(cloud, record);
  const full = { ...cloud, resources };
  const found = findMachine({ cloud: full, identity, record });
  return toPlanOf(found, { cloud: full, identity, record });
}

/** Plans from an observation that is not for a change. */
function planWithoutStock({ pools }: Observation, { pool: id }: VmRecord): Plan {
  const lost = id === undefined ? undefined : findLostPool(pools, id);
  if (lost === undefined) return toPlan("Removing", { needsLook: true });
  return toPlan("Unknown", { problems: [lost], needsLook: true });
}

interface Known {
  readonly cloud: FullView;
  readonly identity: MachineIdentity;
  readonly record: VmRecord;
}

function toPlanOf(found: Found, known: Known): Plan {
  const { cloud, identity, record } = known;
  switch (found.kind) {
    case "unknown":
      return toPlan("Unknown", { problems: [found.problem], againMs: RETRY_MS });
    case "running": {
      const { attempt, vm } = found;
      const problems = attempt.problem ? [attempt.problem] : [];
      return toPlan("Removing", {
        problems,
        machine: vm && findShown(cloud, vm),
        againMs: attempt.againMs,
      });
    }
    case "blocked":
      // What has only its name is not ours, so nothing of it is left.
      return found.isForeign === true
        ? planRest(known)
        : toPlan("Blocked", { problems: [found.problem] });
    case "leftover":
      return toPlan("Removing", { steps: found.steps });
    case "complete":
      return planEnd(found.vm, known);
    case "unfinished": {
      const { vm } = found;
      const machine = findShown(cloud, vm);
      const why = explainKeeping(vm, { identity, resources: cloud.resources, record });
      if (why === undefined) {
        return toPlan("Removing", { steps: [toDeletion(known, vm, "half-made")], machine });
      }
      const what = `VM ${vm.name} (${vm.id}) is not complete`;
      const message = `${what}, and Landfall does not delete it because ${why}: ${RENAME_OR_DELETE}`;
      return toPlan("Blocked", { problems: [toDecision("MachineUnfinished", message)], machine });
    }
    case "none":
      return planRest(known, found.attempt);
  }
}

/** Sweeps what is left of the VM that is gone. A disk that a person took away before stays. */
function planRest(
  { cloud, identity, record }: Known,
  attempt: { readonly task?: CreateTask } = {},
): Plan {
  const gone = new Set(record.disks);
  const mustGo = ({ disk, isSeed }: OrphanDisk): boolean =>
    isSeed || record.vm === undefined || gone.has(disk.id) || isOfAddition(identity, record, disk);
  const loose = findOrphanDisks(cloud, identity).filter(mustGo);
  if (loose.length > 0) {
    const due = loose.filter(({ waitMs }) => waitMs === 0);
    const steps = due.map((one) => toOrphanDeletion(identity, one, record));
    return toPlan("Removing", { steps, againMs: toOrphansWaitMs(loose) });
  }
  const earlier = findEarlier(attempt, record);
  if (earlier.vmIds.length > 0) {
    return toPlan("Removing", { steps: [toProof(identity, earlier, record)] });
  }
  // Deleting a VM is answered also if a disk of it stays.
  const adrift = findAdriftDisks(cloud, identity).filter(mustGo);
  if (adrift.length > 0) return planAdrift(adrift);
  const leftMs = toDoubtLeftMs(attempt, record, cloud);
  if (leftMs === 0) return toPlan("Absent");
  // A hypervisor goes on although Xen Orchestra was interrupted, and then shows a half-made template.
  const what = `an interrupted creation of ${toMachineName(identity)} may still leave something`;
  const message = `${what}: Landfall looks until ${formatTime(cloud.atMs + leftMs)}`;
  const problems = [toNotice("MayComeLate", message)];
  return toPlan("Removing", { problems, againMs: Math.min(leftMs, LATE_MS) });
}

/** Whether an addition that was interrupted left a disk, before a guest ever had it. */
function isOfAddition(
  identity: MachineIdentity,
  { adding }: VmRecord,
  { name, description }: Pick<Disk, "description" | "name">,
): boolean {
  if (adding === undefined || description !== "") return false;
  return name === toDiskName(toMachineName(identity), adding);
}

/** Shuts it down, takes away disks that are not ours, and deletes it. */
function planEnd(vm: Vm, known: Known): Plan {
  const { cloud, identity, record } = known;
  const machine = findShown(cloud, vm);
  if (judgeOwner(vm, identity) !== "ours") {
    const message = `VM ${vm.name} (${vm.id}) has lost the marks of Landfall: ${RENAME_OR_DELETE}`;
    return toPlan("Blocked", { problems: [toDecision("MarkMissing", message)], machine });
  }
  const maker = findOtherMaker(vm, known);
  if (maker !== undefined) {
    const what = `VM ${vm.name} (${vm.id}) has the marks of Landfall, but ${maker} made it`;
    const problem = toDecision("NotMadeByLandfall", `${what}: ${RENAME_OR_DELETE}`);
    return toPlan("Blocked", { problems: [problem], machine });
  }
  if (vm.isBusy) return toPlan("Removing", { machine, againMs: STOPPING_MS });
  if (vm.power !== "stopped") return toPlan("Removing", { machine, ...planStop(vm, known) });
  const links = cloud.resources.attached.get(vm.id) ?? [];
  const seen = new Set(links.map(({ linkId }) => linkId));
  if (vm.linkIds.some((id) => !seen.has(id))) {
    const advice = "give the user the privileges vbd read and vdi read";
    const message = `a disk of VM ${vm.name} (${vm.id}) cannot be seen: ${advice}`;
    return toPlan("Blocked", { problems: [toDecision("NoRight", message)], machine });
  }
  const isOurs = ({ disk }: Attached): boolean =>
    disk !== undefined && isDiskOurs(vm, identity, disk);
  // A drive and its disk stay anyway.
  const hard = links.filter(({ isCd, diskId }) => !isCd && diskId !== undefined);
  const detach = hard
    .filter((link) => !isOurs(link))
    .map((link) => toDetachment(identity, vm, link));
  const disks = hard.filter(isOurs).flatMap(({ diskId }) => diskId ?? []);
  const linkIds = links.filter((link) => link.isCd || isOurs(link)).map(({ linkId }) => linkId);
  const end = toStep(identity, `delete VM ${vm.name} (${vm.id}) with its disks`, {
    kind: "deleteVm",
    vmId: vm.id,
    poolId: vm.poolId,
    linkIds,
    record: { ...record, vm: vm.id, pool: vm.poolId, disks },
  });
  return toPlan("Removing", { steps: [...detach, end], machine });
}

/** Who else made a VM that no record of Landfall names: any user can copy marks. */
function findOtherMaker({ id, creation, mark }: Vm, { cloud, record }: Known): string | undefined {
  if (record.vm === id) return undefined;
  const user = creation?.user;
  if (user === undefined) return mark === undefined ? "nothing says who" : undefined;
  return user === cloud.resources.userId ? undefined : `the user ${user}`;
}

function toDetachment(
  identity: MachineIdentity,
  { id: vmId, name }: Vm,
  { linkId, diskId, disk }: Attached,
): Step {
  const what = `detach disk ${disk?.name || diskId} from ${name}: it is not of Landfall`;
  const link = { linkId, vmId, ...(diskId !== undefined && { diskId }) };
  return toNews(toStep(identity, what, { kind: "detachDisk", ...link }));
}

function isDiskOurs(
  vm: Vm,
  identity: MachineIdentity,
  { name, description }: NonNullable<Attached["disk"]>,
): boolean {
  const mark = parseDiskMark(description);
  return isDiskNameOf(vm.name, name) || (mark !== undefined && isMarkOf(mark, identity));
}

/** Asks the guest first, if it can be asked, and then switches it off. */
function planStop(
  vm: Vm,
  { identity, record, cloud }: Known,
): { readonly steps?: readonly Step[]; readonly againMs?: number } {
  const isAsked = record.offAt !== undefined;
  const waitedMs = isAsked ? Math.max(0, cloud.atMs - (record.offAt ?? 0)) : 0;
  const mayAsk = vm.power === "running" && vm.hasTools;
  if (mayAsk && isAsked && waitedMs < CLEAN_MS) return { againMs: STOPPING_MS };
  const isHard = !mayAsk || isAsked;
  const summary = isHard ? `switch off VM ${vm.name}` : `shut down VM ${vm.name}`;
  const next = { ...record, vm: vm.id, pool: vm.poolId, offAt: record.offAt ?? cloud.atMs };
  const change = { kind: "shutdown", vmId: vm.id, isHard, record: next } as const;
  return { steps: [toStep(identity, summary, change)] };
}
