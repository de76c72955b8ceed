/**
 * Converts a Node for the guards of `lib/cloud`. Pure.
 * @module
 */
import type { Sighting } from "../../cloud/deletion/first_sightings.ts";
import type { DeletionSettings, FleetMember } from "../../cloud/deletion/guard.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isReady, isUninitialized } from "../identity.ts";
import { isOutOfServiceByUs } from "./out_of_service.ts";

/**
 * Returns a Node as a member of the fleet.
 *
 * @returns `undefined` for a Node that is not ours: foreign, without a valid provider ID, or not initialised while the
 * settings leave such Nodes out
 */
export function toFleetMember(
  node: Node,
  presence: Presence,
  { includesUninitialized }: Pick<DeletionSettings, "includesUninitialized">,
): FleetMember | undefined {
  const { uid } = node.metadata;
  const isIncluded = includesUninitialized || !isUninitialized(node);
  if (uid === undefined || !isIncluded || !hasProvableMachine(node, presence)) return undefined;
  if (presence.kind === "foreign") return undefined;
  if (presence.kind === "unknown" && presence.reason === "malformedProviderId") return undefined;
  const member = { uid, isReady: isReady(node), sighting: toSighting(presence) };
  return isOutOfServiceByUs(node) ? { ...member, outOfService: "done" } : member;
}

/**
 * Whether a provider ID names the machine of a Node. Without one, no cloud can prove that the machine is gone. For a
 * Node that is not initialised, the ID may be that of a machine which an earlier inventory showed.
 */
export function hasProvableMachine(node: Node, presence: Presence): boolean {
  if (node.spec?.providerID) return true;
  return isUninitialized(node) && presence.kind === "unknown" && presence.formerId !== undefined;
}

/** Returns what an inventory shows about a Node's instance. */
export function toSighting(presence: Presence): Sighting {
  if (presence.kind === "present") return "present";
  return presence.kind === "unknown" && presence.reason === "notListed" ? "missing" : "unknown";
}
