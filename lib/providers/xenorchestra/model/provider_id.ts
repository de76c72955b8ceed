/**
 * The provider ID. MUST NOT CHANGE: clusters keep it for ever, and the CSI driver of Xen Orchestra reads it.
 * @module
 */
import { quote } from "../../../core/text/printable.ts";
import { parseUuid } from "../../../core/text/uuid.ts";

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

/** Formats the provider ID of a VM: `xenorchestra://<pool UUID>/<VM UUID>`, lower case. */
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
