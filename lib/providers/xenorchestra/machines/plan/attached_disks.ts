/**
 * The disks that a VM has, for people and other programs, and where there is room for more. Pure.
 * @module
 */
import type { MachinePlan } from "../../../../cloud/capabilities/machines.ts";
import type { Attached, Stock, Vm } from "../look/view.ts";
import { SEED_DISK, toDiskName } from "../words.ts";

/**
 * Lists them in the order of their positions, without the disk that the VM reads at its first start.
 *
 * @returns `undefined` if one of them cannot be seen
 */
export function listAttachedDisks(
  { attached }: Pick<Stock, "attached">,
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
