/**
 * Signs requests by CloudStack's rules: HMAC-SHA1 over the sorted parameters, in lower case.
 * @module
 */
import { createHmac } from "node:crypto";

/** Parameters by name; the names in lower case, except in tests of the signature. */
export type Params = Readonly<Record<string, string>>;

/** What `encodeURIComponent` leaves as it is, and the server's encoder does not. */
const LEFT_RAW = /[!'()~]/g;

/** A value as the server encodes it before it computes the signature. Half characters become replacements. */
export function encodeValue(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replaceAll(
    LEFT_RAW,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * The signature of a request, in Base64.
 *
 * Clients sort the parameters after they made the names lower-case, the server before. With names in lower case both
 * orders are the same.
 *
 * @param params All parameters but the signature itself
 * @param secretKey Never sent
 */
export function sign(params: Params, secretKey: string): string {
  const signed = toQuery(params).toLowerCase();
  return createHmac("sha1", secretKey).update(signed).digest("base64");
}

/** A key that only those can compute who have the secret key, and that does not lead back to it. 32 bytes. */
export function deriveKey(secretKey: string, purpose: string): Uint8Array {
  return createHmac("sha256", secretKey).update(purpose).digest();
}

/** What is sent. */
interface SignedQuery {
  /** A query, or the body of a form, with the signature as its last field. */
  readonly query: string;
  /** Never show it: with it others can send the same request again. */
  readonly signature: string;
}

/** Signs parameters, and writes them as a query. */
export function toSignedQuery(params: Params, secretKey: string): SignedQuery {
  const signature = sign(params, secretKey);
  return { query: `${toQuery(params)}&signature=${encodeValue(signature)}`, signature };
}

/** Sorted by name in the order of code units. Names are not encoded: `tags[0].key` is signed as it is. */
function toQuery(params: Params): string {
  return Object.keys(params)
    .toSorted()
    .map((name) => `${name}=${encodeValue(params[name] ?? "")}`)
    .join("&");
}
