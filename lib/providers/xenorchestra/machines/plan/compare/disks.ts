/**
 * Compares the disks of a VM with those that it must have. Pure.
 * @module
 */
import type {
  MachineDisk,
  MachineProblem,
  MachineSpec,
} from "../../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../../core/text/printable.ts";
import { formatSize } from "../../../../../core/text/values.ts";
import type { Attached, Disk, Stock, Vm } from "../../look/view.ts";
import {
  formatDiskMark,
  isDiskNameOf,
  isMarkOf,
  parseDiskMark,
  SEED_DISK,
  toDiskName,
} from "../../words.ts";
import type { DiskNames } from "../../steps.ts";
import type { VmRecord } from "../../vm_record.ts";
import { findFreePosition } from "../attached_disks.ts";
import { toNameHash } from "../fingerprints.ts";
import {
  asUnbuilt,
  type Comparison,
  type Difference,
  joinComparisons,
  toComparison,
} from "./comparison.ts";
import { findOtherTemplate } from "./template.ts";
import { nameStorage } from "../names.ts";
import { toDecision, toNotice } from "../problems.ts";
import type { Wanted, WantedDisk } from "../wanted/wanted.ts";

/** What to compare. */
export interface DisksQuestion {
  readonly spec: MachineSpec;
  readonly vm: Vm;
  readonly wanted: Pick<Wanted, "disks" | "template">;
  readonly stock: Pick<Stock, "attached" | "orphans" | "storages" | "unnamable">;
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
    return compareOne(question, one, disk);
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

function listLinks({ vm, stock }: DisksQuestion): readonly Attached[] {
  return stock.attached.get(vm.id) ?? [];
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

function compareOne(
  question: DisksQuestion,
  wanted: WantedDisk,
  disk: Disk | undefined,
): Comparison {
  const { spec, vm, isDone, stock } = question;
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
    isDone && stock.unnamable.has(disk.id)
      ? { problem: toNotice("DiskRenamed", `${called}: name it ${names.name_label} again`) }
      : { fix: { summary: `name ${what}`, change: rename } };
  const label = { name: `name of disk ${name}`, wanted: names.name_label, actual: disk.name };
  const place = {
    name: `storage of disk ${name}`,
    actual: disk.storageId,
    ...(storageId !== undefined && { wanted: storageId }),
  };
  const is = nameStorage(stock, disk.storageId);
  const should = nameStorage(stock, storageId ?? "");
  const message = `${what} is on ${is} instead of ${should}: move it in Xen Orchestra`;
  return joinComparisons([
    asUnbuilt(compareSize(question, wanted, disk)),
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
  const { vm, stock, record } = question;
  const had = record.vm === vm.id ? record.had : undefined;
  const isNew = had !== undefined && !had.includes(toNameHash(name));
  if (!isNew || storageId === undefined) return undefined;
  const names = toDiskNames(question, name);
  const left = stock.orphans.find((one) => one.name === names.name_label);
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
function compareSize(
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
