/**
 * The objects that virtual machines are made of: storage repositories, disks, their attachments, and templates.
 * @module
 */
import { toIdFields, toVm, type VmOptions, type XoRecord } from "../records.ts";
import { toUuid } from "../../uuid.ts";

const GIB = 1024 ** 3;

/** What {@linkcode toSr} needs. */
interface SrOptions {
  readonly name: string;
  readonly poolId: string;
  /** @default {a UUID made of the pool and the name} */
  readonly id?: string;
  /** In bytes. @default {1 TiB} */
  readonly sizeBytes?: number;
  /** @default {"user"} */
  readonly contentType?: "user" | "iso";
}

/** A storage repository (SR). Its `usage` follows from its disks. */
export function toSr(options: SrOptions): XoRecord {
  const { name, poolId, sizeBytes = 1024 * GIB, contentType = "user" } = options;
  const id = options.id ?? toUuid(`sr/${poolId}/${name}`);
  return {
    type: "SR",
    allocationStrategy: "thin",
    content_type: contentType,
    current_operations: {},
    inMaintenanceMode: false,
    name_description: "",
    name_label: name,
    other_config: {},
    physical_usage: 0,
    shared: true,
    size: sizeBytes,
    sm_config: {},
    SR_type: contentType === "iso" ? "iso" : "ext",
    usage: 0,
    VDIs: [],
    tags: [],
    $container: poolId,
    $PBDs: [],
    ...toIdFields(id, poolId),
  };
}

/** What {@linkcode toVdi} needs. */
interface VdiOptions {
  readonly id: string;
  readonly name: string;
  readonly sr: XoRecord;
  readonly sizeBytes: number;
  readonly description?: string;
  readonly tags?: readonly string[];
}

/** A virtual disk (VDI) that is attached to nothing. */
export function toVdi(options: VdiOptions): XoRecord {
  const { id, name, sr, sizeBytes, description = "", tags = [] } = options;
  return {
    type: "VDI",
    VDI_type: "user",
    cbt_enabled: false,
    missing: false,
    name_description: description,
    name_label: name,
    other_config: {},
    size: sizeBytes,
    snapshots: [],
    tags: [...tags],
    usage: sizeBytes,
    $SR: sr.id,
    $VBDs: [],
    ...toIdFields(id, String(sr["$pool"])),
  };
}

/** What {@linkcode toVbd} needs. */
interface VbdOptions {
  readonly id: string;
  readonly vm: XoRecord;
  readonly vdi: XoRecord;
  /** Position of the device: `0`. */
  readonly position: string;
  /** @default {false} */
  readonly isReadOnly?: boolean;
  /** @default {false} */
  readonly isCd?: boolean;
  /** @default {false} */
  readonly isBootable?: boolean;
}

/** The attachment of a disk to a virtual machine (VBD). */
export function toVbd(options: VbdOptions): XoRecord {
  const { id, vm, vdi, position, isReadOnly = false, isCd = false, isBootable = false } = options;
  const isRunning = vm["power_state"] === "Running";
  return {
    type: "VBD",
    attached: isRunning,
    bootable: isBootable,
    ...(isRunning && { device: `xvd${"abcdefghijklmnop".charAt(Number(position))}` }),
    is_cd_drive: isCd,
    position,
    read_only: isReadOnly,
    VDI: vdi.id,
    VM: vm.id,
    ...toIdFields(id, String(vm["$pool"])),
  };
}

/** A template without disks and interfaces. */
export function toTemplate(options: Omit<VmOptions, "power">): XoRecord {
  const vm = toVm({ ...options, power: "Halted" });
  return { ...vm, id: vm.id, type: "VM-template", isDefaultTemplate: false, template_info: {} };
}
