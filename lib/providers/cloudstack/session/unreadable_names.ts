/**
 * What can be said about the objects of a list that could not be read.
 * @module
 */
import { isFields } from "../../../core/text/values.ts";
import type { Body } from "./reply.ts";

/** Lists the raw objects that are not among those that could be read. What is no object has no fields. */
export function listUnreadable(
  raw: readonly unknown[],
  readable: readonly { readonly id: string }[],
): readonly Body[] {
  // Objects that are listed twice are one readable object, unless they differ.
  if (raw.length === readable.length) return [];
  const ids = new Set(readable.map(({ id }) => id));
  const isReadable = (one: unknown): boolean =>
    isFields(one) && typeof one["id"] === "string" && ids.has(one["id"].toLowerCase());
  return raw.flatMap((one) => (isReadable(one) ? [] : [isFields(one) ? one : {}]));
}

/**
 * Lists the names of raw objects that are not among those that could be read, in lower case. Another object with such a
 * name is not the only one.
 */
export function listUnreadableNames(
  raw: readonly unknown[],
  readable: readonly { readonly id: string }[],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of listUnreadable(raw, readable)) {
    if (typeof name === "string") names.add(name.toLowerCase());
  }
  return names;
}
