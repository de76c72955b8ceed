/**
 * Parses the body of a watch: bytes to lines, lines to events.
 * @module
 */
import { BodyError, parseBytes, readChunks } from "../../core/net/body.ts";
import type { WatchEvent } from "./client.ts";
import { KubeError } from "./errors.ts";
import { toTransportError } from "./transport.ts";

/** Longest line; the API server keeps objects below 2 MiB. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const NEWLINE = 10;
/** Blank, tabulator, carriage return. */
const BLANKS: ReadonlySet<number> = new Set([32, 9, 13]);

/**
 * Yields the events of a watch until the server ends it. Ending the iteration closes the connection.
 *
 * @param body Body of the reply
 * @param what The request, as `watch "/api/v1/nodes"`, for errors
 * @param signal Ends the iteration with `signal.reason`
 * @throws {KubeError} `unavailable` when the connection breaks or a line is not an event
 */
export async function* readWatchEvents(
  body: ReadableStream<Uint8Array>,
  what: string,
  signal: AbortSignal,
  unread?: readonly string[],
): AsyncGenerator<WatchEvent, void> {
  for await (const line of readLines(body, what, signal)) {
    signal.throwIfAborted();
    if (!isBlank(line)) yield parseEvent(line, what, unread);
  }
}

/**
 * Yields the lines of a stream without their newlines. A line may arrive in pieces.
 *
 * @throws {KubeError} `unavailable` when the stream breaks or ends within a line
 */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  what: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  // The pieces of an incomplete line. Searching it again with each chunk would take quadratic time.
  let pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of readChunks({ body }, { bytesMax: Infinity })) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const line = chunk.subarray(start, end);
        yield pieces.length === 0 ? line : Buffer.concat([...pieces, line]);
        pieces = [];
        length = 0;
        start = end + 1;
      }
      if (start < chunk.length) pieces.push(chunk.subarray(start));
      length += chunk.length - start;
      if (length > LINE_BYTES_MAX) throw toStreamError(what, "a line is longer than 16 MiB");
    }
    if (!pieces.every(isBlank)) {
      throw toStreamError(what, "the stream ended within an event");
    }
  } catch (error) {
    if (error instanceof BodyError) throw toStreamError(what, error.message, error);
    const meaning = toTransportError(error, signal);
    if (!(meaning instanceof KubeError) || meaning.message.startsWith("Cannot ")) throw meaning;
    throw new KubeError("unavailable", `Cannot ${what}: ${meaning.message}`, { cause: meaning });
  }
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => BLANKS.has(byte));
}

function parseEvent(line: Uint8Array, what: string, unread?: readonly string[]): WatchEvent {
  let value: unknown;
  try {
    value = parseBytes(line, unread);
  } catch (error) {
    const problem = error instanceof BodyError ? error.message : "a line is not JSON";
    throw toStreamError(what, problem, error);
  }
  if (typeof value === "object" && value !== null && "type" in value && "object" in value) {
    const { type, object } = value;
    if (typeof type === "string") return { type, object };
  }
  throw toStreamError(what, "a line is not a watch event");
}

/** Does not show the line: it may contain anything. */
function toStreamError(what: string, message: string, cause?: unknown): KubeError {
  return new KubeError("unavailable", `Cannot ${what}: ${message}`, { cause });
}
