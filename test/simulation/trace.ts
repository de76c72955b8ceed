/**
 * What happened in a simulation, in order: what a failing seed prints, and what two runs of a seed are compared by.
 * @module
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../lib/core/clock.ts";
import { describeError } from "../../lib/core/errors.ts";
import type { LogFields, Logger } from "../../lib/core/log.ts";

/** The end of an identity in a Lease: another one in each run. */
const RANDOM_END = /_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** One line for each thing that happened. */
export class Trace {
  readonly #clock: Clock;
  readonly #lines: string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that something happened now. @param who The process or server that it happened to, or who did it */
  note(who: string, what: string): void {
    const seconds = (this.#clock.monotonic() / 1_000).toFixed(3).padStart(9);
    this.#lines.push(`${seconds} ${who.padEnd(6)} ${what.replaceAll(RANDOM_END, "")}`);
  }

  /** Everything, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Names the whole trace: equal for equal traces only. */
  toHash(): string {
    return createHash("sha256").update(this.#lines.join("\n")).digest("hex");
  }
}

/** A logger into a trace; what it is told at level debug is left out. @param onMessage Told of each message, too */
export function createTraceLog(
  trace: Trace,
  who: string,
  onMessage: (message: string) => void,
  fields: LogFields = {},
): Logger {
  const note = (level: string) => (message: string, extra?: LogFields) => {
    onMessage(message);
    const shown = Object.entries({ ...fields, ...extra }).map(
      ([name, value]) => ` ${name}=${toText(value)}`,
    );
    trace.note(who, `${level} ${message}${shown.join("")}`);
  };
  return {
    debug: () => undefined,
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
    with: (more) => createTraceLog(trace, who, onMessage, { ...fields, ...more }),
  };
}

function toText(value: unknown): string {
  return value instanceof Error ? describeError(value) : (JSON.stringify(value) ?? "");
}
