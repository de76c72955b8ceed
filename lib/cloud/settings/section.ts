/**
 * A section of a settings file that does not belong to the provider: a block of keys under one name, such as
 * `deletion`.
 * @module
 */
import * as v from "valibot";
import type { ConfigIssue } from "../../core/errors.ts";
import { isFields } from "../../core/text/json.ts";
import { mustBeSetting } from "../../core/text/must_be.ts";
import type { SettingDescription } from "./syntax.ts";
import { BLOCK, describeBlock, dropEmpty, type SettingSchema } from "./schema.ts";

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
  /**
   * Whether nothing in it matters for Nodes. A cloud that reads its machines from the file goes on to do so while only
   * such a section is wrong.
   *
   * @default {false}
   */
  readonly isOnlyForServices?: boolean;
  /** The settings if the file does not have this section. */
  readonly standard: S;
  /** Reads the value of the key; `undefined` if the file does not have it. Never throws, and never repeats a secret. */
  parse(written: unknown): ParsedSection<S>;
  /** Says what these settings do not do while no controller that reads them runs, with its `path`. */
  findIdle?(settings: S): ConfigIssue | undefined;
}

/** The text of the reference page above the table of a section. */
interface SectionDocs {
  readonly title: string;
  /** Whole sentences, as Markdown, in lines that fit. */
  readonly text: string;
}

/** The result of reading a section. */
interface ParsedSection<S> {
  /** If there are issues, the settings for a file without the section. */
  readonly settings: S;
  /** What is wrong, each with its `path`. */
  readonly issues: readonly ConfigIssue[];
  /** Unusual values that Landfall can work with, each with its `path`. */
  readonly warnings: readonly ConfigIssue[];
}

/** The settings of sections by key, as {@linkcode SettingsSection.parse} returned them. */
export type SectionValues = ReadonlyMap<string, unknown>;

/** Settings of a section by key; all are optional. */
type Entries = Readonly<Record<string, v.OptionalSchema<SettingSchema<unknown>, undefined>>>;

/** Something to say about the value of a key of a section, or of one below it. */
export interface SectionWarning {
  readonly key: string;
  readonly message: string;
}

/** What {@linkcode createSection} needs. */
interface SectionOptions<E extends Entries, S> extends Pick<
  SettingsSection,
  "docs" | "isOnlyForServices" | "key"
> {
  /** Made with `setting()`. */
  readonly entries: E;
  /** Turns the values in the file into settings; `undefined` means the default. */
  readonly toSettings: (written: v.InferOutput<v.ObjectSchema<E, undefined>>) => S;
  /** The settings in each item of a key whose value is a list of blocks, by that key. @default {no key has any} */
  readonly items?: Readonly<Record<string, Parameters<typeof describeBlock>[0]>>;
  /**
   * Lists problems that one value alone does not have. Called with anything, also when there are other problems, so
   * that all of them are reported at once. @default {nothing}
   */
  readonly listIssues?: (written: Readonly<Record<string, unknown>>) => readonly SectionWarning[];
  /** Lists warnings about settings that work but are not safe. @default {nothing} */
  readonly listWarnings?: (settings: S) => readonly SectionWarning[];
  /** Says what settings do not do while no controller that reads them runs. @default {nothing} */
  readonly findIdle?: (settings: S) => SectionWarning | undefined;
}

/** Creates a section from its keys. A key without a value counts as not set, because templates produce such keys. */
export function createSection<const E extends Entries, S>(
  options: SectionOptions<E, S>,
): SettingsSection<S> {
  const { key, docs, entries, toSettings, items = {}, isOnlyForServices = false } = options;
  const { listIssues = () => [], listWarnings = () => [], findIdle = () => undefined } = options;
  const schema = v.object(entries);
  const standard = toSettings(v.parse(schema, {}));
  const refuse = (issues: readonly ConfigIssue[]): ParsedSection<S> => {
    return { settings: standard, issues, warnings: [] };
  };
  const place = (one: SectionWarning): ConfigIssue => ({
    path: `${key}.${one.key}`,
    message: one.message,
  });
  return {
    key,
    docs,
    isOnlyForServices,
    settings: [
      ...describeBlock(entries, `${key}.`),
      ...Object.entries(items).flatMap(([list, item]) => describeBlock(item, `${key}.${list}.`)),
    ],
    standard,
    findIdle: (settings) => {
      const found = findIdle(settings);
      return found && place(found);
    },
    parse: (written) => {
      const block = written === "" ? {} : dropEmpty(written ?? {}, 0);
      if (!isFields(block)) return refuse([{ path: key, message: mustBeSetting(BLOCK, block) }]);
      const given = Object.fromEntries(
        Object.entries(block).map(([name, value]) => [
          name,
          name in items ? withoutEmptyKeys(value) : value,
        ]),
      );
      const result = v.safeParse(schema, given);
      const issues = [...(result.issues ?? []).map(toWarning), ...listIssues(given)].map(place);
      if (!result.success || issues.length > 0) return refuse(issues);
      const settings = toSettings(result.output);
      return { settings, issues: [], warnings: listWarnings(settings).map(place) };
    },
  };
}

/** Returns the settings of one section, or its defaults if `values` does not have it. */
export function findSettings<S>(
  section: SettingsSection<S> | undefined,
  values: SectionValues = new Map(),
): S | undefined {
  if (section === undefined) return undefined;
  // The value under a key comes from `parse` of the section with that key.
  return values.has(section.key) ? (values.get(section.key) as S) : section.standard;
}

function toWarning(issue: v.BaseIssue<unknown>): SectionWarning {
  const isMissing = issue.kind === "schema" && issue.input === undefined;
  return { key: v.getDotPath(issue) ?? "", message: isMissing ? "required" : issue.message };
}

/** A list of blocks without their keys that have no value. */
function withoutEmptyKeys(list: unknown): unknown {
  return Array.isArray(list) ? list.map((item) => dropEmpty(item, 0)) : list;
}
