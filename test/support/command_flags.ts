/**
 * Flags of what only developers run.
 * @module
 */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { describeError, findErrorCode } from "../../lib/core/errors.ts";

/** Values of flags as `parseArgs` gives them. */
type FlagValues<O extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: O }>
>["values"];

/**
 * Reads the flags of this process. With `--help` it prints the usage and ends with 0; when they cannot be used, it says
 * so in one line and ends with 2.
 *
 * @param usage What `--help` prints
 * @param options As `parseArgs` takes them, without `help`
 * @param read Makes of the values what is wanted; what it throws is what is wrong with them
 */
export function readFlags<const O extends ParseArgsOptionsConfig, T>(
  usage: string,
  options: O,
  read: (values: FlagValues<O>) => T,
): T {
  try {
    if (process.argv.slice(2).some((arg) => arg === "--help" || arg === "-h")) {
      process.stdout.write(usage);
      process.exit(0);
    }
    return read(parseArgs({ options, args: joinNegatives(process.argv.slice(2)) }).values);
  } catch (error) {
    process.stderr.write(`${toLine(error, Object.keys(options))}\n`);
    process.exit(2);
  }
}

/** `--seed -1` is `--seed=-1`: else parseArgs says how to write it, and not what is wrong with it. */
function joinNegatives(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const last = joined.at(-1) ?? "";
    if (/^-\d/.test(arg) && /^--[^=]+$/.test(last)) joined[joined.length - 1] = `${last}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

function toLine(error: unknown, names: readonly string[]): string {
  const line = describeError(error).replaceAll("\n", " ");
  const isUnknown = /UNKNOWN_OPTION|UNEXPECTED_POSITIONAL/.test(findErrorCode(error));
  return isUnknown ? `${line}; there are --${names.join(", --")}` : line;
}

/** Reads a flag that is a list of names, separated by commas. @throws {Error} for a name that is not known */
export function readFlagNames(flag: string, text: string, known: readonly string[]): string[] {
  const names = text.split(",");
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new Error(`${flag}: there is no "${unknown}"; there are ${known.join(", ")}`);
}

/** What a number must be. */
export interface FlagRange {
  /** @default {false} */
  readonly fraction?: boolean;
  /** @default {1}; with fractions, anything above 0 */
  readonly min?: number;
  readonly max?: number;
}

/** Reads the value of a flag: one that nobody can use would else do nothing, and look like success. @throws {Error} */
export function readFlagNumber(flag: string, text: string, range: FlagRange = {}): number {
  const { fraction = false, min = fraction ? Number.MIN_VALUE : 1, max = Infinity } = range;
  const number = Number(text);
  const isRight = text.trim() !== "" && (fraction || Number.isSafeInteger(number));
  if (isRight && number >= min && number <= max) return number;
  const least = min === Number.MIN_VALUE ? "above 0" : `from ${min}`;
  const most = max === Infinity ? "" : ` to ${max}`;
  const kind = fraction ? "number" : "whole number";
  throw new Error(`${flag}: must be a ${kind} ${least}${most}, but is "${text}"`);
}
