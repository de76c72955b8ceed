/**
 * Compares the disks of a VM with those that it must have. Pure.
 * @module
 */
import type { MachineSpec } from "../../../../../cloud/capabilities/machines.ts";
import { formatSize } from "../../../../../core/text/size.ts";
import type { Attached, Disk, Stock, Vm } from "../../look/view.ts";
import {
  formatDiskMark,
  isDiskNameOf,
  isMarkOf,
  parseDiskMark,
  SEED_DISK,
  toDiskName,
} from "../../words.ts";
import { type Comparison, joinComparisons, toComparison } from "./comparison.ts";
import { nameStorage } from "../names.ts";
import { toDecision, toNotice } from "../problems.ts";
import type { Wanted, WantedDisk } from "../wanted/wanted.ts";

/** What to compare. */
export interface DisksQuestion {
  readonly spec: MachineSpec;
  readonly vm: Vm;
  readonly wanted: Pick<Wanted, "disks">;
  readonly stock: Pick<Stock, "attached" | "storages">;
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
  { spec, vm, isDone, stock }: DisksQuestion,
  wanted: WantedDisk,
  disk: Disk | undefined,
): Comparison {
  const { name, sizeBytes, storageId } = wanted;
  const part = { name: `disk ${name}`, wanted: formatSize(sizeBytes) };
  const what = `disk ${name} of ${vm.name}`;
  if (disk === undefined) {
    const advice = `attach it under the name ${toDiskName(vm.name, name)}, or remove it from the spec`;
    const message = `${what} does not exist, and Landfall adds none to a complete machine: ${advice}`;
    return toComparison(part, { problem: toNotice("DiskMissing", message) });
  }
  const actual = { ...part, actual: formatSize(disk.sizeBytes) };
  const isMarked = isDone || parseDiskMark(disk.description)?.disk === name;
  const isNamed = isMarked && isDiskNameOf(vm.name, disk.name);
  const isStored =
    storageId === undefined ||
    disk.storageId === storageId ||
    (isDone && findStorage(spec, name) === undefined);
  const diskId = disk.id;
  const names = {
    name_label: toDiskName(vm.name, name),
    name_description: formatDiskMark(spec, name),
  };
  const rename = { kind: "patchDisk", diskId, fields: names } as const;
  const grow = { kind: "patchDisk", diskId, fields: { size: sizeBytes } } as const;
  const size = ((): Comparison => {
    if (disk.sizeBytes === sizeBytes) return toComparison(actual, undefined);
    if (disk.sizeBytes > sizeBytes && isDone) {
      const [from, to] = [disk.sizeBytes, sizeBytes].map(formatSize);
      const message = `disk ${name} has ${from}, and a disk cannot shrink to ${to}. Ask for ${from} in the spec`;
      return toComparison(actual, { problem: toDecision("DiskCannotShrink", message) });
    }
    if (disk.sizeBytes > sizeBytes) return toComparison(actual, undefined);
    const summary = `grow ${what} to ${formatSize(sizeBytes)}`;
    return toComparison(actual, { fix: { summary, change: grow }, needsStop: true });
  })();
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
    size,
    ...(isNamed ? [] : [toComparison(label, { fix: { summary: `name ${what}`, change: rename } })]),
    ...(isStored ? [] : [toComparison(place, { problem: toNotice("StorageDiffers", message) })]),
  ]);
}

/** The storage that the specification names for a disk. */
function findStorage({ disks }: MachineSpec, name: string): string | undefined {
  return disks.find((disk) => disk.name === name)?.storage;
}
