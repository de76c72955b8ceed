/**
 * The settings of a provider, and other sections: from a file and environment variables, with every problem reported
 * at once with its place.
 * @module
 */
import type { ConfigParser, Environment } from "../cloud/provider_definition.ts";
import {
  type FindPosition,
  type ParsedText,
  type SectionValues,
  type SettingDescription,
  type SettingsSection,
  type SettingSyntax,
  type SettingTree,
  toSettingTree,
} from "../cloud/settings/schema.ts";
import { readConfigText } from "./config_text.ts";
import { YAML_SYNTAX } from "./yaml_syntax.ts";
import { ConfigError, type ConfigIssue } from "../core/errors.ts";
import { findClosest } from "../core/text/edit_distance.ts";
import { isFields } from "../core/text/values.ts";
import { shorten } from "../core/text/printable.ts";

/** More than any file has. */
const LINES_MAX = Number.MAX_SAFE_INTEGER;

/** Where settings come from. */
export interface ProviderConfigOptions<S> {
  /** File of `--cloud-config`; without it only the environment is read. */
  readonly path?: string;
  readonly env: Environment;
  readonly definition: ConfigParser<S>;
  /** The sections that the file may have besides the provider's settings. */
  readonly sections: readonly SettingsSection[];
  /** Keys of sections whose problems do not count, for a caller that does not use them. @default {none} */
  readonly ignored?: readonly string[];
}

/** Valid settings, and warnings about them. */
export interface ProviderConfig<S> {
  readonly settings: S;
  /**
   * Settings of {@linkcode ProviderConfigOptions.sections}. They come only from the file, and are the same for every
   * provider.
   */
  readonly sections: SectionValues;
  readonly warnings: readonly ConfigIssue[];
  /** The syntax in which the file was read, if the provider has one of its own besides YAML. */
  readonly syntax?: string;
  /** Whether there is a file without any settings, perhaps with comments only. */
  readonly isEmpty: boolean;
  /**
   * Does work that uses the settings. Holds the text of the file: keep only what is needed after that.
   *
   * @throws {ConfigError} as the work does, with the place of each issue that has a path
   */
  use<T>(work: () => T): Promise<T>;
}

/** More are too many to read at once, and the place of each has to be looked up. */
const ISSUES_MAX = 50;

/**
 * Loads the settings of a provider, and sections. Any text may be a secret on the wrong line, so a message contains
 * no value except short numbers, durations, switches, IPv4 addresses and words that are nearly allowed ones.
 *
 * @throws {ConfigError} with every problem, and its line and column if it is in the file
 */
export async function loadProviderConfig<S>({
  path,
  env,
  definition,
  sections,
}: ProviderConfigOptions<S>): Promise<ProviderConfig<S>> {
  if (path === undefined || path === "") {
    const { sections: standard } = splitConfig(undefined, sections);
    return {
      ...toValid(definition.parseConfig(undefined, env)),
      sections: standard,
      isEmpty: false,
      use: async (work) => work(),
    };
  }
  const text = await readConfigText(path);
  return await parseProviderConfig(text, { path, env, definition, sections });
}

/**
 * The same for a text that has been read already.
 *
 * @throws {ConfigError} as {@linkcode loadProviderConfig}
 */
export async function parseProviderConfig<S>(
  text: string,
  {
    path,
    env,
    definition,
    sections: all,
    ignored = [],
  }: ProviderConfigOptions<S> & { readonly path: string },
): Promise<ProviderConfig<S>> {
  const syntax = chooseSyntax(text, definition);
  const known = [...definition.settings, ...all.flatMap(({ settings }) => settings)];
  const { raw, issues: broken, notes = [], locate, spell } = await syntax.parse(text, known);
  if (broken.length > 0) {
    throw new ConfigError(
      [...broken, ...notes].toSorted(byLine).map((issue) => ({ ...issue, source: path })),
    );
  }
  const refused = listRefused(raw, definition);
  const { rest, sections, ...common } = splitConfig(raw, all);
  const parsed = definition.parseConfig(rest, env);
  const unknown = listUnknownKeys(raw, known, spell);
  const own = withoutConsequences(parsed.issues, unknown);
  const [errors, odd] = [
    notes.filter((one) => !one.isWarning),
    notes.filter((one) => one.isWarning),
  ];
  const unread = [...ignored, ...refused.map((one) => one.path)];
  const counts = ({ path }: ConfigIssue): boolean =>
    !unread.some((key) => path === key || path?.startsWith(`${key}.`));
  const beside = [...common.issues, ...unknown].filter(counts);
  const issues = [...errors, ...own, ...refused, ...beside];
  const warnings = [...odd, ...parsed.warnings, ...common.warnings.filter(counts)];
  const find = issues.length + warnings.length > 0 ? await locate() : undefined;
  const place = (all: readonly ConfigIssue[]): ConfigIssue[] =>
    toFew(all, path)
      .map((issue) => toPlaced(issue, path, find, spell))
      .toSorted(byLine);
  return {
    ...toValid<S>({ ...parsed, issues: place(issues), warnings: place(warnings) }),
    sections,
    ...(definition.syntax && { syntax: syntax.name }),
    isEmpty: Object.keys(raw ?? {}).length === 0,
    use: async (work) => {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        const located = await locate();
        const placed = error.issues.map((issue) =>
          issue.source === undefined ? toPlaced(issue, path, located, spell) : issue,
        );
        throw new ConfigError(placed, { cause: error });
      }
    },
  };
}

/** What a file has and what has no meaning for its cloud. An empty setting is one that a template left behind. */
function listRefused(
  raw: unknown,
  { refusedSettings = {} }: Pick<ConfigParser<unknown>, "refusedSettings">,
): (ConfigIssue & { readonly path: string })[] {
  return Object.entries(refusedSettings).flatMap(([path, message]) => {
    const value = path
      .split(".")
      .reduce<unknown>((above, key) => (isFields(above) ? above[key] : undefined), raw);
    const isEmpty = value === undefined || value === null || value === "";
    return isEmpty ? [] : [{ path, message }];
  });
}

/** In the order of the file; what has no line comes last. */
function byLine(one: ConfigIssue, other: ConfigIssue): number {
  return (one.line ?? LINES_MAX) - (other.line ?? LINES_MAX);
}

/** Without the settings that are missing only because their keys are misspelt. */
function withoutConsequences(
  issues: readonly ConfigIssue[],
  unknown: readonly UnknownKey[],
): ConfigIssue[] {
  const meant = new Set(unknown.map((one) => one.meant));
  return issues.filter(({ solvedBy = [] }) => !solvedBy.some((path) => meant.has(path)));
}

/** The syntax of the provider, or YAML if the text is not in it. */
export function chooseSyntax(
  text: string,
  { syntax = YAML_SYNTAX }: Pick<ConfigParser<unknown>, "syntax">,
): SettingSyntax {
  return syntax.accepts?.(text) === false ? YAML_SYNTAX : syntax;
}

/** Lists the keys at the top of a text, in the syntax that a provider would read it in; none if it cannot be read. */
export async function listKeys(
  text: string,
  definition: Pick<ConfigParser<unknown>, "settings" | "syntax">,
): Promise<string[]> {
  const { raw } = await chooseSyntax(text, definition).parse(text, definition.settings);
  return isFields(raw) ? Object.keys(raw) : [];
}

/** Reads only the sections of a provider's file. Of the provider's own settings it checks only the keys. */
export function toSectionParser<P extends ConfigParser<unknown>>(definition: P): P {
  return { ...definition, parseConfig: () => ({ settings: {}, issues: [], warnings: [] }) };
}

function toFew(issues: readonly ConfigIssue[], source: string): readonly ConfigIssue[] {
  if (issues.length <= ISSUES_MAX) return issues;
  const more = { source, message: `and ${issues.length - ISSUES_MAX} more` };
  return [...issues.slice(0, ISSUES_MAX), more];
}

/** Says where an issue is: the file, and what its syntax knows of places. */
function toPlaced(
  found: ConfigIssue,
  source: string,
  find: FindPosition | undefined,
  spell: ParsedText["spell"],
): ConfigIssue {
  const { message, path, line, column } = found;
  if (found.source !== undefined) return { message, source: found.source };
  if (path === undefined || line !== undefined) {
    const place = { ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
    return { message, source, ...(path !== undefined && { path }), ...place };
  }
  const written = toShownPath(spell?.(path) ?? path);
  return { message, path: written, source, ...find?.(path) };
}

/** Longest name that is shown in whole, and shortest text that may be a secret. */
const NAME_CHARS_MAX = 64;
const SECRET_CHARS_MIN = 32;
/** Words with dashes between them, or each with a capital. No secret that a program made looks like this. */
const WORDS = /^[a-z]+(?:[-A-Z][a-z]+)+$/;

/**
 * A path as a message shows it. A colon without a blank after it makes the value, perhaps a secret, a part of an
 * unknown key. A long key may be a secret, too, unless it is made of words.
 */
function toShownPath(written: string): string {
  return written.replace(/:.*$/s, ":…").replaceAll(/[^./]{32,}/g, (part) => {
    const [, section = "", name = part] = /^(\[[\p{L}\p{N}-]{1,32}\] )?(.*)$/su.exec(part) ?? [];
    if (name.length < SECRET_CHARS_MIN) return part;
    return section + (WORDS.test(name) ? shorten(name, NAME_CHARS_MAX) : "…");
  });
}

/** @throws {ConfigError} with every problem. A warning often names the cause of one, so warnings are among them */
function toValid<S>(
  parsed: ReturnType<ConfigParser<S>["parseConfig"]>,
): Pick<ProviderConfig<S>, "settings" | "warnings"> {
  const { settings, warnings } = parsed;
  const issues = parsed.issues.map(({ solvedBy: _settings, ...issue }) => issue);
  if (issues.length > 0) {
    throw new ConfigError([...issues, ...warnings.map((one) => ({ ...one, isWarning: true }))]);
  }
  if (settings === undefined) throw new TypeError("Cannot use settings: there are none");
  return { settings, warnings };
}

/**
 * Removes sections from the content of a file, so that providers need not know them. A section that the file lacks, or
 * that is wrong there, has its standard settings. Never repeats what may be a secret.
 *
 * @param raw The file, parsed; `undefined` or `null` without one
 */
function splitConfig(
  raw: unknown,
  sections: readonly SettingsSection[],
): {
  readonly rest: unknown;
  readonly sections: SectionValues;
  readonly issues: readonly ConfigIssue[];
  readonly warnings: readonly ConfigIssue[];
} {
  const entries = isFields(raw) ? Object.entries(raw) : [];
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
  if (!isFields(block)) return [];
  const known = new Set(settings.map(({ path }) => path));
  return Object.entries(block).filter(([one]) => !known.has(`${key}.${one}`));
}

/** Aliases can repeat a list of keys so often that they would not fit into memory. */
const UNKNOWN_KEYS_MAX = 1_000;

/**
 * Finds unknown keys at any level, a thousand at most, and suggests what was probably meant. An empty key counts, too:
 * it may still be misspelt. Never repeats a value.
 *
 * @param raw The content of the file
 * @param settings All settings that a file may have
 * @param spell How the file writes the path of a setting. @default {as it is}
 */
export function listUnknownKeys(
  raw: unknown,
  settings: readonly SettingDescription[],
  spell?: (path: string) => string,
): UnknownKey[] {
  const paths = settings.map(({ path }) => path);
  const issues: UnknownKey[] = [];
  // Goes only as deep as settings do: an alias may make a file contain itself.
  const walk = (value: unknown, tree: SettingTree, above: string): void => {
    if (typeof value !== "object" || value === null || tree.size === 0) return;
    if (issues.length >= UNKNOWN_KEYS_MAX) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        if (!Array.isArray(item)) walk(item, tree, `${above}${index}.`);
      }
      return;
    }
    for (const [key, one] of Object.entries(value)) {
      if (issues.length >= UNKNOWN_KEYS_MAX) return;
      const branch = tree.get(key);
      if (branch) walk(one, branch.children, `${above}${key}.`);
      else {
        const level = { above, siblings: [...tree.keys()], spell };
        issues.push({ path: above + key, ...suggest(key, level, paths) });
      }
    }
  };
  if (!Array.isArray(raw)) walk(raw, toSettingTree(settings), "");
  return issues;
}

/** A key that no setting has. */
interface UnknownKey extends ConfigIssue {
  /** Path of the setting that was probably meant. */
  readonly meant?: string;
}

/** Where a key stands. */
interface Level {
  /** The text before the key in its path: `addresses.` */
  readonly above: string;
  /** The keys that would be known there. */
  readonly siblings: readonly string[];
  readonly spell: ((path: string) => string) | undefined;
}

/** The key may be misspelt, in the wrong block, or in the form of the documents: with dots. */
function suggest(
  key: string,
  { above, siblings, spell }: Level,
  paths: readonly string[],
): Pick<UnknownKey, "meant" | "message"> {
  if (key.includes(".") && paths.includes(key)) {
    const [block, ...rest] = key.split(".");
    const message = `unknown key; write it as a block: ${block}: { ${rest.join(".")}: … }`;
    return { message, meant: key };
  }
  const sibling = findClosest(key, siblings) ?? findSection(key, siblings);
  const meant = sibling ?? paths.find((path) => path.split(".").at(-1) === key);
  if (meant === undefined) return { message: "unknown key; correct or remove it" };
  const path = sibling === undefined ? meant : above + sibling;
  return { message: `unknown key; did you mean ${spell?.(path) ?? meant}?`, meant: path };
}

/** A section such as `[Addreses]`: without its brackets, and in any case. */
function findSection(key: string, siblings: readonly string[]): string | undefined {
  const name = /^\[(.+)\]$/s.exec(key)?.[1];
  if (name === undefined) return undefined;
  const known = new Map(siblings.map((one) => [one.toLowerCase(), one]));
  return known.get(findClosest(name.toLowerCase(), [...known.keys()]) ?? "");
}
