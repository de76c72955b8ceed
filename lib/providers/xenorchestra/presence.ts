/**
 * What there is to say of a Node's VM, in words for people. Pure.
 * @module
 */
import type { Inventory } from "../../cloud/inventory.ts";
import type { Instance, MatchedBy, Presence, UnknownReason } from "../../cloud/provider.ts";
import { NO_POOL_ADVICE } from "./rights.ts";

/** What a UUID is whose first three groups are reversed; some firmware tells it so. */
const SWAPPED = "the same UUID in the byte order that some firmware reports";

/** It is there. */
export function toPresent(
  instance: Instance,
  matchedBy: MatchedBy,
): Presence & { kind: "present" } {
  return { kind: "present", instance, matchedBy };
}

/** Nothing can be said. */
export function toUnknown(reason: UnknownReason, message: string): Presence & { kind: "unknown" } {
  return { kind: "unknown", reason, message };
}

/** The provider ID and the kubelet name different VMs. */
export function toContradiction(vmId: string, other: string): Presence {
  const message =
    `The provider ID names VM ${vmId}, but the kubelet reports the system UUID of VM ${other}; ` +
    "if that is the Node's machine now, delete the Node and restart its kubelet, so that it registers again";
  return toUnknown("ambiguous", message);
}

/** It is there, in a form that cannot be read. */
export function toUndecodable(id: string, problem: string): Presence {
  return toUnknown("undecodable", `Cannot read VM ${id} as Xen Orchestra shows it: ${problem}`);
}

/** No VM has the system UUID, in either order of its bytes. */
export function toNotFound({ coverage }: Inventory, direct: string, swapped: string): Presence {
  const other = swapped === direct ? "" : `, nor with ${swapped}, ${SWAPPED}`;
  const message = `Xen Orchestra has no VM with the system UUID ${direct}${other}`;
  for (const [id, { complete, isOnlyNamed, name = id, reason = "" }] of coverage) {
    if (!complete && !isOnlyNamed)
      return toUnknown("notCovered", `${message}; it may be in pool ${name}: ${reason}`);
  }
  const isAnyShown = [...coverage.values()].some(({ complete }) => complete);
  const advice =
    "check that the VM is in a pool of this Xen Orchestra, or start the kubelet with --provider-id";
  if (isAnyShown) return toUnknown("notFound", `${message}; ${advice}`);
  return toUnknown("notCovered", `${message}, and no pool is shown; ${NO_POOL_ADVICE}`);
}
