/**
 * A section of a settings file that does not belong to the provider: a block of keys under one name, such as
 * `deletion`.
 * @module
 */
import * as v from "valibot";
import type { ConfigIssue } from "../../core/errors.ts";
import { mustBeSetting } from "../../core/text/must_be.ts";
import type { SettingDescription } from "../provider_definition.ts";
import { BLOCK, describeBlock, type SettingSchema } from "./schema.ts";

/**
 * A section that a file may have, for every provider.
 *
 * @typeParam S The type of its settings
 */
export interface SettingsSection<S = unknown> {
  /** Its key, at the top of the file. */
  readonly key: string;
  /** Every setting in it, in the order of the reference page; each path begins with the key. */
  readonly settings: readonly SettingDescription[];
  readonly docs: SectionDocs;
  /** The settings without this section in the file. */
  readonly standard: S;
  /** Reads the value of the key; `undefined` without it. Never throws, and never repeats what may be a secret. */
  parse(written: unknown): ParsedSection<S>;
}

/** What the reference page says above the table of a section. */
export interface SectionDocs {
  readonly title: string;
  /** Whole sentences, as Markdown, in lines that fit. */
  readonly text: string;
}

/** The result of reading a section. */
export interface ParsedSection<S> {
  /** If something is wrong: the settings without the section. */
  readonly settings: S;
  /** What is wrong, each with its `path`. */
  readonly issues: readonly ConfigIssue[];
  /** Unusual values that Landfall can work with, each with its `path`. */
  readonly warnings: readonly ConfigIssue[];
}

/** The settings of sections by their keys, as {@linkcode SettingsSection.parse} gave them. */
export type SectionValues = ReadonlyMap<string, unknown>;

/** Settings of a section by key; all are optional. */
type Entries = Readonly<Record<string, v.OptionalSchema<SettingSchema<unknown>, undefined>>>;

/** An unusual value of one key of a section. */
export interface SectionWarning {
  readonly key: string;
  readonly message: string;
}

/** What {@linkcode createSection} needs. */
export interface SectionOptions<E extends Entries, S> extends Pick<
  SettingsSection,
  "docs" | "key"
> {
  /** Made with `setting()`. */
  readonly entries: E;
  /** Makes settings of the values in the file; `undefined` means the default. */
  readonly toSettings: (written: v.InferOutput<v.ObjectSchema<E, undefined>>) => S;
  /** Warnings about settings that can be used but are not safe. @default {nothing} */
  readonly listWarnings?: (settings: S) => readonly SectionWarning[];
}

/** Creates a section from its keys. Empty ones count as not set: templates leave such keys behind. */
export function createSection<const E extends Entries, S>(
  options: SectionOptions<E, S>,
): SettingsSection<S> {
  const { key, docs, entries, toSettings, listWarnings = () => [] } = options;
  const schema = v.object(entries);
  const standard = toSettings(v.parse(schema, {}));
  const refuse = (issues: readonly ConfigIssue[]): ParsedSection<S> => {
    return { settings: standard, issues, warnings: [] };
  };
  return {
    key,
    docs,
    settings: describeBlock(entries, `${key}.`),
    standard,
    parse: (written) => {
      const raw = isEmpty(written) ? {} : written;
      if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
        return refuse([{ path: key, message: mustBeSetting(BLOCK, raw) }]);
      }
      const given = Object.entries(raw).filter(([, value]) => !isEmpty(value));
      const result = v.safeParse(schema, Object.fromEntries(given));
      if (!result.success) {
        const { issues } = result;
        return refuse(
          issues.map((issue) => ({
            path: `${key}.${v.getDotPath(issue) ?? ""}`,
            message: issue.message,
          })),
        );
      }
      const settings = toSettings(result.output);
      const warnings = listWarnings(settings).map((one) => ({
        path: `${key}.${one.key}`,
        message: one.message,
      }));
      return { settings, issues: [], warnings };
    },
  };
}

/** The settings of one section; without a value of it, those without a file. */
export function findSettings<S>(
  section: SettingsSection<S> | undefined,
  values: SectionValues = new Map(),
): S | undefined {
  if (section === undefined) return undefined;
  // What stands under a key is what the section of that key gave.
  return values.has(section.key) ? (values.get(section.key) as S) : section.standard;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
