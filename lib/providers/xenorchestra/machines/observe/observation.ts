/**
 * What Xen Orchestra shows at one time of machines, and of everything that they are made of. Pure.
 * @module
 */
import * as v from "valibot";
import type {
  MachineFirmware,
  MachinePowerState,
} from "../../../../cloud/capabilities/machine_power.ts";
import {
  type Machine,
  type MachineHost,
  type MachinePool,
  type MachinesView,
  parseMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import type { Inventory } from "../../../../cloud/inventory/inventory.ts";
import { type LastListing, type Surroundings, atHost } from "../../inventory.ts";
import { type RawHost, type RawTemplate, type RawVm, WANTED } from "../wire/objects.ts";
import { type Mark, findUidTag, listReadyTags, parseMark } from "../words.ts";
import type { InstanceSettings } from "../../settings.ts";

/** A VM, or a template. */
export interface Vm {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly poolId: string;
  readonly power: MachinePowerState;
  /** While it runs. */
  readonly hostId?: string;
  readonly cpus?: number;
  readonly memoryBytes?: number;
  /** The least memory that it may have. */
  readonly memoryBytesMin?: number;
  readonly tags: readonly string[];
  /** What its description says, if it has the form of ours. */
  readonly mark?: Mark;
  /** Why it cannot be deleted. */
  readonly destroyBlock?: string;
  readonly bootOrder: string;
  readonly firmware: MachineFirmware;
  /** IDs of the links to its disks. */
  readonly linkIds: readonly string[];
  /** IDs of its network interfaces. */
  readonly vifIds: readonly string[];
  readonly creation?: {
    readonly user?: string;
    readonly template?: string;
    readonly dateMs?: number;
  };
  /** Whether it was started, as far as it says. */
  readonly isStarted: boolean;
  /** When, by Xen Orchestra's clock, to the second. A restart is a start. */
  readonly startedAtMs?: number;
  readonly hasSnapshots: boolean;
  /** Whether an operation of the hypervisor runs on it. */
  readonly isBusy: boolean;
  /** Whether the guest can be asked to stop. */
  readonly hasTools: boolean;
}

/** A template. */
export interface Template extends Vm {
  /** As `create_vm` wants it. */
  readonly uuid: string;
  readonly isDefault: boolean;
  /** For how long observations have shown that no VM is made of it, in milliseconds. @default {0} */
  readonly idleMs?: number;
}

/** A storage repository. Sizes are in bytes. */
export interface Storage {
  readonly id: string;
  readonly name: string;
  readonly poolId: string;
  /** The only host that reaches it. Absent: all do. */
  readonly hostId?: string;
  /** Whether it can hold disks of VMs now. */
  readonly isUsable: boolean;
  /** Absent: not known. */
  readonly freeBytes?: number;
  /** Whether a disk takes its space at once. */
  readonly isThick: boolean;
}

/** A network. */
export interface Network {
  readonly id: string;
  readonly name: string;
  readonly poolId: string;
}

/** A network interface of a VM. */
export interface Vif {
  readonly device: string;
  /** In lower case. */
  readonly mac: string;
  readonly networkId: string;
  /** In bytes. Absent: not known. */
  readonly mtu?: number;
}

/** A disk. */
export interface Disk {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly sizeBytes: number;
  readonly storageId: string;
  readonly poolId: string;
  /** How many links it has. */
  readonly links: number;
}

/** A disk of a VM, or a drive. */
export interface Attached {
  readonly linkId: string;
  /** `0`, `1` … */
  readonly position: string;
  readonly isCd: boolean;
  /** ID of the disk; absent for an empty drive. */
  readonly diskId?: string;
  /** Absent: there is none, or it cannot be seen. */
  readonly disk?: Disk;
}

/** A task that made a VM, or makes it. */
export interface CreateTask {
  readonly id: string;
  readonly status: "pending" | "success" | "failure" | "interrupted";
  /** By the server's clock. */
  readonly endMs?: number;
  /** How long it took, after its end. */
  readonly tookMs?: number;
  /** ID of the VM, after a success. */
  readonly vmId?: string;
  /** UUID of the template that was asked for. */
  readonly template?: string;
  /** What went wrong, as the server says it. */
  readonly error?: string;
}

/** What a pool is called and has. */
export interface Pool {
  readonly id: string;
  readonly name: string;
  readonly defaultStorageId?: string;
}

/** The user of Landfall. */
export interface ApiUser {
  /** Absent: Xen Orchestra does not say. */
  readonly id?: string;
  /** Privileges without which no creation may begin, and which it lacks: `task read`. */
  readonly blind: readonly string[];
}

/** What a change depends on, besides the VMs. */
export interface Resources {
  /** The user of Landfall. Absent: not known. */
  readonly userId?: string;
  /** Privileges without which no creation may begin, and which the user lacks: `task read`. */
  readonly blind: readonly string[];
  readonly pools: ReadonlyMap<string, Pool>;
  readonly templates: readonly Template[];
  /** Tasks by the name of the VM, the newest first. Absent: the user has no right to see any. */
  readonly tasks?: ReadonlyMap<string, readonly CreateTask[]>;
  readonly storages: readonly Storage[];
  readonly networks: readonly Network[];
  /** By the ID of the VM or template, by device. */
  readonly vifs: ReadonlyMap<string, readonly Vif[]>;
  /** IDs of VMs and templates by MAC address. */
  readonly macs: ReadonlyMap<string, readonly { readonly vmId: string; readonly poolId: string }[]>;
  /** By the ID of the VM or template, by position. */
  readonly attached: ReadonlyMap<string, readonly Attached[]>;
  /** Disks with a name of our form that are attached to nothing, and for how long that is known, in milliseconds. */
  readonly orphans: readonly (Disk & { readonly unusedMs: number })[];
  /** Names of the VMs that this process asked for. */
  readonly begun: ReadonlySet<string>;
  /** IDs of disks that the user of Landfall has no right to rename. */
  readonly unnamable: ReadonlySet<string>;
  /**
   * Disks of the machines in question that are attached to something that is not shown: so reads show for a moment what
   * a VM left that was just deleted. Then they show the disk as an orphan, or not at all.
   */
  readonly adrift: readonly Disk[];
}

/** One observation at Xen Orchestra. */
export interface Observation extends MachinesView {
  /** In wall-clock milliseconds, when it began. */
  readonly atMs: number;
  /** For how long observations may still lack what an earlier process did, in milliseconds. @default {0} */
  readonly strangeMs?: number;
  /** Whether it has own changes that reads have lacked for long. @default {false} */
  readonly isUnsure?: boolean;
  readonly hostsById: ReadonlyMap<string, MachineHost>;
  /** VMs with names of our form, by name. */
  readonly vms: ReadonlyMap<string, readonly Vm[]>;
  /** VMs with other names that have our mark: copies, or renamed ones. */
  readonly strays: readonly Vm[];
  /** Why machines may exist that the observation does not show, for operators; no full stop. */
  readonly gap?: string;
  /** Present exactly if the observation is for a change. */
  readonly resources?: Resources;
}

const POWERS: Readonly<Record<string, MachinePowerState>> = {
  Running: "running",
  Halted: "stopped",
  Paused: "paused",
  Suspended: "suspended",
};
const FIRMWARES = ["bios", "uefi"] as const;

/** Turns a raw VM into one of an observation. */
export function toVm(raw: RawVm): Vm {
  const description = raw.name_description ?? "";
  const mark = parseMark(description);
  const power = POWERS[raw.power_state ?? ""] ?? "unknown";
  const [memoryBytesMin, memoryBytes] = raw.memory?.static ?? [];
  const cpus = raw.CPUs?.number ?? raw.CPUs?.max ?? undefined;
  const block = raw.blockedOperations?.["destroy"];
  const creation = toCreation(raw.creation);
  const isOn = power === "running" || power === "paused";
  const hostId = isOn && raw.$container !== raw.$pool ? raw.$container : undefined;
  return {
    id: raw.id,
    name: raw.name_label,
    description,
    poolId: raw.$pool,
    power,
    ...(hostId ? { hostId } : {}),
    ...(cpus !== undefined && { cpus }),
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(memoryBytesMin !== undefined && { memoryBytesMin }),
    tags: raw.tags ?? [],
    ...(mark && { mark }),
    ...(block !== undefined && block !== null && { destroyBlock: String(block) }),
    bootOrder: raw.boot?.order ?? "",
    firmware: FIRMWARES.find((one) => one === raw.boot?.firmware) ?? "unknown",
    linkIds: raw.$VBDs ?? [],
    vifIds: raw.VIFs ?? [],
    ...(creation && { creation }),
    isStarted: Boolean(raw.startTime),
    ...(raw.startTime && { startedAtMs: raw.startTime * 1_000 }),
    hasSnapshots: (raw.snapshots ?? []).length > 0,
    isBusy: Object.keys(raw.current_operations ?? {}).length > 0,
    hasTools: raw.pvDriversDetected === true || Boolean(raw.xenTools),
  };
}

/** Turns a raw template into one of an observation. */
export function toTemplate(raw: RawTemplate): Template {
  return {
    ...toVm(raw),
    uuid: raw.uuid ?? raw.id,
    isDefault: raw.isDefaultTemplate === true,
  };
}

function toCreation(raw: RawVm["creation"]): Vm["creation"] {
  if (!raw) return undefined;
  const { user, template, date } = raw;
  const dateMs = typeof date === "string" ? Date.parse(date) : Number(date ?? Number.NaN);
  return {
    ...(user ? { user } : {}),
    ...(template ? { template } : {}),
    ...(Number.isNaN(dateMs) ? {} : { dateMs }),
  };
}

/** What was shown. */
interface ShownVms {
  readonly vms: readonly Vm[];
  readonly hosts: readonly MachineHost[];
  readonly pools: readonly MachinePool[];
  readonly instances: Inventory["instances"];
  readonly surroundings: Pick<Surroundings, "hosts" | "pools">;
  readonly settings: InstanceSettings;
}

/** Builds the parts of an observation that need no list of parts. */
export function toVmsObservation(
  shown: ShownVms,
): Pick<Observation, "machines" | "vms" | "strays" | "hosts" | "hostsById" | "pools"> {
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

/** The machine that describes a VM of an observation. */
export function findShown(
  { machines }: Pick<Observation, "machines">,
  { name, id }: Vm,
): Machine | undefined {
  return machines.get(name)?.find((machine) => machine.id === id);
}

/** Reads the VMs of an inventory. What cannot be read is missing: before a change all is looked at again. */
export function readVms(vms: LastListing["vms"]): readonly Vm[] {
  return vms.flatMap((raw): Vm[] => {
    const parsed = v.safeParse(WANTED.vms.schema, raw);
    return parsed.success ? [toVm(parsed.output)] : [];
  });
}

/** Builds the observation. @param vms As {@linkcode readVms} reads them */
export function toInventoryObservation(
  { inventory, surroundings }: LastListing,
  vms: readonly Vm[],
  settings: InstanceSettings,
  atMs: number,
): Observation {
  const { coverage, observedAtMs, instances } = inventory;
  const pools = [...coverage].map(([id, { complete, name = id }]) => ({
    id,
    name,
    isComplete: complete,
  }));
  const hosts = [...surroundings.hosts.values()].map(toHost);
  const shown = { vms, hosts, pools, instances, surroundings, settings };
  return { observedAtMs, atMs, isForChange: false, ...toVmsObservation(shown) };
}
