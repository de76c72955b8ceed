/**
 * Paths of lists, and what replies to them say.
 * @module
 */
import type { Reply } from "../../../cloud_http/http.ts";

/** Weak comparison (RFC 9110, 8.8.3.2), because a proxy that compresses makes a strong ETag weak. */
export function isSameEtag(one: string, other: string): boolean {
  return one.replace(/^W\//, "") === other.replace(/^W\//, "");
}

/** The path of a list. */
export function toListPath(collection: string, query: Record<string, string>): string {
  return `/${collection}?${new URLSearchParams(query)}`;
}

/**
 * Whether a 404 comes from Xen Orchestra for this object. A 404 from a proxy or for a wrong path says nothing about it.
 */
export function isMissing({ json }: Reply, type: string, id: string): boolean {
  const body = json?.value;
  if (typeof body !== "object" || body === null || !("data" in body)) return false;
  const { data } = body;
  if (typeof data !== "object" || data === null) return false;
  return "type" in data && data.type === type && "id" in data && data.id === id;
}
