/**
 * Builds a view from the last inventory, without a request. Pure.
 * @module
 */
import * as v from "valibot";
import type { MachineHost } from "../../../../cloud/capabilities/machines.ts";
import type { LastListing } from "../../generation.ts";
import type { Host } from "../../wire/schema.ts";
import { WANTED } from "../wire/schemas.ts";
import { toVm } from "./to_vm.ts";
import type { View, Vm } from "./view.ts";
import { toVmsView } from "./vms_view.ts";

/** Builds the view. VMs that cannot be read are not in it: before a change all is looked at again. */
export function toRestView({ inventory, vms, hosts }: LastListing, atMs: number): View {
  const { coverage, observedAtMs } = inventory;
  const pools = [...coverage].map(([id, { complete, name = id }]) => ({
    id,
    name,
    isComplete: complete,
  }));
  const read = vms.flatMap((raw): Vm[] => {
    const parsed = v.safeParse(WANTED.vms.schema, raw);
    return parsed.success ? [toVm(parsed.output)] : [];
  });
  const shown = { vms: read, hosts: hosts.map(toHost), pools, inventory };
  return { observedAtMs, atMs, isForChange: false, ...toVmsView(shown) };
}

function toHost({ id, name_label: name, $pool: poolId, tags, enabled }: Host): MachineHost {
  return {
    id,
    name: name ?? id,
    poolId: poolId ?? "",
    tags: tags ?? [],
    isEnabled: enabled !== false,
  };
}
