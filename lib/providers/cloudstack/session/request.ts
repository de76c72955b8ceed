/**
 * Signs and sends one command: reads by GET, changes by POST and only while this process leads.
 * @module
 */
import type { CloudClient, CloudRequest, Reply } from "../../../cloud_http/client.ts";
import { type Clock, formatTime } from "../../../core/clock.ts";
import type { Fence } from "../../../core/fence.ts";
import type { KeyPair } from "./keys.ts";
import { isJsonType } from "./reply.ts";
import { createHmac } from "node:crypto";

/** A command of the API. */
export interface Command {
  /** As the API calls it: `listVirtualMachines`. Also the operation in metrics. */
  readonly command: string;
  /** Its parameters, by names in lower case. @default {none} */
  readonly params?: Params;
}

/** Where commands go. */
export interface Destination {
  /** The whole address of the API: `https://host/client/api`. */
  readonly url: string;
  readonly client: Pick<CloudClient, "request">;
  readonly clock: Clock;
  readonly fence: Pick<Fence, "bind" | "check">;
}

/** A command, and who sends it. */
interface SignedCommand extends Command {
  readonly keys: KeyPair;
  /** Whether it changes something. */
  readonly isWrite: boolean;
  /** As in `CloudRequest`. */
  readonly isKnown?: ((text: string) => boolean) | undefined;
}

/**
 * How long a request is valid. The server may refuse more than 15 minutes, and its clock may be some minutes behind.
 */
const VALID_MS = 600_000;
const HEADERS = { accept: "application/json", "user-agent": "landfall" } as const;

/**
 * Sends a command.
 *
 * @param signal Must carry the deadline
 * @returns Any reply, and what of the request must not be shown
 * @throws {CloudError} when there is none. A change may have been carried out all the same
 * @throws {LeadershipLostError} for a change, when this process does not lead
 */
export async function sendCommand(
  destination: Destination,
  { command, params, keys, isWrite, isKnown }: SignedCommand,
  signal: AbortSignal,
): Promise<{ readonly reply: Reply; readonly secrets: readonly string[] }> {
  const { url, client, clock, fence } = destination;
  const all = {
    ...params,
    apikey: keys.apiKey,
    command,
    expires: toExpiry(clock.now() + VALID_MS),
    response: "json",
    signatureversion: "3",
  };
  const { query, signature } = toSignedQuery(all, keys.secretKey);
  const secrets = [keys.apiKey, keys.secretKey, signature].flatMap((one) => [
    one,
    encodeValue(one),
  ]);
  const common = { operation: command, isJson: isJsonType };
  if (!isWrite) {
    const known = isKnown === undefined ? {} : { isKnown };
    const place = { method: "GET", url: `${url}?${query}`, headers: HEADERS } as const;
    const sent = { ...common, ...place, ...known };
    return { reply: await client.request(sent, signal), secrets };
  }
  const headers = { ...HEADERS, "content-type": "application/x-www-form-urlencoded" };
  const sent: CloudRequest = { ...common, method: "POST", url, headers, body: query };
  fence.check();
  try {
    return { reply: await client.request(sent, fence.bind(signal)), secrets };
  } catch (error) {
    // The reason of the fence says more than the error of the connection that it closed.
    fence.check();
    throw error;
  }
}

/** The documented form: `2030-01-02T03:04:05+0000`. */
function toExpiry(ms: number): string {
  return formatTime(ms).replace("Z", "+0000");
}

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
