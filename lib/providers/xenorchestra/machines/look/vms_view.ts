/**
 * Sorts VMs by name, and describes them as machines. Pure.
 * @module
 */
import {
  type Machine,
  type MachineHost,
  type MachinePool,
  parseMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import type { Inventory } from "../../../../cloud/inventory/inventory.ts";
import { atHost, type Surroundings } from "../../inventory.ts";
import type { InstanceSettings } from "../../settings.ts";
import type { RawHost } from "../wire/objects.ts";
import { findUidTag, listReadyTags } from "../words.ts";
import type { View, Vm } from "./view.ts";

/** What was shown. */
interface ShownVms {
  readonly vms: readonly Vm[];
  readonly hosts: readonly MachineHost[];
  readonly pools: readonly MachinePool[];
  readonly instances: Inventory["instances"];
  readonly surroundings: Pick<Surroundings, "hosts" | "pools">;
  readonly settings: InstanceSettings;
}

/** Builds the parts of a view that need no close look. */
export function toVmsView(
  shown: ShownVms,
): Pick<View, "machines" | "vms" | "strays" | "hosts" | "hostsById" | "pools"> {
  const { vms, hosts, pools } = shown;
  const own = vms.filter(({ name }) => parseMachineName(name) !== undefined);
  const strays = vms.filter(({ name, mark, tags }) => {
    const isMarked = mark !== undefined || findUidTag(tags) !== undefined;
    return isMarked && parseMachineName(name) === undefined;
  });
  const byName = Map.groupBy(own, ({ name }) => name);
  const machines = [...byName].map(
    ([name, some]) => [name, some.map((vm) => toMachine(vm, shown))] as const,
  );
  return {
    machines: new Map(machines),
    vms: byName,
    strays,
    hosts,
    hostsById: new Map(hosts.map((host) => [host.id, host])),
    pools,
  };
}

/** Describes a host. */
export function toHost(raw: RawHost): MachineHost {
  const { id, name_label: name, $pool: poolId, tags, enabled } = raw;
  return {
    id,
    name: name ?? id,
    poolId: poolId ?? "",
    tags: tags ?? [],
    isEnabled: enabled !== false,
  };
}

/** Describes a VM as a machine. */
function toMachine(vm: Vm, shown: ShownVms): Machine {
  const instance = findInstance(vm, shown);
  return {
    name: vm.name,
    id: vm.id,
    isComplete: isComplete(vm),
    power: vm.power,
    ...(vm.cpus !== undefined && { cpus: vm.cpus }),
    ...(vm.memoryBytes !== undefined && { memoryBytes: vm.memoryBytes }),
    firmware: vm.firmware,
    poolId: vm.poolId,
    ...(vm.hostId !== undefined && { hostId: vm.hostId }),
    ...(vm.mark?.hostId !== undefined && { firstHostId: vm.mark.hostId }),
    ...(instance && { instance }),
  };
}

/** One that is off says where it will be: the place where it is later it must not get only then. */
function findInstance(
  { id, hostId, mark }: Vm,
  { instances, surroundings, settings }: ShownVms,
): Machine["instance"] {
  const instance = instances.get(id);
  const firstHostId = mark?.hostId;
  const isPlaced = instance === undefined || hostId !== undefined || firstHostId === undefined;
  return isPlaced ? instance : atHost(instance, firstHostId, surroundings, settings);
}

/** Whether a VM has the last mark. */
export function isComplete({ tags }: Pick<Vm, "tags">): boolean {
  return listReadyTags(tags).length > 0;
}

/** The machine that describes a VM of a view. */
export function findShown(
  { machines }: Pick<View, "machines">,
  { name, id }: Vm,
): Machine | undefined {
  return machines.get(name)?.find((machine) => machine.id === id);
}
