/**
 * Reads the body of a reply, up to a bound: a server that goes astray must not fill the memory.
 * @module
 */

/** A body that cannot be used: longer than anything that is sent in good faith, or no text. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** As much as is looked at of an answer that is a refusal. */
export const ERROR_BYTES_MAX: number = 64 * 1024;

const MIB = 1024 * 1024;

/** How a body is read. */
export interface ReadBodyOptions {
  /** Most bytes, after unpacking; `Infinity` for a body that goes on as long as either side likes. */
  readonly bytesMax: number;
  /** What is longer is cut off there, and what is no UTF-8 is made to fit, for people to read. @default {false} */
  readonly isCut?: boolean;
}

/**
 * Reads a body as UTF-8, without a byte order mark. What is not read to its end is cancelled, which ends the
 * connection.
 *
 * @returns The text; empty when there is no body
 * @throws {BodyError} when it is too long, or no UTF-8
 * @throws whatever breaks the connection
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
 * Reads a body as {@linkcode readText} does, and gives each piece as it comes: of a body that never ends, too. A piece
 * may be empty, for a character may come in parts. Ending the iteration cancels what is left.
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
    // Only cancelling frees the buffers of a body that is left early; an abort keeps them.
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

function formatSize(bytes: number): string {
  return bytes >= MIB ? `${Math.floor(bytes / MIB)} MiB` : `${bytes} bytes`;
}
