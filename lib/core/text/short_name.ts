/**
 * Names of a limited length that stay different: a hash of the whole name stands at the end.
 * @module
 */
import { createHash } from "node:crypto";

/** The longest label value, DNS label and name of a Service, in characters. */
export const SHORT_NAME_LENGTH_MAX = 63;
const HASH_LENGTH = 8;

/** The start of the SHA-256 of a content, 16 hexadecimal digits. */
export function hashContent(content: string): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/**
 * A text of at most 63 characters that ends in a hash of a name. Frozen: objects in clusters have such names.
 *
 * @param text What stands before the hash; its end is cut off
 */
export function appendHash(text: string, name: string): string {
  const start = text.slice(0, SHORT_NAME_LENGTH_MAX - HASH_LENGTH - 1).replace(/[-.]+$/, "");
  return `${start}-${hashContent(name).slice(0, HASH_LENGTH)}`;
}

/** A name of at most 63 characters: the name itself, or its start and a hash. Frozen. */
export function shortenName(name: string): string {
  return name.length <= SHORT_NAME_LENGTH_MAX ? name : appendHash(name, name);
}
