/**
 * Finds the VM of a Node among those of a list. Pure.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { toUnknown } from "../../../cloud/presence.ts";
import type { Instance, Presence } from "../../../cloud/provider.ts";
import type { Identity } from "./identity.ts";

/** Names are indexed once for each list: it may have 5,000 VMs, and all Nodes are looked up in it. */
const INDEXES = new WeakMap<Inventory["instances"], ReadonlyMap<string, readonly Instance[]>>();

/** Finds the instance of a Node in an inventory: by the ID of its provider ID, else by its name. */
export function findInstance(inventory: Inventory, identity: Identity): Presence {
  if (identity.kind === "other") return identity.presence;
  if (identity.kind === "name") {
    return chooseByName(findNamed(inventory.instances, identity), identity, findGap(inventory));
  }
  const { vmId } = identity;
  const instance = inventory.instances.get(vmId);
  if (instance) return { kind: "present", instance, matchedBy: "providerId" };
  const problem = inventory.undecodable.get(vmId);
  if (problem !== undefined) return toUndecodable(vmId, problem);
  const gap = findGap(inventory);
  if (gap !== undefined) {
    return toUnknown(
      "notCovered",
      `CloudStack's list of VMs lacks VM ${vmId}, but is not whole: ${gap}`,
    );
  }
  return toUnknown("notListed", `CloudStack lists no VM ${vmId}`);
}

/**
 * Chooses the instance of a Node among those of its name. A destroyed VM never counts: the Node may belong to a
 * successor of the same name that is newer than the list, and the provider ID is written for good.
 *
 * @param gap Why the list may lack VMs
 */
export function chooseByName(
  named: readonly Instance[],
  { name }: Extract<Identity, { kind: "name" }>,
  gap?: string,
): Presence {
  const [instance, ...others] = named.filter((one) => !("isDead" in one));
  if (instance === undefined) {
    const message = `CloudStack lists no VM with the name "${name}"`;
    if (gap !== undefined)
      return toUnknown("notCovered", `${message}, but its list is not whole: ${gap}`);
    return toUnknown("notListed", message);
  }
  if (others.length > 0) {
    const ids = [instance, ...others]
      .map(({ id }) => id)
      .sort()
      .join(", ");
    const advice =
      "rename all but one, or start the kubelet with --provider-id=external-cloudstack://<VM UUID>";
    return toUnknown(
      "ambiguous",
      `Cannot choose between the VMs ${ids}: all have the name "${name}"; ${advice}`,
    );
  }
  return { kind: "present", instance, matchedBy: "name" };
}

/** The instances that have the name of a Node, or, if there is none, its part before the first dot. In any case. */
export function findNamed(
  instances: Inventory["instances"],
  { name, short }: Extract<Identity, { kind: "name" }>,
): readonly Instance[] {
  const index = INDEXES.get(instances) ?? indexNames(instances);
  INDEXES.set(instances, index);
  return index.get(name) ?? (short === undefined ? [] : (index.get(short) ?? []));
}

/** The server shows a VM in a form that cannot be read. */
export function toUndecodable(vmId: string, problem: string): Presence {
  return toUnknown("undecodable", `Cannot read VM ${vmId} in the answer of CloudStack: ${problem}`);
}

/** Why a list may lack VMs; absent when it is whole. */
export function findGap({ coverage }: Inventory): string | undefined {
  for (const { complete, reason } of coverage.values()) if (!complete) return reason ?? "";
  return undefined;
}

function indexNames(instances: Inventory["instances"]): ReadonlyMap<string, readonly Instance[]> {
  const index = new Map<string, Instance[]>();
  for (const instance of instances.values()) {
    const name = instance.name.toLowerCase();
    const same = index.get(name);
    if (same) same.push(instance);
    else index.set(name, [instance]);
  }
  return index;
}
