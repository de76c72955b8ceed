/**
 * Parses server-sent events from pieces of text. Pure.
 *
 * Follows the HTML standard, "Parsing an event stream"; ignores `id` and `retry`.
 * @module
 */

/** One event of a stream. */
export interface ServerSentEvent {
  /** Its type; `message` if the stream gives none. */
  readonly event: string;
  /** Its data; several lines are joined by newlines. */
  readonly data: string;
}

/** Maximum number of characters of one event or line. An object of a cloud has some thousands. */
const CHARS_MAX = 256 * 1024;

/** Parses one stream. */
export class SseParser {
  /** The current line so far, in pieces. To search the whole line at each piece would take quadratic time. */
  #pieces: string[] = [];
  /** Number of characters in these pieces. */
  #pending = 0;
  /** Number of characters in the lines of the current event so far. */
  #kept = 0;
  #event = "";
  #data: string[] = [];
  #isFirst = true;
  /** Whether the last piece ended with a carriage return. A newline right after it is part of the same line end. */
  #endedWithReturn = false;

  /**
   * Reads the next piece. It may begin and end anywhere.
   *
   * @returns The events that it completes
   * @throws {RangeError} if an event is too long
   */
  push(text: string): ServerSentEvent[] {
    if (text === "") return [];
    let piece = text;
    if (this.#isFirst) piece = piece.replace(/^\uFEFF/, "");
    else if (this.#endedWithReturn) piece = piece.replace(/^\n/, "");
    this.#isFirst = false;
    this.#endedWithReturn = text.endsWith("\r");
    const lines = piece.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? "";
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      const whole = this.#pieces.join("") + line;
      this.#pieces = [];
      this.#pending = 0;
      const event = this.#take(whole);
      if (event) events.push(event);
    }
    if (rest !== "") this.#pieces.push(rest);
    this.#pending += rest.length;
    this.#checkLength();
    return events;
  }

  #take(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#dispatch();
    this.#kept += line.length;
    this.#checkLength();
    const colon = line.indexOf(":");
    // A comment.
    if (colon === 0) return undefined;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    if (name === "data") this.#data.push(value);
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = { event: this.#event || "message", data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    this.#kept = 0;
    return isEmpty ? undefined : event;
  }

  #checkLength(): void {
    if (this.#kept + this.#pending <= CHARS_MAX) return;
    throw new RangeError(`an event is longer than ${CHARS_MAX} characters`);
  }
}
