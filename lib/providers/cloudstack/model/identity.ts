/**
 * What a Node may be known by in CloudStack.
 * @module
 */
import type { NodeIdentity } from "../../../cloud/instance.ts";
import { type Presence, toUnknown } from "../../../cloud/provider.ts";
import { parseProviderId } from "./provider_id.ts";

/**
 * What to look a Node up by. The system UUID finds no VM, because hypervisors report others than the IDs of the VMs. It
 * only tells a machine from an earlier one with the same name.
 */
export type Identity =
  | { readonly kind: "providerId"; readonly vmId: string }
  /** Lower case. `short` is its part before the first dot, if it has one. */
  | {
      readonly kind: "name";
      readonly name: string;
      readonly short?: string;
      readonly systemUuid?: string;
      /** Whether the Node has a provider ID, which names no VM. @default {it has none} */
      readonly isNameless?: true;
    }
  /** Nothing to look up by, and the presence that says so. */
  | { readonly kind: "other"; readonly presence: Presence };

/** Reads what a Node says. */
export function parseIdentity({ name, providerId, systemUuid }: NodeIdentity): Identity {
  if (providerId !== undefined) {
    const parsed = parseProviderId(providerId);
    if (parsed.kind === "foreign") return toOther({ kind: "foreign", providerId });
    if (parsed.kind === "malformed") {
      return toOther(toUnknown("malformedProviderId", parsed.message));
    }
    if (parsed.kind === "ours") return { kind: "providerId", vmId: parsed.vmId };
  }
  if (name === "") {
    return toOther(toUnknown("noIdentity", "Cannot look up the VM of a Node without a name"));
  }
  const lower = name.toLowerCase();
  const dot = lower.indexOf(".");
  return {
    kind: "name",
    name: lower,
    ...(dot > 0 && { short: lower.slice(0, dot) }),
    ...(providerId !== undefined && { isNameless: true as const }),
    ...(systemUuid !== undefined && { systemUuid: systemUuid.toLowerCase() }),
  };
}

function toOther(presence: Presence): Identity {
  return { kind: "other", presence };
}
