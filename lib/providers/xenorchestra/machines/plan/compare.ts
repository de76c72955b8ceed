/**
 * Compares a VM with what it must be like: its values, its template, its network interfaces and its disks. Pure.
 * @module
 */
import {
  type MachineDisk,
  type MachineInterface,
  type MachinePart,
  type MachinePlan,
  type MachineProblem,
  type MachineSpec,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../core/text/printable.ts";
import { formatSize } from "../../../../core/text/values.ts";
import type { Attached, Disk, Resources, Template, Vif, Vm } from "../observe/observation.ts";
import { type FullView, wasComplete } from "./find.ts";
import { nameNetwork, nameStorage, toDecision, toNotice } from "./problems.ts";
import type { Wanted, WantedDisk, WantedInterface } from "./wanted.ts";
import type { Change, DiskNames } from "../steps.ts";
import { toNameHash, type VmRecord } from "../vm_record.ts";
import {
  BLOCK_REASON,
  SEED_DISK,
  formatDiskMark,
  formatMark,
  isDiskNameOf,
  isMarkOf,
  listOwnTags,
  parseDiskMark,
  toDiskName,
} from "../words.ts";

/** What differs in one part of a VM, and what can be done. */
export interface Difference {
  readonly part: MachinePart;
  /** Absent: Landfall cannot put it right, and {@linkcode problem} says what a person can do. */
  readonly fix?: { readonly summary: string; readonly change: Change };
  /** Whether the VM must be off for it. */
  readonly needsStop?: boolean;
  readonly problem?: MachineProblem;
  /** Whether a disk or an interface is missing, too many, or not as it must be. Names and places do not count. */
  readonly isUnbuilt?: boolean;
}

/** The parts of a VM; those that differ come with what can be done. */
export interface Comparison {
  readonly parts: readonly MachinePart[];
  readonly differences: readonly Difference[];
  /** Names of disks that the specification asks for and that the VM lacks. */
  readonly missing: readonly string[];
}

/** Whether a VM has all disks and interfaces that it must have, as they must be. */
export function isBuilt({ differences }: Pick<Comparison, "differences">): boolean {
  return differences.every(({ isUnbuilt = false }) => !isUnbuilt);
}

/** A comparison in which each difference means that the VM is not built. */
function asUnbuilt({ differences, ...rest }: Comparison): Comparison {
  return { ...rest, differences: differences.map((one) => ({ ...one, isUnbuilt: true })) };
}

/** Joins comparisons. */
export function joinComparisons(some: readonly Comparison[]): Comparison {
  return {
    parts: some.flatMap(({ parts }) => parts),
    differences: some.flatMap(({ differences }) => differences),
    missing: some.flatMap(({ missing }) => missing),
  };
}

/** A part without a difference, or with one. */
function toComparison(
  part: MachinePart,
  difference: Omit<Difference, "part"> | undefined,
): Comparison {
  const differences = difference === undefined ? [] : [{ part, ...difference }];
  return { parts: [part], differences, missing: [] };
}

/**
 * The template from which a VM was made, if it is not the given one.
 *
 * @param template Absent: it could not be found
 * @returns ID or UUID; `undefined` also if it is not known
 */
export function findOtherTemplate(
  { creation }: Pick<Vm, "creation">,
  template: Pick<Template, "id" | "uuid"> | undefined,
): string | undefined {
  const from = creation?.template;
  if (template === undefined || from === undefined) return undefined;
  return [template.id, template.uuid].includes(from) ? undefined : from;
}

/** Compares everything. @param wanted What the specification means in its pool */
export function compareVm(
  cloud: FullView,
  spec: MachineSpec,
  { vm, wanted, record }: { readonly vm: Vm; readonly wanted: Wanted; readonly record: VmRecord },
): Comparison {
  const { resources } = cloud;
  const isDone = wasComplete(vm, record);
  return joinComparisons([
    compareSize(spec, vm),
    compareDisks({ spec, vm, wanted, resources, record, atMs: cloud.atMs, isDone }),
    asUnbuilt(compareInterfaces({ spec, vm, wanted, resources })),
    isDone ? compareMarks(spec, vm) : compareBoot(spec, vm),
  ]);
}

/** Compares CPUs and memory. */
export function compareSize(spec: MachineSpec, vm: Vm): Comparison {
  const name = toMachineName(spec);
  const cpus = toComparison(
    { name: "CPUs", wanted: String(spec.cpus), ...toActual(vm.cpus) },
    spec.cpus === vm.cpus
      ? undefined
      : {
          fix: {
            summary: `set the CPUs of ${name} to ${spec.cpus}`,
            change: { kind: "patchVm", vmId: vm.id, fields: { cpus: spec.cpus } },
          },
          needsStop: true,
        },
  );
  const memory = toComparison(
    {
      name: "memory",
      wanted: formatSize(spec.memoryBytes),
      ...toActual(vm.memoryBytes, formatSize),
    },
    spec.memoryBytes === vm.memoryBytes
      ? undefined
      : {
          fix: {
            summary: `set the memory of ${name} to ${formatSize(spec.memoryBytes)}`,
            change: { kind: "patchVm", vmId: vm.id, fields: { memory: spec.memoryBytes } },
          },
          needsStop: true,
        },
  );
  return joinComparisons([cpus, memory]);
}

/** Compares what it starts from first. Only a creation can set that, and it may have ended before. */
function compareBoot(spec: MachineSpec, { bootOrder }: Vm): Comparison {
  const part = { name: "boot", wanted: spec.boot, actual: bootOrder };
  const isRight = spec.boot !== "network" || bootOrder.startsWith("n");
  return toComparison(part, isRight ? undefined : {});
}

function toActual(
  value: number | undefined,
  format: (value: number) => string = String,
): { readonly actual?: string } {
  return value === undefined ? {} : { actual: format(value) };
}

/** Compares what says whose the VM is, and what protects it. */
export function compareMarks(spec: MachineSpec, vm: Vm): Comparison {
  const name = toMachineName(spec);
  const { mark } = vm;
  const made = {
    hostId: mark?.hostId ?? spec.hostId,
    ...(mark?.hash !== undefined && { hash: mark.hash }),
  };
  const description = formatMark(spec, made, true);
  const isMarked = mark !== undefined && isMarkOf(mark, spec) && mark.isReady;
  const tags = listOwnTags(spec).map((tag) => {
    const hasTag = vm.tags.includes(tag);
    const part = { name: `tag ${tag}`, wanted: tag, ...(hasTag && { actual: tag }) };
    const change = { kind: "addTag", vmId: vm.id, tag } as const;
    return toComparison(
      part,
      hasTag ? undefined : { fix: { summary: `tag ${name} with ${tag}`, change } },
    );
  });
  const marked = toComparison(
    { name: "description", wanted: description, actual: vm.description },
    isMarked
      ? undefined
      : {
          fix: {
            summary: `put the mark back into the description of ${name}`,
            change: { kind: "patchVm", vmId: vm.id, fields: { nameDescription: description } },
          },
        },
  );
  return joinComparisons([...tags, marked, compareBlock(name, vm)]);
}

function compareBlock(name: string, { id, destroyBlock }: Vm): Comparison {
  const part = { name: "protection from deletion", wanted: BLOCK_REASON };
  if (destroyBlock !== undefined) return toComparison({ ...part, actual: destroyBlock }, undefined);
  const fields = { blockedOperations: { destroy: BLOCK_REASON } };
  const change = { kind: "patchVm", vmId: id, fields } as const;
  return toComparison(part, { fix: { summary: `protect ${name} from deletion`, change } });
}

/** What to compare. */
export interface InterfacesQuestion {
  readonly spec: Pick<MachineSpec, "interfaces">;
  readonly vm: Vm;
  /** Without those whose network was not found: these are not compared. */
  readonly wanted: Pick<Wanted, "interfaces">;
  readonly resources: Pick<Resources, "networks" | "vifs">;
}

/** Compares by device. Landfall adds what is missing, and takes nothing away. */
export function compareInterfaces(question: InterfacesQuestion): Comparison {
  const { spec, wanted } = question;
  const vifs = listVifs(question);
  const more = vifs.filter(({ device }) => !(Number(device) < spec.interfaces.length));
  const found = new Set(wanted.interfaces.map(({ name }) => name));
  const unclear = spec.interfaces.filter(({ name }) => !found.has(name));
  return joinComparisons([
    ...wanted.interfaces.map((one) => compareInterface(question, one)),
    ...unclear.map(showUnclear),
    ...more.map((vif) => compareMore(question, vif)),
  ]);
}

/** Its network was not found, so nothing is said about the interface that the machine has. */
function showUnclear({ name, mac, network }: MachineInterface): Comparison {
  const wanted = `${mac} in network ${quote(network)}, which was not found`;
  return toComparison({ name: `interface ${name}`, wanted }, undefined);
}

function listVifs({ vm, resources }: InterfacesQuestion): readonly Vif[] {
  return resources.vifs.get(vm.id) ?? [];
}

function compareInterface(question: InterfacesQuestion, wanted: WantedInterface): Comparison {
  const { vm, resources } = question;
  const vifs = listVifs(question);
  const { name, device, mac, networkId, mtu } = wanted;
  const actual = vifs.find((one) => one.device === device);
  const isMtuKnown = actual === undefined || actual.mtu !== undefined;
  const part = {
    name: `interface ${name}`,
    wanted: format(resources, wanted, isMtuKnown ? mtu : undefined),
  };
  if (actual === undefined) {
    const problem = findObstacle(vm, wanted, vifs);
    if (problem !== undefined) return toComparison(part, { problem });
    const change = {
      kind: "addInterface",
      vmId: vm.id,
      device,
      networkId,
      mac,
      ...(mtu !== undefined && { mtu }),
    } as const;
    const summary = `add interface ${name} to ${vm.name}`;
    return toComparison(part, { fix: { summary, change } });
  }
  // If the spec has none, that of the network is right.
  const actualMtu = mtu === undefined ? undefined : actual.mtu;
  const compared = { ...part, actual: format(resources, actual, actualMtu) };
  const isSameMtu = actualMtu === undefined || actualMtu === mtu;
  if (actual.mac === mac && actual.networkId === networkId && isSameMtu)
    return toComparison(compared, undefined);
  const what = `interface ${name} of ${vm.name} is ${compared.actual} instead of ${compared.wanted}`;
  const problem = toNotice("InterfaceDiffers", `${what}. ${ADVICE}`);
  return toComparison(compared, { problem });
}

/** Which of both is right, only a person knows. */
const ADVICE =
  "Correct the spec if the machine is right. Otherwise remove the interface in Xen Orchestra: Landfall then adds " +
  "the one that the spec asks for";

/** Why a missing interface must not be added: each MAC address exists once. */
function findObstacle(
  { name: vm }: Vm,
  { name, device, mac, takenBy }: WantedInterface,
  vifs: readonly Vif[],
): MachineProblem | undefined {
  const twin = vifs.find((one) => one.mac === mac);
  if (twin !== undefined) {
    const where = `is device ${twin.device} instead of ${device}`;
    return toNotice("InterfaceDiffers", `interface ${name} of ${vm} ${where}. ${ADVICE}`);
  }
  if (takenBy === undefined) return undefined;
  const what = `interface ${name} of ${vm} is missing, and VM ${takenBy} has its MAC address ${mac}`;
  return toNotice("MacTaken", `${what}: remove the interface of that VM`);
}

function compareMore({ spec, vm, wanted, resources }: InterfacesQuestion, vif: Vif): Comparison {
  const part = { name: `interface of device ${vif.device}`, actual: format(resources, vif) };
  // As long as the spec has a wrong network, it is not known which interfaces are too many.
  if (wanted.interfaces.length < spec.interfaces.length) return toComparison(part, undefined);
  const what = `${vm.name} has an interface that the spec does not have: device ${vif.device}, ${part.actual}`;
  const advice = "Add it to the spec, or remove it in Xen Orchestra if nothing uses it";
  const problem = toNotice("InterfaceNotWanted", `${what}. Landfall removes none. ${advice}`);
  return toComparison(part, { problem });
}

function format(
  resources: Pick<Resources, "networks">,
  { mac, networkId }: Pick<Vif, "mac" | "networkId">,
  mtu?: number,
): string {
  const size = mtu === undefined ? "" : ` with MTU ${mtu}`;
  return `${mac} in ${nameNetwork(resources, networkId)}${size}`;
}

/**
 * Lists them in the order of their positions, without the disk that the VM reads at its first start.
 *
 * @returns `undefined` if one of them cannot be seen
 */
export function listAttachedDisks(
  { attached }: Pick<Resources, "attached">,
  { id, name, linkIds }: Pick<Vm, "id" | "linkIds" | "name">,
): NonNullable<MachinePlan["disks"]> | undefined {
  const links = attached.get(id) ?? [];
  const seen = new Set(links.map(({ linkId }) => linkId));
  const hard = links.filter(({ isCd, diskId }) => !isCd && diskId !== undefined);
  const isHidden = hard.some(({ disk }) => disk === undefined);
  if (isHidden || linkIds.some((one) => !seen.has(one))) return undefined;
  const seed = toDiskName(name, SEED_DISK);
  return hard
    .toSorted((one, other) => Number(one.position) - Number(other.position))
    .flatMap(({ disk }) => (disk === undefined || disk.name === seed ? [] : [disk]))
    .map((disk) => ({ name: disk.name || disk.id, sizeBytes: disk.sizeBytes }));
}

/** The first place that no disk and no drive has. */
export function findFreePosition(links: readonly Pick<Attached, "position">[]): string {
  const taken = new Set(links.map(({ position }) => position));
  let free = 0;
  while (taken.has(String(free))) free += 1;
  return String(free);
}

/** What to compare. */
export interface DisksQuestion {
  readonly spec: MachineSpec;
  readonly vm: Vm;
  readonly wanted: Pick<Wanted, "disks" | "template">;
  readonly resources: Pick<Resources, "attached" | "orphans" | "storages" | "unnamable">;
  readonly record: VmRecord;
  /** In wall-clock milliseconds. */
  readonly atMs: number;
  /** Whether the VM was complete once. From then on a disk is ours only by its name or mark. */
  readonly isDone: boolean;
}

/** Compares by name, by mark, and as long as the VM is not complete by the place that the template gave. */
export function compareDisks(question: DisksQuestion): Comparison {
  const { vm, wanted } = question;
  const links = listLinks(question);
  const left = new Map<string, Disk>();
  for (const { isCd, disk } of links) if (!isCd && disk !== undefined) left.set(disk.id, disk);
  const compared = wanted.disks.map((one) => {
    const disk = findDisk(question, one, left);
    if (disk !== undefined) left.delete(disk.id);
    return compareDisk(question, one, disk);
  });
  const seed = toDiskName(vm.name, SEED_DISK);
  const more = [...left.values()].filter(({ name }) => name !== seed);
  const others = more.map((disk) =>
    toComparison(
      { name: `disk ${disk.name || disk.id}`, actual: formatSize(disk.sizeBytes) },
      undefined,
    ),
  );
  return joinComparisons([...compared, ...others]);
}

function listLinks({ vm, resources }: DisksQuestion): readonly Attached[] {
  return resources.attached.get(vm.id) ?? [];
}

function findDisk(
  question: DisksQuestion,
  { name, position }: WantedDisk,
  left: ReadonlyMap<string, Disk>,
): Disk | undefined {
  const { spec, vm, isDone } = question;
  const disks = [...left.values()];
  const named = disks.find((disk) => disk.name === toDiskName(vm.name, name));
  const marked = disks.find(({ description }) => {
    const mark = parseDiskMark(description);
    return mark !== undefined && isMarkOf(mark, spec) && mark.disk === name;
  });
  const found = named ?? marked;
  if (found !== undefined || isDone || position === undefined) return found;
  const link = listLinks(question).find((one) => one.position === position && !one.isCd);
  return link?.disk !== undefined && left.has(link.disk.id) ? link.disk : undefined;
}

function compareDisk(
  question: DisksQuestion,
  wanted: WantedDisk,
  disk: Disk | undefined,
): Comparison {
  const { spec, vm, isDone, resources } = question;
  const { name, storageId } = wanted;
  const what = `disk ${name} of ${vm.name}`;
  if (disk === undefined) return asUnbuilt(toMissing(question, wanted));
  const isOld = isDone && question.record.adding !== name;
  const isMarked = isOld || parseDiskMark(disk.description)?.disk === name;
  const isNamed = isMarked && isDiskNameOf(vm.name, disk.name);
  const isStored =
    storageId === undefined ||
    disk.storageId === storageId ||
    (isDone && findAsked(spec, name)?.storage === undefined);
  const names = toDiskNames(question, name);
  // Without its name, a VM in the making cannot become complete.
  const kind = isDone ? "renameDisk" : "patchDisk";
  const rename = { kind, diskId: disk.id, fields: names } as const;
  const called = `${what} is called ${quote(disk.name)}, and the user of Landfall has no right to rename it`;
  const renamed =
    isDone && resources.unnamable.has(disk.id)
      ? { problem: toNotice("DiskRenamed", `${called}: name it ${names.name_label} again`) }
      : { fix: { summary: `name ${what}`, change: rename } };
  const label = { name: `name of disk ${name}`, wanted: names.name_label, actual: disk.name };
  const place = {
    name: `storage of disk ${name}`,
    actual: disk.storageId,
    ...(storageId !== undefined && { wanted: storageId }),
  };
  const is = nameStorage(resources, disk.storageId);
  const should = nameStorage(resources, storageId ?? "");
  const message = `${what} is on ${is} instead of ${should}: move it in Xen Orchestra`;
  return joinComparisons([
    asUnbuilt(compareDiskSize(question, wanted, disk)),
    ...(isNamed ? [] : [toComparison(label, renamed)]),
    ...(isStored ? [] : [toComparison(place, { problem: toNotice("StorageDiffers", message) })]),
  ]);
}

/** A template counts for a machine that is complete only as what it was made from. */
function toMissing(question: DisksQuestion, one: WantedDisk): Comparison {
  const { name, sizeBytes, position } = one;
  const { spec, vm, wanted, isDone } = question;
  const isAsked = findAsked(spec, name) !== undefined;
  const isOfTemplate = findOtherTemplate(vm, wanted.template) === undefined;
  const isReplaced = listLinks(question).some((link) => link.position === position && !link.isCd);
  const counts = isAsked || !isDone || (isOfTemplate && !isReplaced);
  if (!counts) return joinComparisons([]);
  const part = { name: `disk ${name}`, wanted: formatSize(sizeBytes) };
  const lost = isAsked ? listUnnamed(question) : [];
  const addition = isAsked && isDone && lost.length === 0 ? planAddition(question, one) : undefined;
  const problem = addition === undefined ? toLoss(question, one, lost) : undefined;
  const difference = addition ?? (problem && { problem });
  return { ...toComparison(part, difference), missing: isAsked ? [name] : [] };
}

function toLoss(
  { spec, vm }: DisksQuestion,
  { name }: WantedDisk,
  lost: readonly string[],
): MachineProblem {
  const isAsked = findAsked(spec, name) !== undefined;
  const way = `attach a disk under the name ${toDiskName(vm.name, name)}`;
  const other = `To have a new one without data, remove disk ${name} from the spec, and add it again later`;
  const advice = isAsked ? `${way}, or remove disk ${name} from the spec` : way;
  const what = `disk ${name} of ${vm.name} does not exist`;
  const message =
    lost.length === 0
      ? `${what}, and Landfall makes no empty one in place of a disk that may hold data: ` +
        (isAsked ? `${advice}. ${other}` : advice)
      : `${what}, but the machine has ${joinDisks(lost)}, which the spec does not name. If ${name} is a new name for ` +
        `such a disk, give it the old name in the spec again: ${lost.join(" or ")}. Otherwise ${advice}`;
  return toNotice("DiskMissing", message);
}

/**
 * Adds a disk that the machine never had.
 *
 * @returns `undefined` if it may have had it, and its data must not be replaced
 */
function planAddition(
  question: DisksQuestion,
  { name, sizeBytes, storageId }: WantedDisk,
): Omit<Difference, "part"> | undefined {
  const { vm, resources, record } = question;
  const had = record.vm === vm.id ? record.had : undefined;
  const isNew = had !== undefined && !had.includes(toNameHash(name));
  if (!isNew || storageId === undefined) return undefined;
  const names = toDiskNames(question, name);
  const left = resources.orphans.find((one) => one.name === names.name_label);
  // Without a description, an interrupted addition made it.
  const isOurs = record.adding === name && left?.description === "";
  if (left !== undefined && !isOurs) {
    const what = `disk ${left.name} (${left.id}) is attached to nothing`;
    const advice = `attach it to ${vm.name}, or rename it: then Landfall makes another one`;
    return { problem: toNotice("DiskMissing", `${what}: ${advice}`) };
  }
  const change = {
    kind: "addDisk",
    vmId: vm.id,
    poolId: vm.poolId,
    storageId,
    sizeBytes,
    position: findFreePosition(listLinks(question)),
    names,
    ...(left && { diskId: left.id }),
    record: { ...record, adding: name, addingAt: question.atMs },
  } as const;
  return { fix: { summary: `add disk ${name} to ${vm.name}`, change } };
}

function toDiskNames({ spec, vm }: DisksQuestion, name: string): DiskNames {
  return {
    name_label: toDiskName(vm.name, name),
    name_description: formatDiskMark(spec, name),
  };
}

/** Disks of the machine with its name or its mark that the specification does not name, by their names in it. */
function listUnnamed(question: DisksQuestion): string[] {
  const { spec, vm, wanted } = question;
  const known = new Set([...wanted.disks, ...spec.disks].map(({ name }) => name));
  return listLinks(question).flatMap(({ isCd, disk }) => {
    if (isCd || disk === undefined) return [];
    const mark = parseDiskMark(disk.description);
    const marked = mark !== undefined && isMarkOf(mark, spec) ? mark.disk : undefined;
    const prefix = toDiskName(vm.name, "");
    const name = disk.name.startsWith(prefix) ? disk.name.slice(prefix.length) : marked;
    return name === undefined || known.has(name) || name === SEED_DISK ? [] : [name];
  });
}

function joinDisks(names: readonly string[]): string {
  return names.length === 1 ? `disk ${names.join()}` : `disks ${names.join(" and ")}`;
}

/** What only the template has, a machine that is complete keeps as it is: another template may be named now. */
function compareDiskSize(
  { spec, vm, isDone }: DisksQuestion,
  { name, sizeBytes }: WantedDisk,
  disk: Disk,
): Comparison {
  const isAsked = !isDone || findAsked(spec, name) !== undefined;
  const wantedBytes = isAsked ? sizeBytes : disk.sizeBytes;
  const from = formatSize(disk.sizeBytes);
  const to = formatSize(wantedBytes);
  const part = { name: `disk ${name}`, wanted: to, actual: from };
  if (disk.sizeBytes === wantedBytes) return toComparison(part, undefined);
  if (disk.sizeBytes > wantedBytes) {
    if (!isDone) return toComparison(part, undefined);
    const message = `disk ${name} has ${from}, and a disk cannot shrink to ${to}. Ask for ${from} in the spec`;
    return toComparison(part, { problem: toDecision("DiskCannotShrink", message) });
  }
  const summary = `grow disk ${name} of ${vm.name} to ${to}`;
  const change = { kind: "patchDisk", diskId: disk.id, fields: { size: wantedBytes } } as const;
  return toComparison(part, { fix: { summary, change }, needsStop: true });
}

/** The disk as the specification asks for it; `undefined`: only its template has it. */
function findAsked({ disks }: MachineSpec, name: string): MachineDisk | undefined {
  return disks.find((disk) => disk.name === name);
}
