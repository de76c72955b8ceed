/**
 * Names in a list of objects that could not be read otherwise.
 * @module
 */
import { isBlock } from "./reply.ts";

/**
 * Lists the names of raw objects that are not among those that could be read, in lower case. Another object with such a
 * name is not the only one.
 */
export function listUnreadableNames(
  raw: readonly unknown[],
  readable: readonly { readonly id: string }[],
): ReadonlySet<string> {
  const names = new Set<string>();
  // Objects that are listed twice are one readable object, unless they differ.
  if (raw.length === readable.length) return names;
  const ids = new Set(readable.map(({ id }) => id));
  for (const one of raw) {
    if (!isBlock(one) || typeof one["name"] !== "string") continue;
    const isReadable = typeof one["id"] === "string" && ids.has(one["id"].toLowerCase());
    if (!isReadable) names.add(one["name"].toLowerCase());
  }
  return names;
}
