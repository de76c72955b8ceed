/**
 * Says which MAC addresses exist, and which of them our machines have. Pure.
 * @module
 */
import { toMachineName } from "../../../../cloud/capabilities/machines.ts";
import type { MachineMac } from "../../../../cloud/capabilities/machine_power.ts";
import type { RawTemplate, RawVif } from "../wire/objects.ts";
import type { Vm } from "./view.ts";

/** The lists. */
interface MacLists {
  readonly vifs: readonly RawVif[];
  /** VMs of ours, and others with names or marks of our form. */
  readonly vms: readonly Vm[];
  /** They never run, so theirs do not count. */
  readonly templates: readonly Pick<RawTemplate, "id">[];
}

/** Lists them. */
export function toMacs({ vifs, vms, templates }: MacLists): MachineMac[] {
  const names = new Map(vms.filter(isMarked).map(({ id, name }) => [id, name]));
  const ignored = new Set(templates.map(({ id }) => id));
  return vifs.flatMap(({ MAC, $VM: vmId, device }): MachineMac[] => {
    if (vmId && ignored.has(vmId)) return [];
    const name = vmId ? names.get(vmId) : undefined;
    const machine = name === undefined ? undefined : { name, device: Number(device) };
    return [{ mac: MAC.toLowerCase(), ...(machine && { machine }) }];
  });
}

/** Whether a VM has the mark of the machine whose name it has. */
function isMarked({ name, mark }: Vm): boolean {
  return mark !== undefined && toMachineName({ owner: mark, ...mark }) === name;
}
