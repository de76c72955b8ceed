/**
 * The provider ID of the static provider. MUST NOT CHANGE: clusters keep it for ever.
 * @module
 */
import { quote } from "../../core/text/printable.ts";

/** The content of a provider ID. */
type ParsedProviderId =
  | { readonly kind: "ours"; readonly id: string }
  /** Has our scheme but is malformed. `message` says why. */
  | { readonly kind: "malformed"; readonly message: string }
  | { readonly kind: "foreign" };

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const ID_LENGTH_MAX = 253;
const SCHEME = /^[a-z][a-z0-9+.-]*$/;

/** Whether a text can be the ID of an instance: letters, digits, `.`, `_` and `-`, at most 253 characters. */
export function isInstanceId(text: string): boolean {
  return text.length <= ID_LENGTH_MAX && ID.test(text);
}

/** Whether a text is valid before `://`: lower-case letters, digits, `+`, `.` and `-`, a letter first. */
export function isScheme(text: string): boolean {
  return SCHEME.test(text);
}

/** Formats a provider ID: `<scheme>://<id>`. */
export function formatProviderId(scheme: string, id: string): string {
  return `${scheme}://${id}`;
}

/**
 * Reads a provider ID. Also reads the doubled form `<scheme>://<scheme>://<id>` of old cloud providers, but Landfall
 * never writes it.
 */
export function parseProviderId(scheme: string, text: string): ParsedProviderId {
  if (text !== scheme && !text.startsWith(`${scheme}:`)) return { kind: "foreign" };
  const prefix = `${scheme}://`;
  const once = text.startsWith(prefix) ? text.slice(prefix.length) : "";
  const id = once.startsWith(prefix) ? once.slice(prefix.length) : once;
  if (isInstanceId(id)) return { kind: "ours", id };
  const message =
    `Cannot read provider ID ${quote(text)}: it must have the form ${prefix}<id>. ` +
    "A provider ID cannot be changed: delete the Node and let the kubelet register it again";
  return { kind: "malformed", message };
}
