/**
 * Parses the body of a watch: bytes to lines, lines to events.
 * @module
 */
import { BodyError, readPieces } from "../../core/net/body.ts";
import type { WatchEvent } from "./client.ts";
import { KubeError } from "./errors.ts";
import { toTransportError } from "./transport.ts";

/** Longest line in characters; the API server keeps objects below 2 MiB. */
const LINE_CHARS_MAX = 16 * 1024 * 1024;

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
): AsyncGenerator<WatchEvent, void> {
  for await (const line of readLines(body, what, signal)) {
    signal.throwIfAborted();
    if (line.trim() !== "") yield parseEvent(line, what);
  }
}

/**
 * Yields the lines of a stream without their newlines. The bytes of a character may arrive in pieces.
 *
 * @throws {KubeError} `unavailable` when the stream breaks or ends within a line
 */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  what: string,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  // The pieces of an incomplete line. Searching it again with each chunk would take quadratic time.
  let pieces: string[] = [];
  let length = 0;
  try {
    for await (const text of readPieces({ body }, { bytesMax: Infinity })) {
      const lines = text.split("\n");
      const rest = lines.pop() ?? "";
      for (const line of lines) {
        yield pieces.length === 0 ? line : pieces.join("") + line;
        pieces = [];
        length = 0;
      }
      if (rest !== "") pieces.push(rest);
      length += rest.length;
      if (length > LINE_CHARS_MAX)
        throw toStreamError(what, "a line has more than 16 Mi characters");
    }
    if (pieces.join("").trim() !== "") {
      throw toStreamError(what, "the stream ended within an event");
    }
  } catch (error) {
    if (error instanceof BodyError) throw toStreamError(what, error.message, error);
    const meaning = toTransportError(error, signal);
    if (!(meaning instanceof KubeError) || meaning.message.startsWith("Cannot ")) throw meaning;
    throw new KubeError("unavailable", `Cannot ${what}: ${meaning.message}`, { cause: meaning });
  }
}

function parseEvent(line: string, what: string): WatchEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw toStreamError(what, "a line is not JSON", error);
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
