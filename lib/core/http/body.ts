/**
 * Reads the body of a reply, up to a limit: a faulty server must not fill the memory.
 * @module
 */
import { BUDGET } from "../budget.ts";
import { formatSize, parseJson } from "../text/values.ts";
import { listSecrets, redact } from "../text/printable.ts";
import { findErrorCode } from "./connection_problem.ts";

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
  sent: Parameters<typeof listSecrets>[0],
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
  const decoder = new TextDecoder("utf-8", { fatal: options.isCut !== true });
  for await (const chunk of readChunks(reply, options)) yield decode(decoder, chunk);
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
