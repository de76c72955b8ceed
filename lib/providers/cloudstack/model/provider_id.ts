/**
 * The provider ID. MUST NOT CHANGE: it is written into clusters for good, and the Apache provider writes the same.
 * @module
 */
import { quote } from "../../../core/text/printable.ts";
import { parseUuid } from "../../../core/text/values.ts";

/** What a provider ID says. */
type ParsedProviderId =
  | { readonly kind: "ours"; readonly vmId: string }
  /** What version 1.1 of the Apache provider wrote on every Node. It names no VM: the Node is found by its name. */
  | { readonly kind: "nameless" }
  /** Ours by its scheme, but not readable. `message` says why. */
  | { readonly kind: "malformed"; readonly message: string }
  | { readonly kind: "foreign" };

const SCHEME = "external-cloudstack";
const FORMAT = `${SCHEME}://<VM UUID>`;
/** As Cluster API and a fork of the Apache provider write it: with a region, which may be empty. */
const OTHER_FORM = /^cloudstack:\/\/[^/]*\/(?<vm>.*)$/s;

/** Formats the provider ID of a VM: `external-cloudstack://<VM UUID>`, lower case. */
export function formatProviderId(vmId: string): string {
  return `${SCHEME}://${vmId}`;
}

/** Reads a provider ID: the form that is written, `cloudstack:///<VM UUID>` and `cloudstack://<region>/<VM UUID>`. */
export function parseProviderId(text: string): ParsedProviderId {
  if (text === SCHEME) return { kind: "nameless" };
  const other = OTHER_FORM.exec(text)?.groups?.["vm"];
  const isOurs = text.startsWith(`${SCHEME}:`) || text.startsWith("cloudstack:");
  if (!isOurs) return { kind: "foreign" };
  const own = text.startsWith(`${SCHEME}://`) ? text.slice(SCHEME.length + 3) : undefined;
  const vmId = parseUuid(own ?? other ?? "");
  if (vmId !== undefined) return { kind: "ours", vmId };
  const message =
    `Cannot read provider ID ${quote(text)}: it must be ${FORMAT}; ` +
    "a provider ID cannot be changed: delete the Node and let the kubelet register it again with a correct one";
  return { kind: "malformed", message };
}
