/**
 * The log of a simulated process, as lines of the trace.
 * @module
 */
import { describeError } from "../../lib/core/errors.ts";
import type { LogFields, Logger } from "../../lib/core/log.ts";
import type { Trace } from "./trace.ts";

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
