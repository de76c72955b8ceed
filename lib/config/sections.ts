/**
 * Splits the content of a file into the sections that every provider's file may have, and the provider's own settings.
 * @module
 */
import type { SectionValues, SettingsSection } from "../cloud/settings/section.ts";
import type { ConfigIssue } from "../core/errors.ts";

/** The content of a file, split. */
export interface SplitConfig {
  /** The file without the sections, for the provider. */
  readonly rest: unknown;
  /** Settings of each section: those without the section if the file has none, or an invalid one. */
  readonly sections: SectionValues;
  /** Problems of sections, each with its `path`. */
  readonly issues: readonly ConfigIssue[];
  /** Warnings about sections. */
  readonly warnings: readonly ConfigIssue[];
}

/**
 * Removes sections from the content of a file, so that providers need not know them. Never repeats what may be a
 * secret.
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
