/**
 * Words for people, where programs get codes: how the machine of a Node was found, and why it was not.
 * @module
 */
const MATCHES: ReadonlyMap<string, string> = new Map([
  ["providerId", "provider ID"],
  ["systemUuid", "system UUID"],
  ["swappedSystemUuid", "system UUID in reversed byte order"],
  ["name", "name"],
]);

const DELETIONS: ReadonlyMap<string, string> = new Map([
  ["waiting", "waits"],
  ["confirm", "the cloud is asked first"],
  ["unconfirmed", "the cloud does not confirm it"],
]);

const REASONS: ReadonlyMap<string, string> = new Map([
  ["unreachable", "the machines cannot be read now"],
  ["throttled", "the cloud refuses further requests for now"],
  ["protocol", "the cloud's answer or the inventory file has a mistake"],
  ["partLost", "it may be in a part of the cloud that is lost"],
  ["notCovered", "its part of the cloud does not answer"],
  ["notListed", "it is not among the machines that exist"],
  ["notFound", "no machine matches"],
  ["ambiguous", "several machines match"],
  ["undecodable", "Landfall cannot read it"],
  ["malformedProviderId", "the provider ID cannot be read"],
  ["noIdentity", "the Node names no machine"],
  ["otherCloud", "it is of another cloud"],
  ["denied", "the cloud denies access"],
  ["noInventory", "the cloud has not answered yet"],
  ["confirmations", "too few inventories in a row lack its machine"],
  ["holdOff", "its machine has not been missing long enough"],
  ["ready", "the Node is Ready"],
  ["held", "Kubernetes detaches its volumes first"],
  ["disabled", "deletions are turned off"],
  ["neverSeen", "this process has not seen its machine yet"],
  ["fleetLimit", "too many Nodes have no machine"],
]);

/** By what a machine was found. */
export function nameMatch(matchedBy: string): string {
  return MATCHES.get(matchedBy) ?? matchedBy;
}

/** Why nothing is known about a machine, or why its Node is not deleted. */
export function nameReason(reason: string): string {
  return REASONS.get(reason) ?? reason;
}

/** How far the deletion of a Node is, and why; empty without one. */
export function nameDeletion(deletion: { state: string; reason?: string } | undefined): string {
  if (deletion === undefined) return "";
  const { state, reason } = deletion;
  return [
    DELETIONS.get(state) ?? state,
    ...(reason === undefined ? [] : [nameReason(reason)]),
  ].join(": ");
}
