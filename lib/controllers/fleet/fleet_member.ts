/**
 * Converts a Node for the guards of `lib/cloud`. Pure.
 * @module
 */
import type { Sighting } from "../../cloud/deletion/first_sightings.ts";
import type { FleetMember } from "../../cloud/deletion/guard.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isReady, isUninitialized } from "../identity.ts";
import { isOutOfServiceByUs } from "./out_of_service.ts";

/**
 * Returns a Node as a member of the fleet.
 *
 * @returns `undefined` for a Node that is not ours: uninitialised, foreign, or without a valid provider ID
 */
export function toFleetMember(node: Node, presence: Presence): FleetMember | undefined {
  const { uid } = node.metadata;
  if (uid === undefined || !node.spec?.providerID || isUninitialized(node)) return undefined;
  if (presence.kind === "foreign") return undefined;
  if (presence.kind === "unknown" && presence.reason === "malformedProviderId") return undefined;
  const member = { uid, isReady: isReady(node), sighting: toSighting(presence) };
  return isOutOfServiceByUs(node) ? { ...member, outOfService: "done" } : member;
}

/** Returns what an inventory shows about a Node's instance. */
export function toSighting(presence: Presence): Sighting {
  if (presence.kind === "present") return "present";
  return presence.kind === "unknown" && presence.reason === "notListed" ? "missing" : "unknown";
}
