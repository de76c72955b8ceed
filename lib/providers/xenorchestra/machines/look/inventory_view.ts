/**
 * Builds a view from the last inventory, without a request. Pure.
 * @module
 */
import * as v from "valibot";
import type { LastListing } from "../../inventory.ts";
import type { InstanceSettings } from "../../settings.ts";
import { WANTED } from "../wire/schemas.ts";
import { toVm } from "./to_vm.ts";
import type { View, Vm } from "./view.ts";
import { toHost, toVmsView } from "./vms_view.ts";

/** Reads the VMs of an inventory. What cannot be read is missing: before a change all is looked at again. */
export function readVms(vms: LastListing["vms"]): readonly Vm[] {
  return vms.flatMap((raw): Vm[] => {
    const parsed = v.safeParse(WANTED.vms.schema, raw);
    return parsed.success ? [toVm(parsed.output)] : [];
  });
}

/** Builds the view. @param vms As {@linkcode readVms} reads them */
export function toInventoryView(
  { inventory, surroundings }: LastListing,
  vms: readonly Vm[],
  settings: InstanceSettings,
  atMs: number,
): View {
  const { coverage, observedAtMs, instances } = inventory;
  const pools = [...coverage].map(([id, { complete, name = id }]) => ({
    id,
    name,
    isComplete: complete,
  }));
  const hosts = [...surroundings.hosts.values()].map(toHost);
  const shown = { vms, hosts, pools, instances, surroundings, settings };
  return { observedAtMs, atMs, isForChange: false, ...toVmsView(shown) };
}
