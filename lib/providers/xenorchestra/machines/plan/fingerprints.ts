/**
 * Short texts that change with what the list of VMs shows of a VM. Pure.
 * @module
 */
import type { MachineSpec } from "../../../../cloud/capabilities/machines.ts";
import type { Vm } from "../look/view.ts";
import { DISKS_MAX } from "../vm_record.ts";
import { toHash } from "../words.ts";

/** Changes when a VM gets or loses an interface or a disk. An edited interface is another one. */
export function toPartsHash({ vifIds, linkIds }: Pick<Vm, "linkIds" | "vifIds">): string {
  return toHash([vifIds.toSorted(), linkIds.toSorted()]);
}

/**
 * Changes with all that the list of VMs shows and that a plan for a complete VM depends on.
 *
 * @param partsHash As {@linkcode toPartsHash} makes it, if it is there already
 */
export function toShownHash(vm: Vm, partsHash: string = toPartsHash(vm)): string {
  const { id, power, description, poolId, tags, cpus, memoryBytes, destroyBlock } = vm;
  const values = [id, power, description, poolId, cpus, memoryBytes, destroyBlock];
  return toHash([values.map((one) => one ?? null), tags.toSorted(), partsHash]);
}

/** A short text for the name of a disk, for records. */
export function toNameHash(name: string): string {
  return toHash([name]);
}

/**
 * Which disks of its specification a machine has or had, for its record: one that is missing may hold data, unless the
 * record proves that the machine never had it.
 *
 * @param before What the record says. Absent: nothing
 * @param missing Names of those that it lacks now
 * @returns `undefined` if they are too many for a record
 */
export function listHad(
  { disks }: Pick<MachineSpec, "disks">,
  before?: readonly string[],
  missing: readonly string[] = [],
): readonly string[] | undefined {
  if (disks.length > DISKS_MAX) return undefined;
  const had = disks.filter(({ name }) => {
    return !missing.includes(name) || before === undefined || before.includes(toNameHash(name));
  });
  return had.map(({ name }) => toNameHash(name));
}
