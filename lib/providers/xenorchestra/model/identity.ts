/**
 * What a Node may be known by in Xen Orchestra.
 * @module
 */
import { toUnknown } from "../../../cloud/presence.ts";
import type { NodeIdentity, Presence } from "../../../cloud/provider.ts";
import { quote } from "../../../core/text/printable.ts";
import { parseUuid, swapUuid } from "../../../core/text/uuid.ts";
import { POOL_ID_LABEL } from "./labels.ts";
import { parseProviderId } from "./provider_id.ts";

/** The IDs that a Node may be known by. */
export type Identity =
  | IdentityByProviderId
  /** The system UUID as the kubelet reports it, and with its first groups reversed. */
  | { readonly kind: "systemUuid"; readonly direct: string; readonly swapped: string }
  /** Nothing to look up by, and the presence that says so. */
  | { readonly kind: "other"; readonly presence: Presence };

/** A VM by the provider ID of its Node. */
export interface IdentityByProviderId {
  readonly kind: "providerId";
  readonly vmId: string;
  /** The pool that held the VM when the ID was written; absent when the ID names none. */
  readonly poolId?: string;
  /** The pool that the Node's labels say it was last seen in. */
  readonly labelledPoolId?: string;
  /** What its region label says, when that is another pool: one more place to look at. */
  readonly regionPoolId?: string;
  /**
   * The system UUID that the kubelet reports, in both forms, if neither is that VM. If a VM has it, the Node runs on
   * that VM (restored from a backup, or moved by a copy), even if its provider ID names another one.
   */
  readonly reported?: readonly string[];
}

/**
 * Reads what a Node says. The label of the pool always follows its VM; the region label may have another value by the
 * setting `regions`. A text that is not a UUID names no pool.
 */
export function parseIdentity(node: NodeIdentity): Identity {
  const { name, providerId, systemUuid, region, labels } = node;
  const direct = parseUuid((systemUuid ?? "").trim());
  if (providerId !== undefined) {
    const parsed = parseProviderId(providerId);
    if (parsed.kind === "foreign") return toOther({ kind: "foreign", providerId });
    if (parsed.kind === "malformed") {
      return toOther(toUnknown("malformedProviderId", parsed.message));
    }
    const ofRegion = parseUuid(region ?? "");
    const labelledPoolId = parseUuid(labels?.[POOL_ID_LABEL] ?? "") ?? ofRegion;
    const regionPoolId = ofRegion === labelledPoolId ? undefined : ofRegion;
    const reported = toReported(direct, parsed.vmId);
    return {
      ...parsed,
      kind: "providerId",
      ...(labelledPoolId && { labelledPoolId }),
      ...(regionPoolId && { regionPoolId }),
      ...(reported && { reported }),
    };
  }
  if (direct !== undefined) return { kind: "systemUuid", direct, swapped: swapUuid(direct) };
  const shown =
    systemUuid === undefined ? "no system UUID" : `${quote(systemUuid)} as its system UUID`;
  const message =
    `Cannot look up the VM of Node "${name}": it reports ${shown}; ` +
    "start its kubelet with --provider-id=xenorchestra://<pool UUID>/<VM UUID>";
  return toOther(toUnknown("noIdentity", message));
}

/** The IDs of every VM that may be one of these Nodes' own, each once. */
export function toVmIds(identities: readonly Identity[]): Set<string> {
  const ids = new Set<string>();
  for (const identity of identities) {
    if (identity.kind === "providerId") {
      for (const id of [identity.vmId, ...(identity.reported ?? [])]) ids.add(id);
    }
    if (identity.kind === "systemUuid") ids.add(identity.direct).add(identity.swapped);
  }
  return ids;
}

function toReported(direct: string | undefined, vmId: string): readonly string[] | undefined {
  if (direct === undefined || direct === vmId) return undefined;
  const swapped = swapUuid(direct);
  return swapped === vmId ? undefined : [direct, swapped];
}

function toOther(presence: Presence): Identity {
  return { kind: "other", presence };
}
