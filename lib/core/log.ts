/**
 * Logging: a constant message plus fields, as JSON lines or text, secrets redacted by field name; and how to say a
 * thing once.
 * @module
 */
import { describeError } from "./errors.ts";
import { escapeInvisible } from "./text/printable.ts";
import type { Clock } from "./clock.ts";

/** Fields of a record besides its message. An Error is shown with its causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The severity of a record. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes log records. Messages are constants; everything that varies is a field. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to every record. */
  with(fields: LogFields): Logger;
}

/** Settings of a logger. */
export interface LoggerOptions {
  /** One JSON object per line, or `level time message key=value`. */
  format: "json" | "text";
  /** The lowest level that is written. @default {"info"} */
  level?: LogLevel;
  /** Writes one finished line, which ends in a newline. */
  write: (line: string) => void;
  /** Wall-clock milliseconds. */
  now: () => number;
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const SECRET_NAME =
  /token|password|passwd|secret|authorization|cookie|(?:private|access|api).?key|credential/i;
const REDACTED = "[redacted]";

/** Creates a logger. It does not buffer: `write` has a record before the call returns. */
export function createLogger(options: LoggerOptions, fields: LogFields = {}): Logger {
  const least = RANK[options.level ?? "info"];
  const log = (level: LogLevel, message: string, extra: LogFields = {}): void => {
    if (RANK[level] < least) return;
    const time = new Date(options.now()).toISOString();
    const shown = toShown({ ...fields, ...extra });
    options.write(
      options.format === "json"
        ? `${escapeInvisible(JSON.stringify({ time, level, message, ...shown }))}\n`
        : `${time} ${level.toUpperCase().padEnd(5)} ${message}${escapeInvisible(toText(shown))}\n`,
    );
  };
  return {
    debug: (message, extra) => log("debug", message, extra),
    info: (message, extra) => log("info", message, extra),
    warn: (message, extra) => log("warn", message, extra),
    error: (message, extra) => log("error", message, extra),
    with: (more) => createLogger(options, { ...fields, ...more }),
  };
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLogger,
};

function toShown(fields: LogFields): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) shown[name] = SECRET_NAME.test(name) ? REDACTED : toValue(value);
  }
  return shown;
}

function toValue(value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  if (Array.isArray(value)) return value.map(toValue);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "object" && value !== null) return toShown(value as LogFields);
  return value;
}

function toText(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(
      ([name, value]) =>
        ` ${name}=${typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value)}`,
    )
    .join("");
}

/** When to repeat a message about a lasting problem. */
interface Reminder {
  readonly clock: Clock;
  /** Milliseconds after the last time. */
  readonly afterMs: number;
}

/** Remembers the last message: a lasting problem is reported once, or again after a time. */
export class MessageDedup {
  readonly #reminder: Reminder | undefined;
  #told: string | undefined;
  #againMs = Infinity;

  /** @param reminder @default {never again} */
  constructor(reminder?: Reminder) {
    this.#reminder = reminder;
  }

  /** Whether to report this now: it then counts as reported. */
  isNew(text: string): boolean {
    const nowMs = this.#reminder?.clock.monotonic() ?? 0;
    if (text === this.#told && nowMs < this.#againMs) return false;
    this.#told = text;
    this.#againMs = nowMs + (this.#reminder?.afterMs ?? Infinity);
    return true;
  }

  /** The reported problem is over: if it comes back, it is new. @returns Whether there was one */
  end(): boolean {
    const wasTold = this.#told !== undefined;
    this.#told = undefined;
    return wasTold;
  }
}
