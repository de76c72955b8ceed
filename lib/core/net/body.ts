/**
 * Reads the body of a reply, up to a limit: a faulty server must not fill the memory.
 * @module
 */
import { BUDGET } from "../budget.ts";
import { formatSize } from "../text/size.ts";

/** A body that cannot be used: too long, or not text. */
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
export const ERROR_BYTES_MAX: number = 64 * 1024;

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
  const { group } = options;
  const pieces: string[] = [];
  let length = 0;
  try {
    for await (const piece of readPieces(reply, options)) {
      group?.take(piece.length);
      length += piece.length;
      pieces.push(piece);
    }
    return pieces.join("");
  } finally {
    group?.giveBack(length);
  }
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
  { body }: Pick<Response, "body">,
  { bytesMax, isCut = false }: ReadBodyOptions,
): AsyncGenerator<string, void> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: !isCut });
  try {
    for (let leftMax = bytesMax; ;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield decode(decoder, value.subarray(0, leftMax));
      leftMax -= value.length;
      if (leftMax >= 0) continue;
      if (isCut) return;
      throw new BodyError(`the answer is longer than ${formatSize(bytesMax)}`);
    }
    yield decode(decoder);
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
