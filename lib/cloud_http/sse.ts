/**
 * Server-sent events: takes text in pieces, returns events. Pure.
 *
 * The format is that of the HTML standard, "Parsing an event stream"; `id` and `retry` are ignored.
 * @module
 */

/** One event of a stream. */
export interface ServerSentEvent {
  /** Its type; `message` when it has none. */
  readonly event: string;
  /** Its data; several lines are joined by newlines. */
  readonly data: string;
}

/** Most characters of one event, and of one line. An object of a cloud has some thousands. */
const CHARS_MAX = 1024 * 1024;

/** Parses a stream. */
export class SseParser {
  /** The current line so far, in pieces: to search it again at each piece would take quadratic time. */
  #pieces: string[] = [];
  /** Characters in them. */
  #pending = 0;
  /** Characters of the lines of an event so far. */
  #kept = 0;
  #event = "";
  #data: string[] = [];
  #isFirst = true;
  /** Whether the last piece ended with a carriage return: a newline right after it belongs to it. */
  #endedWithReturn = false;

  /**
   * Reads the next piece, which may begin and end anywhere.
   *
   * @returns The events that it completes
   * @throws {RangeError} when an event is longer than any real event
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
