/**
 * Finds disks of a machine that nothing uses. Pure.
 * @module
 */
import { type MachineIdentity, toMachineName } from "../../../../../cloud/capabilities/machines.ts";
import type { Disk } from "../../look/view.ts";
import type { Step } from "../../steps.ts";
import type { VmRecord } from "../../vm_record.ts";
import { isDiskNameOf, isMarkOf, parseDiskMark, SEED_DISK, toDiskName } from "../../words.ts";
import type { FullView } from "./find.ts";
import { FRESH_PERIOD_MS } from "./attempt.ts";
import { type Plan, toPlan, toRetry, toStep } from "../problems.ts";

/**
 * For so long looks must show a disk as unused before it is deleted: they follow what uses it late, and perhaps another
 * process attached it.
 */
const UNUSED_MS = 10_000;

/** A disk that nothing uses. */
export interface OrphanDisk {
  readonly disk: Disk;
  /** When it may be deleted, in milliseconds from the look on; 0: now. */
  readonly waitMs: number;
  /** Whether it is the one that the machine reads at its first start: it holds nothing of a guest. */
  readonly isSeed: boolean;
}

/** Disks with a name that only this machine can have, and without the mark of another one. */
export function findOrphanDisks({ stock }: FullView, identity: MachineIdentity): OrphanDisk[] {
  return listOwn(stock.orphans, identity);
}

/** When the first of these disks may be deleted that must wait, in milliseconds; `undefined`: all may be deleted. */
export function toOrphansWaitMs(orphans: readonly OrphanDisk[]): number | undefined {
  const waits = orphans.flatMap(({ waitMs }) => (waitMs > 0 ? [waitMs] : []));
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** Of disks of this machine, those that are not shown as they are: what they were attached to is gone. */
export function findAdriftDisks({ stock }: FullView, identity: MachineIdentity): OrphanDisk[] {
  return listOwn(stock.adrift, identity);
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
