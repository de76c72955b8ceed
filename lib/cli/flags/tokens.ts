/**
 * Splits argv into flags with values, in every form that Go programs accept.
 * @module
 */
import type { ConfigIssue } from "../../core/errors.ts";
import type { FlagSpec } from "./spec.ts";
import { findClosest } from "../../core/text/edit_distance.ts";
import { quote } from "../../core/text/printable.ts";

/** One flag of the command line. */
export interface FlagToken {
  readonly spec: FlagSpec;
  readonly value: string;
}

/** What argv holds, and what is wrong with it. */
export interface FlagTokens {
  /** In the order given, repeats included. */
  readonly tokens: readonly FlagToken[];
  /** Arguments that are no flags. */
  readonly args: readonly string[];
  readonly issues: readonly ConfigIssue[];
  /**
   * Switches whose value comes after a space, `--leader-elect true`. They are tokens with that value, too: if the value
   * is refused anyway, only that is reported.
   */
  readonly slips: readonly ConfigIssue[];
}

interface Written {
  /** The flag in argv, without the value. */
  shown: string;
  name: string;
  value: string | undefined;
}

/**
 * Splits argv into flags: `--flag`, `--flag=value`, `--flag value`, `-v=2`, `-v2`, `-ojson`, `-v 2`, one dash before a
 * long name, and `_` for `-` in names. A switch takes its value only after `=`.
 *
 * @param argv Arguments after the program and the command
 * @param specs The known flags
 * @param argsMax How many arguments may be no flags; each further one is an issue. @default {0}
 */
export function readFlagTokens(
  argv: readonly string[],
  specs: readonly FlagSpec[],
  argsMax = 0,
): FlagTokens {
  const tokens: FlagToken[] = [];
  const args: string[] = [];
  const issues: ConfigIssue[] = [];
  const slips: ConfigIssue[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? "";
    if (argument === "--" || !/^-./.test(argument)) {
      for (const one of argument === "--" ? argv.slice(at + 1) : [argument]) {
        if (args.length < argsMax) args.push(one);
        else issues.push(toArgumentIssue(one, argsMax));
      }
      if (argument === "--") break;
      continue;
    }
    const written = readWritten(argument, specs);
    const spec = findSpec(written, specs);
    if (spec === undefined) {
      issues.push(toUnknownIssue(written, specs));
      // The next argument is the value, and may be a secret: skip it and do not repeat it.
      if (written.value === undefined && /^[^-]/.test(argv[at + 1] ?? "")) at += 1;
      continue;
    }
    const next = argv[at + 1];
    // `--leader-elect false` is a common mistake: Go takes the value of a switch only after an equals sign.
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
  return { tokens, args, issues, slips };
}

function readWritten(argument: string, specs: readonly FlagSpec[]): Written {
  const [, dashes = "", name = "", value] = /^(-+)([^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  // `-v2` and `-ojson` are one-letter flags with their value, unless a long flag has that name.
  const [, letter = "", glued = ""] = /^-([a-z])([a-z0-9]+)$/.exec(argument) ?? [];
  const short = specs.find((spec) => spec.short === letter);
  const isGlued = short?.type === "int" ? /^\d+$/.test(glued) : short?.choices?.includes(glued);
  if (isGlued && !specs.some((spec) => spec.name === name)) {
    return { shown: `-${letter}`, name: letter, value: glued };
  }
  return { shown: `${dashes}${name}`, name: name.replaceAll("_", "-"), value };
}

function findSpec({ shown, name }: Written, specs: readonly FlagSpec[]): FlagSpec | undefined {
  if (shown.startsWith("---")) return undefined;
  const isShort = !shown.startsWith("--") && name.length === 1;
  return specs.find((spec) => (isShort ? spec.short : spec.name) === name);
}

/** The value of a flag without `=`: true for a switch, else the next argument, unless that is clearly a flag. */
function toImpliedValue(spec: FlagSpec, next: string | undefined): string | undefined {
  if (spec.type === "bool") return "true";
  return next?.startsWith("--") === true ? undefined : next;
}

function toMissingMessage(spec: FlagSpec, next: string | undefined): string {
  const found = next === undefined ? "nothing follows" : `${quote(next)} follows`;
  return `needs a value, but ${found}; write --${spec.name}=VALUE`;
}

function toUnknownIssue({ shown }: Written, specs: readonly FlagSpec[]): ConfigIssue {
  const name = shown.replace(/^-+/, "").replaceAll("_", "-");
  const names = specs.filter(({ effect }) => effect !== "removed").map((spec) => spec.name);
  const closest = findClosest(name, names);
  const meant = findByChoice(name, specs) ?? (closest === undefined ? undefined : `--${closest}`);
  const hint = meant === undefined ? "see --help" : `did you mean ${meant}?`;
  return { source: shown, message: `unknown flag; ${hint}` };
}

/** The flag that has such a value: `-o wide` for `--wide`. */
function findByChoice(value: string, specs: readonly FlagSpec[]): string | undefined {
  const spec = specs.find(({ choices = [] }) => choices.includes(value));
  if (spec === undefined) return undefined;
  return spec.short === undefined ? `--${spec.name}=${value}` : `-${spec.short} ${value}`;
}

function toArgumentIssue(argument: string, argsMax: number): ConfigIssue {
  const rule =
    argsMax === 0 ? "the command takes only flags" : `the command takes at most ${argsMax}`;
  return { message: `unexpected argument "${argument}"; ${rule}` };
}

function toSlipIssue({ name }: FlagSpec, value: string): ConfigIssue {
  const message = `"${value}" comes after a space; write --${name}=${value.toLowerCase()}`;
  return { source: `--${name}`, message };
}
