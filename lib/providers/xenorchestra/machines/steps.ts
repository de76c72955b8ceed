/**
 * The changes that a plan may ask for.
 * @module
 */
import type {
  MachineIdentity,
  MachineSeed,
  MachineStep,
} from "../../../cloud/capabilities/machines.ts";
import type { VmRecord } from "./vm_record.ts";

/** What is created, as `create_vm` wants it. */
export interface CreateBody {
  readonly template: string;
  readonly name_label: string;
  readonly name_description: string;
  readonly cpus: number;
  readonly memory: number;
  readonly affinity: string;
  readonly boot: false;
  readonly clone: true;
  readonly vifs: readonly object[];
  readonly vdis: readonly object[];
  readonly install?: { readonly method: "network"; readonly repository: "" };
}

/** Fields of a VM, as `PATCH /vms/{id}` wants them. */
export interface VmFields {
  readonly nameDescription?: string;
  readonly tags?: readonly string[];
  readonly cpus?: number;
  readonly memory?: number;
  readonly blockedOperations?: Readonly<Record<string, string | null>>;
  readonly hvmBootFirmware?: "bios" | "uefi";
}

/** What says whose a disk is. */
export interface DiskNames {
  readonly name_label: string;
  readonly name_description: string;
}

/** Fields of a disk, as `PATCH /vdis/{id}` wants them. */
export interface DiskFields extends Partial<DiskNames> {
  readonly size?: number;
}

/** A VM, or the template that a VM is at first. */
interface HalfMade {
  readonly id: string;
  readonly kind: "vm" | "template";
  readonly poolId: string;
}

/** VMs that a machine had, and that no list shows. */
export interface EarlierVms {
  readonly vmIds: readonly string[];
  /** ID. Absent: not known. */
  readonly poolId?: string;
}

/** What each change needs. IDs are those of Xen Orchestra. */
export type Change =
  /** Records the attempt, asks for the VM, and records the task. */
  | {
      readonly kind: "create";
      readonly poolId: string;
      readonly body: CreateBody;
      readonly record: VmRecord;
    }
  /** Asks for VMs that no list shows, and remembers that they are gone. Changes nothing in the cloud. */
  | {
      readonly kind: "proveGone";
      readonly earlier: EarlierVms;
      readonly record: VmRecord;
    }
  /** Asks once more whether it is really half-made, right before. */
  | {
      readonly kind: "deleteHalfMade";
      readonly thing: HalfMade;
      /** IDs of its disks that have the names of the template's. */
      readonly inherited: readonly string[];
      readonly userId: string | undefined;
      /** Saved after that, if nothing more can come of the last attempt. */
      readonly record?: VmRecord;
    }
  /** Asks once more whether it is attached to nothing, right before. */
  | { readonly kind: "deleteDisk"; readonly diskId: string; readonly diskName: string }
  | { readonly kind: "patchVm"; readonly vmId: string; readonly fields: VmFields }
  | {
      readonly kind: "patchDisk";
      readonly diskId: string;
      readonly fields: DiskFields;
    }
  /** Leaves a disk as it is that must not be renamed. */
  | { readonly kind: "renameDisk"; readonly diskId: string; readonly fields: DiskNames }
  | {
      readonly kind: "addInterface";
      readonly vmId: string;
      readonly device: string;
      readonly networkId: string;
      readonly mac: string;
      readonly mtu?: number;
    }
  /** Makes an empty disk, unless it is there already, and attaches it. The record names it before. */
  | {
      readonly kind: "addDisk";
      readonly vmId: string;
      readonly poolId: string;
      readonly storageId: string;
      readonly sizeBytes: number;
      readonly position: string;
      readonly names: DiskNames;
      /** ID of the disk that an earlier attempt made. */
      readonly diskId?: string;
      readonly record: VmRecord;
    }
  /** Uploads the disk, and attaches it. */
  | {
      readonly kind: "attachSeed";
      readonly vmId: string;
      readonly poolId: string;
      readonly storageId: string;
      /** Where it is attached: a request that is sent twice then attaches it once. */
      readonly position: string;
      readonly seed: MachineSeed;
      /** Saved with a doubt if it is not clear whether the upload still arrives. */
      readonly record: VmRecord;
    }
  /** The last mark, and the record of it. */
  | {
      readonly kind: "ready";
      readonly vmId: string;
      readonly fields: VmFields;
      readonly record: VmRecord;
    }
  /** Only the record changes. */
  | { readonly kind: "saveRecord"; readonly record: VmRecord }
  | { readonly kind: "start"; readonly vmId: string; readonly hostId: string }
  | { readonly kind: "addTag" | "removeTag"; readonly vmId: string; readonly tag: string }
  | {
      readonly kind: "shutdown";
      readonly vmId: string;
      readonly isHard: boolean;
      readonly record: VmRecord;
    }
  /** Takes away a disk that is not ours. It stays. */
  | {
      readonly kind: "detachDisk";
      readonly linkId: string;
      readonly vmId: string;
      readonly diskId?: string;
    }
  /** Asks once more whether it is ours, off and without disks of others, right before. */
  | {
      readonly kind: "deleteVm";
      readonly vmId: string;
      readonly poolId: string;
      readonly linkIds: readonly string[];
      readonly record: VmRecord;
    };

/** The change of one kind. */
export type ChangeOf<K extends Change["kind"]> = Extract<Change, { readonly kind: K }>;

/** A step of Xen Orchestra. */
export type Step = MachineStep & {
  readonly change: Change;
  readonly identity: MachineIdentity;
};
