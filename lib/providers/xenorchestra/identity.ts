/**
 * The IDs by which Landfall finds a Node's VM in Xen Orchestra.
 * @module
 */
import type { NodeIdentity } from "../../cloud/instance.ts";
import { type Presence, toUnknown } from "../../cloud/provider.ts";
import { quote } from "../../core/text/printable.ts";
import { parseUuid, swapUuid } from "../../core/text/values.ts";
import { POOL_ID_LABEL } from "./labels.ts";

const SCHEME = "xenorchestra";
const FORMAT = `${SCHEME}://<pool UUID>/<VM UUID>`;

/** The content of a provider ID. */
type ParsedProviderId =
  /**
   * `poolId` is the pool of the VM when the ID was written; the VM may have moved since. Absent: the ID names no pool.
   */
  | { readonly kind: "ours"; readonly vmId: string; readonly poolId?: string }
  /** Has our scheme but is malformed. `message` says why. */
  | { readonly kind: "malformed"; readonly message: string }
  | { readonly kind: "foreign" };

/**
 * Formats the provider ID of a VM: `xenorchestra://<pool UUID>/<VM UUID>`, lower case. MUST NOT CHANGE: clusters keep
 * it for ever, and the CSI driver of Xen Orchestra reads it.
 */
export function formatProviderId(poolId: string, vmId: string): string {
  return `${SCHEME}://${poolId}/${vmId}`;
}

/**
 * Reads a provider ID. Accepts every form that the Go controller accepts: an empty pool, and UUIDs in any form of
 * {@linkcode parseUuid}.
 */
export function parseProviderId(text: string): ParsedProviderId {
  const [, scheme, rest] = /^([^:/]*):\/\/(.*)$/s.exec(text) ?? [];
  if (scheme === undefined || rest === undefined) {
    // The Go controller treats every ID that starts with the scheme as its own.
    return text.startsWith(SCHEME)
      ? toMalformed(text, `it must have the form ${FORMAT}`)
      : { kind: "foreign" };
  }
  if (scheme !== SCHEME) return { kind: "foreign" };
  const [pool = "", vm, ...more] = rest.split("/");
  if (vm === undefined || more.length > 0)
    return toMalformed(text, `it must have the form ${FORMAT}`);
  const vmId = parseUuid(vm);
  if (vmId === undefined) return toMalformed(text, `the VM ${quote(vm)} is not a UUID`);
  if (pool === "") return { kind: "ours", vmId };
  const poolId = parseUuid(pool);
  if (poolId === undefined) return toMalformed(text, `the pool ${quote(pool)} is not a UUID`);
  return { kind: "ours", vmId, poolId };
}

function toMalformed(text: string, problem: string): ParsedProviderId {
  return {
    kind: "malformed",
    message:
      `Cannot read provider ID ${quote(text)}: ${problem}; ` +
      "a provider ID cannot be changed: delete the Node and let the kubelet register it again with a correct one",
  };
}

/** The IDs by which Landfall finds a Node's VM. */
export type Identity =
  | IdentityByProviderId
  /** The system UUID as the kubelet reports it, and with its first three groups byte-swapped. */
  | { readonly kind: "systemUuid"; readonly direct: string; readonly swapped: string }
  /** The Node has no usable ID; the presence says why. */
  | {
      readonly kind: "other";
      readonly presence: Presence;
      /** The system UUID in both forms, if another cloud has the provider ID. A VM of ours may have that UUID. */
      readonly reported?: readonly string[] | undefined;
    };

/** The VM that the provider ID of a Node names. */
export interface IdentityByProviderId {
  readonly kind: "providerId";
  readonly vmId: string;
  /** The pool that held the VM when the ID was written; absent if the ID names none. */
  readonly poolId?: string | undefined;
  /** The pool where the VM was last seen, by the Node's labels. */
  readonly labelledPoolId?: string | undefined;
  /** The pool in the region label, if it is another one. Landfall looks there, too. */
  readonly regionPoolId?: string | undefined;
  /**
   * The system UUID that the kubelet reports, in both forms, if neither is the UUID of that VM. If another VM has this
   * UUID, the Node runs on that VM (restored from a backup, or moved by a copy), although its provider ID names the
   * first one.
   */
  readonly reported?: readonly string[] | undefined;
}

/**
 * Reads the IDs of a Node. The pool label always has the pool of the VM. The region label may have another value, by
 * the setting `regions`. A text that is not a UUID names no pool.
 */
export function parseIdentity(node: NodeIdentity): Identity {
  const { name, providerId, systemUuid, region, labels } = node;
  const direct = parseUuid((systemUuid ?? "").trim());
  if (providerId !== undefined) {
    const parsed = parseProviderId(providerId);
    if (parsed.kind === "foreign") {
      return { ...toOther({ kind: "foreign", providerId }), reported: toReported(direct) };
    }
    if (parsed.kind === "malformed") {
      return toOther(toUnknown("malformedProviderId", parsed.message));
    }
    const ofRegion = parseUuid(region ?? "");
    const labelledPoolId = parseUuid(labels?.[POOL_ID_LABEL] ?? "") ?? ofRegion;
    const regionPoolId = ofRegion === labelledPoolId ? undefined : ofRegion;
    const reported = toReported(direct, parsed.vmId);
    return { ...parsed, kind: "providerId", labelledPoolId, regionPoolId, reported };
  }
  if (direct !== undefined) return { kind: "systemUuid", direct, swapped: swapUuid(direct) };
  const shown =
    systemUuid === undefined ? "no system UUID" : `${quote(systemUuid)} as its system UUID`;
  const message =
    `Cannot look up the VM of Node "${name}": it reports ${shown}; ` +
    "start its kubelet with --provider-id=xenorchestra://<pool UUID>/<VM UUID>";
  return toOther(toUnknown("noIdentity", message));
}

/** Returns the IDs of every VM that may belong to one of these Nodes, each once. */
export function toVmIds(identities: readonly Identity[]): Set<string> {
  const ids = new Set<string>();
  for (const identity of identities) {
    if (identity.kind === "providerId") ids.add(identity.vmId);
    if (identity.kind === "systemUuid") ids.add(identity.direct).add(identity.swapped);
    else for (const id of identity.reported ?? []) ids.add(id);
  }
  return ids;
}

function toReported(direct: string | undefined, vmId?: string): readonly string[] | undefined {
  if (direct === undefined || direct === vmId) return undefined;
  const swapped = swapUuid(direct);
  return swapped === vmId ? undefined : [direct, swapped];
}

function toOther(presence: Presence): Identity & { kind: "other" } {
  return { kind: "other", presence };
}
