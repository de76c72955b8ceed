/**
 * The machines that stories ask for, and their owner.
 * @module
 */
import type { MachineIdentity, MachineSpec } from "../../../lib/cloud/capabilities/machines.ts";
import type { MachineSite } from "../../../lib/simulator/xenorchestra/mod.ts";

/** A machine that must exist, or one that must go. */
export type Wish =
  | { readonly kind: "exists"; readonly spec: MachineSpec }
  | { readonly kind: "gone"; readonly spec: MachineIdentity };

/** The owner of all machines. */
export const OWNER = {
  namespace: "metal",
  name: "edge",
  uid: "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
} as const;

const GIB = 1024 ** 3;

/** A machine that must exist: two disks, two interfaces, a seed; started on its host. */
export function toSpec(
  site: MachineSite,
  index: number,
  over: Partial<MachineSpec> = {},
): MachineSpec {
  return {
    owner: OWNER,
    role: "worker",
    index,
    poolId: site.poolIds.paris,
    hostId: site.hostIds["xcp-par-2"],
    template: "vino-debian",
    cpus: 4,
    memoryBytes: 4 * GIB,
    disks: [
      { name: "root", sizeBytes: 20 * GIB },
      { name: "data", sizeBytes: 5 * GIB, storage: "fast" },
    ],
    interfaces: [
      { name: "oam", network: "oam", mac: `02:00:00:00:01:0${index}` },
      { name: "pxe", network: "provisioning", mac: `02:00:00:00:02:0${index}` },
    ],
    boot: "disk",
    seed: { label: "cidata", files: { "user-data": "#cloud-config\n", "meta-data": "{}\n" } },
    isStarted: true,
    ...over,
  };
}
