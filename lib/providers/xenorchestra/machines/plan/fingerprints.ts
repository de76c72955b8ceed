/**
 * Short texts that change with what the list of VMs shows of a VM. Pure.
 * @module
 */
import type { Vm } from "../look/view.ts";
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
