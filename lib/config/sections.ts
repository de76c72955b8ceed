/**
 * Splits the content of a file into the sections that every provider's file may have, and the provider's own settings.
 * @module
 */
import type { SectionValues, SettingsSection } from "../cloud/settings/section.ts";
import type { ConfigIssue } from "../core/errors.ts";

/** The content of a file, split. */
interface SplitConfig {
  /** The file without the settings of sections, for the provider. */
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
  const bySection = new Map(sections.map((section) => [section.key, section]));
  const rest = entries.flatMap(([key, value]): [string, unknown][] => {
    const section = bySection.get(key);
    if (section === undefined) return [[key, value]];
    const others = listOthers(value, section);
    return others.length === 0 ? [] : [[key, Object.fromEntries(others)]];
  });
  const isWhole = entries.every(([key]) => !bySection.has(key));
  return {
    rest: isWhole ? raw : Object.fromEntries(rest),
    sections: new Map(parsed.map(({ key, settings }) => [key, settings])),
    issues: parsed.flatMap(({ issues }) => issues),
    warnings: parsed.flatMap(({ warnings }) => warnings),
  };
}

/** The keys of a block that the section does not know: the provider may have settings of its own under that name. */
function listOthers(block: unknown, { key, settings }: SettingsSection): [string, unknown][] {
  if (typeof block !== "object" || block === null || Array.isArray(block)) return [];
  const known = new Set(settings.map(({ path }) => path));
  return Object.entries(block).filter(([one]) => !known.has(`${key}.${one}`));
}
