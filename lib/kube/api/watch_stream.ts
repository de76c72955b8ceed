/**
 * Parses the body of a watch: bytes to lines, lines to events.
 * @module
 */
import { BodyError, parseBytes, readChunks } from "../../core/http/request.ts";
import { isFields } from "../../core/text/values.ts";
import type { WatchEvent } from "./client.ts";

/** Longest line; the API server keeps objects below 2 MiB. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const NEWLINE = 10;
/** Blank, tabulator, carriage return. */
const BLANKS: ReadonlySet<number> = new Set([32, 9, 13]);

/**
 * Yields the events of a watch until the server ends it. Ending the iteration closes the connection.
 *
 * @param unread Names of lists to leave empty
 * @throws {BodyError} when a line is not an event, or the stream ends within one; it does not show the line, which may
 * contain anything
 * @throws the error of a broken connection
 */
export async function* readWatchEvents(
  reply: Pick<Response, "body">,
  unread?: readonly string[],
): AsyncGenerator<WatchEvent, void> {
  // The pieces of an incomplete line. Searching it again with each chunk would take quadratic time.
  let pieces: Uint8Array[] = [];
  let length = 0;
  // One loop: a generator for the lines would cost a microsecond for each event.
  for await (const chunk of readChunks(reply, { bytesMax: Infinity })) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end);
      const line = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
      if (!isBlank(line)) yield parseEvent(line, unread);
      pieces = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > LINE_BYTES_MAX) throw new BodyError("a line is longer than 16 MiB");
  }
  if (!pieces.every(isBlank)) throw new BodyError("the stream ended within an event");
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => BLANKS.has(byte));
}

function parseEvent(line: Uint8Array, unread?: readonly string[]): WatchEvent {
  let value: unknown;
  try {
    value = parseBytes(line, unread);
  } catch (cause) {
    throw cause instanceof BodyError ? cause : new BodyError("a line is not JSON", { cause });
  }
  const { type, object } = isFields(value) ? value : {};
  if (typeof type === "string" && object !== undefined) return { type, object };
  throw new BodyError("a line is not a watch event");
}
