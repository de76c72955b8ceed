/**
 * Finds disks of a machine that nothing uses. Pure.
 * @module
 */
import { type MachineIdentity, toMachineName } from "../../../../../cloud/capabilities/machines.ts";
import type { Disk } from "../../look/view.ts";
import type { Step } from "../../steps.ts";
import { isDiskNameOf, isMarkOf, parseDiskMark, SEED_DISK, toDiskName } from "../../words.ts";
import type { FullView } from "./find.ts";
import { toStep } from "../problems.ts";

/** A disk that nothing uses. */
export interface OrphanDisk {
  readonly disk: Disk;
  /** Whether it is the one that the machine reads at its first start: it holds nothing of a guest. */
  readonly isSeed: boolean;
}

/** Disks with a name that only this machine can have, and without the mark of another one. */
export function findOrphanDisks({ stock }: FullView, identity: MachineIdentity): OrphanDisk[] {
  const name = toMachineName(identity);
  const seed = toDiskName(name, SEED_DISK);
  const isOurs = ({ name: called, description }: Disk): boolean => {
    const mark = parseDiskMark(description);
    return isDiskNameOf(name, called) && (mark === undefined || isMarkOf(mark, identity));
  };
  return stock.orphans.filter(isOurs).map((disk) => ({ disk, isSeed: disk.name === seed }));
}

/** The step that deletes a disk that nothing uses. */
export function toOrphanDeletion(identity: MachineIdentity, { id, name }: Disk): Step {
  const change = { kind: "deleteDisk", diskId: id, diskName: name } as const;
  return toStep(identity, `delete disk ${name} (${id}), which nothing uses`, change);
}
