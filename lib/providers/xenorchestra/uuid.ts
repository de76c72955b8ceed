/**
 * UUIDs as Xen Orchestra, kubelets and people write them.
 * @module
 */

const NIL = "00000000-0000-0000-0000-000000000000";
/** The form of nearly all: thousands of them are read at each refresh. */
const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Reads a UUID in any of the forms that provider IDs were ever accepted in: canonical, 32 hexadecimal digits,
 * `{braced}`, `urn:uuid:`; any case.
 *
 * @returns The canonical form in lower case, the only one that Xen Orchestra answers to; `undefined` when the text is
 * no UUID, or the nil UUID
 */
export function parseUuid(text: string): string | undefined {
  if (CANONICAL.test(text)) return text === NIL ? undefined : text;
  const bare = /^\{(.*)\}$/.exec(text)?.[1] ?? text.replace(/^urn:uuid:/i, "");
  const match = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i;
  const [whole, a, , b, c, d, e] = match.exec(bare) ?? [];
  if (whole === undefined) return undefined;
  const uuid = `${a}-${b}-${c}-${d}-${e}`.toLowerCase();
  return uuid === NIL ? undefined : uuid;
}

/**
 * Reverses the bytes of the first three groups.
 *
 * UEFI guests of XCP-ng announce SMBIOS 2.8 but carry the UUID in the byte order of older versions, so that Linux, and
 * with it the kubelet, shows these groups reversed.
 *
 * @param uuid A canonical UUID
 */
export function swapUuid(uuid: string): string {
  const [a = "", b = "", c = "", ...rest] = uuid.split("-");
  return [reverseBytes(a), reverseBytes(b), reverseBytes(c), ...rest].join("-");
}

function reverseBytes(hex: string): string {
  return (hex.match(/../g) ?? []).reverse().join("");
}
