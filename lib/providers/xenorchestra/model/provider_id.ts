/**
 * The provider ID. MUST NOT CHANGE: it is written into clusters for good, and the CSI driver of Xen Orchestra reads it.
 * @module
 */
import { quote } from "../../../core/text/printable.ts";
import { parseUuid } from "../../../core/text/uuid.ts";

const SCHEME = "xenorchestra";
const FORMAT = `${SCHEME}://<pool UUID>/<VM UUID>`;

/** What a provider ID says. */
export type ParsedProviderId =
  /** `poolId` is where the VM was when the ID was written; it may have moved since. Absent: the ID names no pool. */
  | { readonly kind: "ours"; readonly vmId: string; readonly poolId?: string }
  /** Ours by its scheme, but not readable. `message` says why. */
  | { readonly kind: "malformed"; readonly message: string }
  | { readonly kind: "foreign" };

/** Formats the provider ID of a VM: `xenorchestra://<pool UUID>/<VM UUID>`, lower case. */
export function formatProviderId(poolId: string, vmId: string): string {
  return `${SCHEME}://${poolId}/${vmId}`;
}

/**
 * Reads a provider ID. Every form that the Go controller accepts is accepted: an empty pool, and UUIDs in any form of
 * {@linkcode parseUuid}.
 */
export function parseProviderId(text: string): ParsedProviderId {
  const [, scheme, rest] = /^([^:/]*):\/\/(.*)$/s.exec(text) ?? [];
  if (scheme === undefined || rest === undefined) {
    // The Go controller takes everything that starts with the scheme for its own.
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
