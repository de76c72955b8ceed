/**
 * Creates presences of a Node's VM, with messages for operators. Pure.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Instance } from "../../../cloud/instance.ts";
import { type MatchedBy, type Presence, toUnknown } from "../../../cloud/provider.ts";

/** What to do if the user lacks a right that Landfall needs. No full stop. */
export const RIGHTS_ADVICE: string =
  "make the user an administrator, or (from Xen Orchestra 6.4 on) give it a role that may read " +
  "vm, host, pool, network, vif and server: the older ACLs do not count for the REST API";

/** What to do if Xen Orchestra shows no pool at all. */
export const NO_POOL_ADVICE: string = `check that a pool is connected (Settings, Servers), and ${RIGHTS_ADVICE}`;

/** A UUID with its first three groups reversed, as some firmware reports it. */
const SWAPPED = "the same UUID in the byte order that some firmware reports";

/** The VM exists. */
export function toPresent(
  instance: Instance,
  matchedBy: MatchedBy,
): Presence & { kind: "present" } {
  return { kind: "present", instance, matchedBy };
}

/** The provider ID and the kubelet name different VMs. */
export function toContradiction(vmId: string, other: string): Presence {
  const message =
    `The provider ID names VM ${vmId}, but the kubelet reports the system UUID of VM ${other}; ` +
    "if the Node runs on that VM now, delete the Node and restart its kubelet, which then registers it again";
  return toUnknown("ambiguous", message);
}

/** The VM exists, but Landfall cannot read its record. */
export function toUndecodable(id: string, problem: string): Presence {
  return toUnknown(
    "undecodable",
    `Cannot read VM ${id} in the answer of Xen Orchestra: ${problem}`,
  );
}

/**
 * Finds the first pool that was shown before and is not shown in full now, and why. It may hold VMs that are hidden
 * now.
 */
export function findGap(coverage: Inventory["coverage"]): string | undefined {
  for (const [id, { complete, isOnlyNamed, name = id, reason = "" }] of coverage) {
    if (!complete && !isOnlyNamed) return `pool ${name}: ${reason}`;
  }
  return undefined;
}

/** The VM is shown as off, although a kubelet registers a Node for it. */
export function toHalted(
  { id, region = "unknown", details }: Instance,
  coverage: Inventory["coverage"],
): Presence {
  const pool = coverage.get(region)?.name ?? region;
  const shown = `VM ${id} in pool ${pool} is ${details["powerState"] ?? "stopped"}`;
  const why = "the kubelet that registers the Node runs, so this VM may be a copy";
  const advice =
    "if it is the Node's VM, start it, or wait until Xen Orchestra shows that it runs; " +
    "if not, look in the other pools for a VM with the same UUID";
  return toUnknown("notCovered", `${shown}, but ${why}; ${advice}`);
}

/** The VM has the byte-swapped system UUID, but the VM with the reported UUID may be in a lost pool. */
export function toUnproven({ id }: Instance, direct: string, gap: string): Presence {
  const message =
    `Cannot choose a VM: VM ${id} has the Node's system UUID in the byte order that some firmware reports, ` +
    `but VM ${direct} may be in ${gap}; reconnect that pool, or start the kubelet with --provider-id`;
  return toUnknown("notCovered", message);
}

/** No VM has the system UUID, in either byte order. */
export function toNotFound({ coverage }: Inventory, direct: string, swapped: string): Presence {
  const other = swapped === direct ? "" : `, nor with ${swapped}, ${SWAPPED}`;
  const message = `Xen Orchestra has no VM with the system UUID ${direct}${other}`;
  const gap = findGap(coverage);
  if (gap !== undefined) return toUnknown("notCovered", `${message}; it may be in ${gap}`);
  const isAnyShown = [...coverage.values()].some(({ complete }) => complete);
  const advice =
    "check that the VM is in a pool of this Xen Orchestra, or start the kubelet with --provider-id";
  if (isAnyShown) return toUnknown("notFound", `${message}; ${advice}`);
  return toUnknown("notCovered", `${message}, and it shows no pool; ${NO_POOL_ADVICE}`);
}
