/**
 * The values of all flags by name, given or default.
 * @module
 */
import { formatDuration, mustBe, parseBool, parseDuration } from "../../core/text/values.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import type { FlagSpec } from "./spec.ts";
import type { FlagToken } from "./tokens.ts";

/** Minimum and maximum, both allowed. */
export type Range = readonly [least: number, most: number];

/** With these flags the program prints something and exits, so a running process never has them. */
const ANSWERED_AT_ONCE: ReadonlySet<string> = new Set(["help", "version"]);

/** The last value given for each flag, else its default. */
export class GivenFlags {
  readonly #flags: readonly FlagSpec[];
  readonly #values = new Map<string, string>();

  /** @param flags All known flags */
  constructor(tokens: readonly FlagToken[], flags: readonly FlagSpec[]) {
    this.#flags = flags;
    for (const { spec, value } of tokens) {
      const before = spec.type === "list" ? this.#values.get(spec.name) : undefined;
      this.#values.set(spec.name, before === undefined ? value : `${before},${value}`);
    }
  }

  /** Whether the command line has the flag with a usable value. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string {
    return this.#values.get(name) ?? this.#find(name).default;
  }

  /** The flags that set something and their values. A password within a URL is removed; no other flag has a secret. */
  listEffective(): Record<string, string> {
    const effective = this.#flags.filter(
      ({ name, effect }) => effect === "applies" && !ANSWERED_AT_ONCE.has(name),
    );
    return Object.fromEntries(
      effective.map(({ name }) => [name, this.text(name).replace(/\/\/[^/@]*@/, "//")]),
    );
  }

  bool(name: string): boolean {
    return parseBool(this.text(name)) === true;
  }

  int(name: string, least: number, most: number, issues: ConfigIssue[]): number {
    const value = Number(this.text(name));
    if (value < least || value > most) {
      const message = mustBe(`from ${least} to ${most}`, String(value));
      issues.push({ source: `--${name}`, message });
    }
    return value;
  }

  durationMs(name: string, [least, most]: Range, issues: ConfigIssue[]): number {
    const ms = parseDuration(this.text(name));
    if (ms < least || ms > most) {
      const range = `from ${formatDuration(least)} to ${formatDuration(most)}`;
      issues.push({ source: `--${name}`, message: mustBe(range, formatDuration(ms)) });
    }
    return ms;
  }

  #find(name: string): FlagSpec {
    const spec = this.#flags.find((one) => one.name === name);
    if (spec === undefined) {
      throw new TypeError(`Cannot read flag "${name}": it is not in the table`);
    }
    return spec;
  }
}
