/**
 * Reads the body of a reply, up to a limit: a faulty server must not fill the memory.
 * @module
 */
import { formatSize } from "../text/size.ts";

/** A body that cannot be used: too long, or not text. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** How many bytes of a refusal to read. */
export const ERROR_BYTES_MAX: number = 64 * 1024;

/** How a body is read. */
interface ReadBodyOptions {
  /** Most bytes, after unpacking; `Infinity` for a stream without an end. */
  readonly bytesMax: number;
  /** Whether to cut off a longer body and to repair invalid UTF-8, for texts that operators read. @default {false} */
  readonly isCut?: boolean;
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
  const pieces: string[] = [];
  for await (const piece of readPieces(reply, options)) pieces.push(piece);
  return pieces.join("");
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
