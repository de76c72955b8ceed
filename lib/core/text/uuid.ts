/**
 * UUIDs as clouds, kubelets, firmware and people write them.
 * @module
 */

const NIL = "00000000-0000-0000-0000-000000000000";
/** The most frequent form: each refresh reads thousands of them. */
const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Reads a UUID in any form that was ever accepted in provider IDs: canonical, 32 hexadecimal digits, `{braced}`,
 * `urn:uuid:`; any case.
 *
 * @returns The canonical form in lower case, the only one that every cloud accepts; `undefined` if the text is not a
 * UUID, or the nil UUID
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
 * Reverses the bytes of the first three parts of a UUID. SMBIOS 2.6 and later (§7.2.1) uses that order, older versions
 * do not. UEFI guests of XCP-ng announce 2.8 but use the older order, so Linux and the kubelet show these parts
 * reversed.
 *
 * @param uuid A canonical UUID; any other text is returned unchanged
 */
export function swapUuid(uuid: string): string {
  if (!CANONICAL.test(uuid)) return uuid;
  const byte = (at: number): string => uuid.slice(at, at + 2);
  const first = byte(6) + byte(4) + byte(2) + byte(0);
  return `${first}-${byte(11)}${byte(9)}-${byte(16)}${byte(14)}${uuid.slice(18)}`;
}
