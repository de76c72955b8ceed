/**
 * One HTTP request, to the API server or to a cloud: which TLS and headers it has, and how its answer is unpacked and
 * read, up to a limit: a faulty server must not fill the memory.
 * @module
 */
import type { IncomingMessage } from "node:http";
import { findErrorCode } from "../errors.ts";
import { BUDGET } from "../budget.ts";
import { isLoopbackHost } from "../net/ip.ts";
import { listSecrets, redact } from "../text/printable.ts";
import { formatSize, parseJson } from "../text/values.ts";
import { explainDates, type TlsSettings, toRuntimeTls } from "./connection.ts";

/** Headers by names in lower case. A list is a line for each value. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: HttpHeaders;
  /** A stream is sent once, as it comes; give its `content-length`. */
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined;
  readonly tls: TlsSettings;
  /** Must include the deadline. Also ends the body of the answer. */
  readonly signal: AbortSignal;
}

/** Whether all headers have one value. `fetch` joins several into one text. */
export function isSingle(headers: HttpHeaders): headers is Readonly<Record<string, string>> {
  return Object.values(headers).every((value) => typeof value === "string");
}

/**
 * Sends a request, and resolves with the head of its answer. Follows no redirect: another server would get the
 * credentials. If a certificate has expired or is not valid yet, the error has its dates.
 *
 * @param session Connections that {@linkcode openSession} opened with the same TLS. @default {those of the runtime}
 * @throws {BodyError} when the answer is packed in a way that was not asked for
 * @throws any error of `fetch`, or the signal's reason
 */
export async function sendHttp(
  url: string,
  { headers, body, tls, ...request }: HttpRequest,
  session?: Bun.FetchSession,
): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  // Other packings are larger, or not known to all runtimes.
  const lines: HttpHeaders = { "accept-encoding": "gzip", ...headers };
  try {
    if (!isSingle(lines)) {
      return unpack(await sendRepeated(url, { ...request, headers: lines, body, tls }));
    }
    const answer = await (session?.fetch ?? fetch)(url, {
      ...request,
      headers: lines,
      ...(body !== undefined && { body }),
      ...(session === undefined && { tls: toRuntimeTls(tls), ...toProxy(url) }),
      redirect: "manual",
      // Without this, Bun ends a connection after some silent minutes. Every request has its own deadline.
      timeout: false,
      // The runtime may unpack more at once than is read: half a megabyte becomes 512.
      decompress: false,
    });
    return unpack(answer);
  } catch (error) {
    throw await explainDates(error, url, signal, tls.serverName);
  }
}

/** Replies that have no body by their status. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Sends a line for each value of a header, on a connection of its own, and knows no proxy. `fetch` joins several values
 * into one text, and the API server takes `Impersonate-Group: a, b` for one strange group.
 */
async function sendRepeated(
  url: string,
  { method, headers, body, tls, signal }: HttpRequest,
): Promise<Response> {
  const lines = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === "string" ? value : [...value],
  ]);
  const options = {
    method,
    signal,
    headers: { ...Object.fromEntries(lines), connection: "close" },
  };
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const take = (reply: IncomingMessage): void => resolve(toResponse(reply));
  const { serverName: servername, ...secured } = toRuntimeTls(tls);
  const secure = { ...options, ...secured, ...(servername && { servername }) };
  // Few processes need these modules.
  const request = url.startsWith("https:")
    ? (await import("node:https")).request(url, secure, take)
    : (await import("node:http")).request(url, options, take);
  request.on("error", reject);
  if (body instanceof ReadableStream) throw new TypeError("Cannot stream with repeated headers");
  request.end(body);
  return await promise;
}

function toResponse(reply: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = reply;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  if (!BODILESS.has(status)) return new Response(toStream(reply), { status, headers });
  reply.resume();
  return new Response(null, { status, headers });
}

/** The body, as fast as it is read. Who does not want the rest of it ends the connection. */
function toStream(reply: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = reply[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      reply.destroy();
    },
  });
}

/** Connections to one server. @param proxy Absent: that of the environment, if any */
export function openSession(url: string, tls: TlsSettings, proxy?: string): Bun.FetchSession {
  return new Bun.FetchSession({ tls: toRuntimeTls(tls), ...toProxy(url, proxy) });
}

/**
 * A named proxy is for every server. That of the environment is for none on this machine, for example the end of a
 * tunnel.
 */
function toProxy(url: string, proxy?: string): Pick<BunFetchRequestInit, "proxy"> {
  if (proxy !== undefined) return { proxy: { url: proxy, respectNoProxy: false } };
  return isLoopbackHost(new URL(url).hostname) ? { proxy: false } : {};
}

/** The answer, unpacked as much as is read. */
function unpack(answer: Response): Response {
  const { body, headers, status } = answer;
  const packing = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (body === null || packing === "" || packing === "identity") return answer;
  if (packing !== "gzip" && packing !== "x-gzip") {
    body.cancel().catch(() => {});
    throw new BodyError("the answer is packed in a way that was not asked for");
  }
  return new Response(body.pipeThrough(new DecompressionStream("gzip")), { status, headers });
}

/** The longest pause that Landfall accepts from a server. */
const RETRY_AFTER_MS_MAX = 300_000;

/**
 * Reads a Retry-After header: seconds or a date.
 *
 * @param nowMs Wall-clock milliseconds; `NaN` if they are not known
 * @returns Milliseconds from now, five minutes at most; `undefined` without a readable header
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  // `Date.parse` accepts almost anything. An HTTP date begins with a weekday.
  const ms = /^\s*\d+\s*$/.test(value)
    ? Number(value) * 1_000
    : (/^\s*[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN) - nowMs;
  return Number.isNaN(ms) ? undefined : toPauseMs(ms);
}

/** The pause that a server asks for, within what Landfall accepts. */
export function toPauseMs(ms: number): number {
  return Math.min(Math.max(0, ms), RETRY_AFTER_MS_MAX);
}

/** A body that cannot be used: too long, not text, or not what was asked for. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** Bodies that are read at the same time, and must not be too long together. */
export class BodyGroup {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Counts more bytes. @throws {BodyError} when they would be too many */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new BodyError(`the answers at this time are longer than ${formatSize(this.#bytesMax)}`);
    }
    this.#bytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** How many bytes of a refusal to read. */
const REFUSAL_BYTES_MAX = 64 * 1024;

/** How a body is read. */
interface ReadBodyOptions {
  /** Most bytes, after unpacking; `Infinity` for a stream without an end. */
  readonly bytesMax: number;
  /** Whether to cut off a longer body and to repair invalid UTF-8, for texts that operators read. @default {false} */
  readonly isCut?: boolean;
  /** Most bytes of one piece. A slow reader gets all that has arrived as one chunk. @default {Infinity} */
  readonly pieceBytesMax?: number;
  /** The bodies that are read at the same time. @default {only this one} */
  readonly group?: BodyGroup;
}

/**
 * Reads a body as UTF-8, without a byte order mark. A body that is not read to its end is cancelled, which ends the
 * connection.
 *
 * @returns The text; empty when there is no body
 * @throws {BodyError} when it is too long, or not UTF-8
 * @throws the error of a broken connection
 */
export async function readText(
  reply: Pick<Response, "body">,
  options: ReadBodyOptions,
): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: options.isCut !== true });
  const text = decode(decoder, await readBytes(reply, options));
  return text + decode(decoder);
}

/**
 * Reads a body as {@linkcode readText} does, without looking at its bytes.
 *
 * @throws as {@linkcode readText}, but not for other bytes than UTF-8
 */
export async function readBytes(
  reply: Pick<Response, "body">,
  options: ReadBodyOptions,
): Promise<Uint8Array> {
  const { group } = options;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of readChunks(reply, options)) {
      group?.take(chunk.length);
      length += chunk.length;
      chunks.push(chunk);
    }
    const [only] = chunks;
    return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, length);
  } finally {
    group?.giveBack(length);
  }
}

/**
 * Reads the beginning of a refusal, for display. It may repeat secrets of the request, so they are removed.
 *
 * @param sent Headers of the request, by names in lower case
 * @throws the error of a broken connection
 */
export async function readRefusal(
  reply: Pick<Response, "body">,
  sent: HttpHeaders,
): Promise<string> {
  const text = await readText(reply, { bytesMax: REFUSAL_BYTES_MAX, isCut: true });
  return redact(text, listSecrets(sent));
}

/**
 * Parses JSON that a server sent, if the value has room in memory. It may need a hundred times the memory of its text.
 *
 * @throws {BodyError} when it needs too much
 * @throws {SyntaxError} when it is not JSON
 */
export function parseReply(text: string, bytesMax: number = BUDGET.parsed): unknown {
  // Nothing needs more than an opening bracket.
  const isSmall = text.length * PRICES["["] <= bytesMax;
  if (!isSmall && isAbove(text, bytesMax)) {
    const limit = formatSize(bytesMax);
    throw new BodyError(`the answer would need more than ${limit} of memory`);
  }
  return JSON.parse(text);
}

/**
 * Parses JSON in UTF-8, but leaves unread lists of objects empty. They may be most of a text.
 *
 * A list is cut out if its end is where it seems to be. If that is in a string, an odd number of quotes is left; if it
 * is the end of a list within the list, a bracket too many. Then the rest is no JSON, and everything is parsed.
 *
 * @param unread Names of such lists, each a field of an object in an object
 * @throws {BodyError} when it is not UTF-8
 * @throws {SyntaxError} when it is not JSON
 */
export function parseBytes(bytes: Uint8Array, unread: readonly string[] = []): unknown {
  const text = decodeWithout(bytes, unread);
  const value = text === undefined ? undefined : parseJson(text);
  return value === undefined ? JSON.parse(decodeAll(bytes)) : value;
}

/** @returns The text without these lists; `undefined` if it has none of them */
function decodeWithout(bytes: Uint8Array, lists: readonly string[]): string | undefined {
  const gaps = lists.flatMap((name) => findList(bytes, name) ?? []);
  if (gaps.length === 0) return undefined;
  let text = "";
  let at = 0;
  for (const { from, to } of gaps.sort((one, other) => one.from - other.from)) {
    if (from < at) continue;
    text += decodeAll(bytes.subarray(at, from));
    at = to;
  }
  return text + decodeAll(bytes.subarray(at));
}

/** Where the objects of a list are, as it seems. */
function findList(
  bytes: Uint8Array,
  name: string,
): { readonly from: number; readonly to: number } | undefined {
  const head = `,"${name}":[`;
  const at = find(bytes, `${head}{`, 0);
  const end = at === -1 ? -1 : find(bytes, "}]", at);
  return end === -1 ? undefined : { from: at + head.length, to: end + 1 };
}

/** Searches in place: a `Buffer` of the same bytes would copy them. */
function find(bytes: Uint8Array, text: string, from: number): number {
  return Buffer.prototype.indexOf.call(bytes, text, from);
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

function decodeAll(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    throw new BodyError("the answer is not UTF-8", { cause });
  }
}

/**
 * How many bytes a value needs for each of these characters in its text, beside the text itself. Measured; nested
 * lists, and objects with names of their own, are the worst.
 */
const PRICES = { "[": 200, "{": 200, '"': 40, ",": 25 } as const;

/** Those in strings count, too: the price is an upper bound. */
function isAbove(text: string, bytesMax: number): boolean {
  let bytes = text.length;
  for (const [character, price] of Object.entries(PRICES)) {
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
      bytes += price;
      if (bytes > bytesMax) return true;
    }
  }
  return false;
}

/**
 * Reads a body as {@linkcode readText} does, and yields each piece as it arrives, also of a body that never ends. A
 * piece may be empty, because a character may arrive in parts. Ending the iteration cancels the rest.
 *
 * @throws as {@linkcode readText}
 */
export async function* readPieces(
  reply: Pick<Response, "body">,
  options: ReadBodyOptions,
): AsyncGenerator<string, void> {
  const { isCut, pieceBytesMax = Infinity } = options;
  const decoder = new TextDecoder("utf-8", { fatal: isCut !== true });
  for await (const chunk of readChunks(reply, options)) {
    for (let at = 0; at < chunk.length; at += pieceBytesMax) {
      yield decode(decoder, chunk.subarray(at, at + pieceBytesMax));
    }
  }
  yield decode(decoder);
}

/**
 * The same, as bytes.
 *
 * @throws as {@linkcode readBytes}
 */
export async function* readChunks(
  { body }: Pick<Response, "body">,
  { bytesMax, isCut = false }: ReadBodyOptions,
): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let leftMax = bytesMax; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value.length > leftMax ? value.subarray(0, leftMax) : value;
      leftMax -= value.length;
      if (leftMax >= 0) continue;
      if (isCut) return;
      throw new BodyError(`the answer is longer than ${formatSize(bytesMax)}`);
    }
  } catch (error) {
    // All errors of a connection have a code; this is that of `DecompressionStream`.
    const isDamaged = error instanceof TypeError && findErrorCode(error) === "";
    throw isDamaged ? new BodyError("the answer cannot be unpacked", { cause: error }) : error;
  } finally {
    // Only cancelling frees the buffers of an unfinished body; an abort keeps them.
    reader.cancel().catch(() => {});
  }
}

/** @param bytes Absent at the end */
function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch (cause) {
    const problem = bytes === undefined ? "ended within a character" : "is not UTF-8";
    throw new BodyError(`the answer ${problem}`, { cause });
  }
}
