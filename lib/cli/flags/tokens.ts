/**
 * From argv to flags with values: every way of writing that Go programs accept.
 * @module
 */
import type { ConfigIssue } from "../../core/errors.ts";
import type { FlagSpec } from "./spec.ts";
import { findClosest } from "../../core/text/edit_distance.ts";

/** One flag as it was given. */
export interface FlagToken {
  readonly spec: FlagSpec;
  readonly value: string;
}

/** What argv holds, and what in it is no flag of the table. */
export interface FlagTokens {
  /** In the order given, repeats included. */
  readonly tokens: readonly FlagToken[];
  readonly issues: readonly ConfigIssue[];
  /**
   * Switches whose value stands after a space, `--leader-elect true`. They are tokens with that value as well, so that
   * a value that is refused anyway is all that needs to be told.
   */
  readonly slips: readonly ConfigIssue[];
}

interface Written {
  /** As it stands in argv, without the value. */
  shown: string;
  name: string;
  value: string | undefined;
}

/**
 * Splits argv into flags: `--flag`, `--flag=value`, `--flag value`, `-v=2`, `-v2`, `-v 2`, one dash before a long
 * name, and `_` for `-` in names. A switch takes its value only after `=`.
 *
 * @param argv Arguments after the program and the command
 * @param specs The flags there are
 */
export function readFlagTokens(argv: readonly string[], specs: readonly FlagSpec[]): FlagTokens {
  const tokens: FlagToken[] = [];
  const issues: ConfigIssue[] = [];
  const slips: ConfigIssue[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? "";
    if (argument === "--" || !/^-./.test(argument)) {
      const rest = argument === "--" ? argv.slice(at + 1) : [argument];
      issues.push(...rest.map(toPositionalIssue));
      if (argument === "--") break;
      continue;
    }
    const written = readWritten(argument);
    const spec = findSpec(written, specs);
    if (spec === undefined) {
      issues.push(toUnknownIssue(written, specs));
      // What follows is its value, and may be a secret: it is passed over, not repeated.
      if (written.value === undefined && /^[^-]/.test(argv[at + 1] ?? "")) at += 1;
      continue;
    }
    const next = argv[at + 1];
    // `--leader-elect false` is the usual slip: Go takes a switch's value only after an equals sign.
    if (written.value === undefined && spec.type === "bool" && /^(true|false)$/i.test(next ?? "")) {
      slips.push(toSlipIssue(spec, next ?? ""));
      tokens.push({ spec, value: next ?? "" });
      at += 1;
      continue;
    }
    const value = written.value ?? toImpliedValue(spec, next);
    if (value === undefined) {
      issues.push({ source: written.shown, message: toMissingMessage(spec, next) });
      continue;
    }
    if (written.value === undefined && spec.type !== "bool") at += 1;
    tokens.push({ spec, value });
  }
  return { tokens, issues, slips };
}

function readWritten(argument: string): Written {
  const [, dashes = "", name = "", value] = /^(-+)([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  // `-v2` is a one-letter flag with its value at once.
  const glued = dashes === "-" ? /^([a-z])(\d+)$/.exec(name) : null;
  if (glued !== null && value === undefined) {
    return { shown: `-${glued[1]}`, name: glued[1] ?? "", value: glued[2] };
  }
  return { shown: `${dashes}${name}`, name: name.replaceAll("_", "-"), value };
}

function findSpec({ shown, name }: Written, specs: readonly FlagSpec[]): FlagSpec | undefined {
  if (shown.startsWith("---")) return undefined;
  const isShort = !shown.startsWith("--") && name.length === 1;
  return specs.find((spec) => (isShort ? spec.short : spec.name) === name);
}

/** What a flag without `=` gets: true for a switch, else the next argument, unless that is clearly another flag. */
function toImpliedValue(spec: FlagSpec, next: string | undefined): string | undefined {
  if (spec.type === "bool") return "true";
  return next?.startsWith("--") === true ? undefined : next;
}

function toMissingMessage(spec: FlagSpec, next: string | undefined): string {
  const found = next === undefined ? "nothing follows" : `"${next}" follows`;
  return `wanted a value, ${found}; write --${spec.name}=VALUE`;
}

function toUnknownIssue({ shown }: Written, specs: readonly FlagSpec[]): ConfigIssue {
  const name = shown.replace(/^-+/, "").replaceAll("_", "-");
  const names = specs.filter(({ effect }) => effect !== "removed").map((spec) => spec.name);
  const closest = findClosest(name, names);
  const hint = closest === undefined ? "see --help" : `did you mean --${closest}?`;
  return { source: shown, message: `unknown flag; ${hint}` };
}

function toPositionalIssue(argument: string): ConfigIssue {
  return { message: `unexpected argument "${argument}"; only flags are accepted` };
}

function toSlipIssue({ name }: FlagSpec, value: string): ConfigIssue {
  const message = `found "${value}" after a space; write --${name}=${value.toLowerCase()}`;
  return { source: `--${name}`, message };
}
