/**
 * Parts what a file says into the sections that every provider's file may have, and what is the provider's own.
 * @module
 */
import type { SectionValues, SettingsSection } from "../cloud/settings/section.ts";
import type { ConfigIssue } from "../core/errors.ts";

/** What a file says, in its parts. */
export interface SplitConfig {
  /** The file without the sections, for the provider. */
  readonly rest: unknown;
  /** Settings of each section: what holds without it where the file says nothing, or something wrong. */
  readonly sections: SectionValues;
  /** What is wrong in sections, each with its `path`. */
  readonly issues: readonly ConfigIssue[];
  /** What is odd in sections. */
  readonly warnings: readonly ConfigIssue[];
}

/**
 * Takes sections off what a file says, so that no provider has to know them. Never repeats a value.
 *
 * @param raw The file, parsed; `undefined` or `null` without one
 */
export function splitConfig(raw: unknown, sections: readonly SettingsSection[]): SplitConfig {
  const isBlock = typeof raw === "object" && raw !== null;
  const entries = isBlock ? Object.entries(raw) : [];
  const written = new Map(entries);
  const parsed = sections.map((section) => ({
    key: section.key,
    ...section.parse(written.get(section.key)),
  }));
  const keys = new Set(sections.map(({ key }) => key));
  const rest = entries.filter(([key]) => !keys.has(key));
  return {
    rest: rest.length === entries.length ? raw : Object.fromEntries(rest),
    sections: new Map(parsed.map(({ key, settings }) => [key, settings])),
    issues: parsed.flatMap(({ issues }) => issues),
    warnings: parsed.flatMap(({ warnings }) => warnings),
  };
}
