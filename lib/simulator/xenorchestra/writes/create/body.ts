/**
 * The body of `create_vm`: which keys it takes, and of which types.
 * @module
 */
import type { BodyShape } from "../routes/bodies.ts";

/** An interface to make, or one of the template to remove. */
export interface VifWish {
  network?: string;
  /** Filled in where it is absent; the record of the task shows that. */
  device?: string;
  mac?: string;
  mtu?: number;
  ipv4_allowed?: string[];
  ipv6_allowed?: string[];
  destroy?: boolean;
}

/** A disk to make, or with `userdevice` a disk of the template to change. */
export interface VdiWish {
  name_label?: string;
  size?: number;
  sr?: string;
  name_description?: string;
  userdevice?: string;
}

/** The body, checked. */
export interface CreateBody {
  template?: string;
  name_label: string;
  name_description?: string;
  cpus?: number;
  memory?: number;
  affinity?: string;
  autoPoweron?: boolean;
  high_availability?: string;
  hvmBootFirmware?: string;
  secureBoot?: boolean;
  createVtpm?: boolean;
  copyHostBiosStrings?: boolean;
  clone?: boolean;
  vifs?: VifWish[];
  vdis?: VdiWish[];
  install?: { method: "network" | "cdrom"; repository: string };
  cloud_config?: string;
  network_config?: string;
  boot?: boolean;
  destroy_cloud_config_vdi?: boolean;
  vgpuType?: string;
  gpuGroup?: string;
}

const VIF: BodyShape = {
  network: { type: "string" },
  device: { type: "string" },
  mac: { type: "string" },
  mtu: { type: "number" },
  ipv4_allowed: { type: "array" },
  ipv6_allowed: { type: "array" },
  destroy: { type: "boolean" },
};

const VDI: BodyShape = {
  name_label: { type: "string" },
  size: { type: "number" },
  sr: { type: "string" },
  name_description: { type: "string" },
  userdevice: { type: "string" },
};

/** What the body may have. */
export const CREATE_SHAPE: BodyShape = {
  template: { type: "string" },
  name_label: { type: "string", isRequired: true },
  name_description: { type: "string" },
  cpus: { type: "number" },
  memory: { type: "number" },
  affinity: { type: "string" },
  autoPoweron: { type: "boolean" },
  high_availability: { type: "string" },
  hvmBootFirmware: { type: "string" },
  secureBoot: { type: "boolean" },
  createVtpm: { type: "boolean" },
  copyHostBiosStrings: { type: "boolean" },
  clone: { type: "boolean" },
  vifs: { type: "array", of: VIF },
  vdis: { type: "array", of: VDI },
  install: { type: "object", of: { method: { type: "string" }, repository: { type: "string" } } },
  cloud_config: { type: "string" },
  network_config: { type: "string" },
  boot: { type: "boolean" },
  destroy_cloud_config_vdi: { type: "boolean" },
  vgpuType: { type: "string" },
  gpuGroup: { type: "string" },
};
