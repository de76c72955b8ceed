/**
 * A Vino with a machine of each firmware, for a real Ironic.
 * @module
 */
import type { World } from "../../../lib/simulator/xenorchestra/mod.ts";
import { toXenOrchestraSpec } from "../vino/xen_orchestra_stage.ts";

/** The firmwares, which are the names of the roles. */
export const FIRMWARES = ["bios", "uefi"] as const;
/** One of them. */
export type Firmware = (typeof FIRMWARES)[number];

const TEMPLATES = { bios: "vino-debian", uefi: "vino-blank" } as const;

/** A role for each firmware. */
export function toSpec(): ReturnType<typeof toXenOrchestraSpec> {
  const spec = toXenOrchestraSpec(1, { boot: "Network" });
  const [node] = spec.nodes ?? [];
  if (node === undefined) throw new Error("there is no role");
  const nodes = FIRMWARES.map((name) => ({
    ...node,
    name,
    xenOrchestra: { template: TEMPLATES[name] },
  }));
  return { ...spec, nodes };
}

/** One template has UEFI. */
export function withUefi(world: World): World {
  const templates = (world["vm-templates"] ?? []).map((one) =>
    one["name_label"] === TEMPLATES.uefi
      ? { ...one, boot: { ...Object(one["boot"]), firmware: "uefi" } }
      : one,
  );
  return { ...world, "vm-templates": templates };
}

/** The host of a firmware. */
export function toHost(firmware: Firmware): string {
  return `edge-${firmware}-0`;
}
