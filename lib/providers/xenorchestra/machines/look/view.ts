/**
 * What Xen Orchestra shows at one time of machines, and of everything that they are made of.
 * @module
 */
import type {
  MachineFirmware,
  MachinePowerState,
} from "../../../../cloud/capabilities/machine_power.ts";
import type { MachineHost, MachinesView } from "../../../../cloud/capabilities/machines.ts";
import type { Mark } from "../words.ts";

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
  /** For how long looks have shown that no VM is made of it, in milliseconds. @default {0} */
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
export interface LookingUser {
  /** Absent: Xen Orchestra does not say. */
  readonly id?: string;
  /** Privileges without which no creation may begin, and which it lacks: `task read`. */
  readonly blind: readonly string[];
}

/** What a change depends on, besides the VMs. */
export interface Stock {
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

/** One look at Xen Orchestra. */
export interface View extends MachinesView {
  /** In wall-clock milliseconds, when it began. */
  readonly atMs: number;
  /** For how long looks may still lack what an earlier process did, in milliseconds. @default {0} */
  readonly strangeMs?: number;
  /** Whether it has own changes that reads have lacked for long. @default {false} */
  readonly isUnsure?: boolean;
  readonly hostsById: ReadonlyMap<string, MachineHost>;
  /** VMs with names of our form, by name. */
  readonly vms: ReadonlyMap<string, readonly Vm[]>;
  /** VMs with other names that have our mark: copies, or renamed ones. */
  readonly strays: readonly Vm[];
  /** Why machines may exist that the view does not show, for operators; no full stop. */
  readonly gap?: string;
  /** Present exactly if the view is for a change. */
  readonly stock?: Stock;
}
