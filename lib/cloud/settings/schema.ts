/**
 * What a settings file may say: the schema of each setting with its own description, so that validation, documents and
 * chart use one table; the sections that do not belong to a provider; and what a syntax of such files gives.
 * @module
 */
import * as v from "valibot";
import { assert, type ConfigIssue } from "../../core/errors.ts";
import { type Cidr, parseCidr } from "../../core/net/ip.ts";
import { suggest } from "../../core/text/edit_distance.ts";
import {
  describeDurationRange,
  isFields,
  mustBe,
  mustBeOneOf,
  mustBeQuoted,
  mustBeSetting,
  nameChoices,
  parseDurationWithin,
} from "../../core/text/values.ts";
import { isLabelKey, isLabelValue, LABEL_VALUE_FORM } from "../../core/text/label.ts";

/** A place in a text; both numbers begin with 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds the position of a setting such as `addresses.exclude.0`, or of the innermost part of its path that exists. */
export type FindPosition = (path: string) => Position | undefined;

/** The content of a text. */
export interface ParsedText {
  /**
   * Settings by key, with nested blocks and lists; `undefined` for an empty text. Do not use it if there are issues.
   */
  readonly raw: unknown;
  /** Syntax errors with their positions. They never repeat the content, because it may be a secret. */
  readonly issues: readonly ConfigIssue[];
  /** What to report besides, with positions: unlike `issues`, they do not keep Landfall from reading the rest. */
  readonly notes?: readonly ConfigIssue[];
  /** Prepares a search for positions. May cost time and memory: call it only to report a problem. */
  locate(): Promise<FindPosition>;
  /** How this text writes the path of a setting. @default {as it is} */
  readonly spell?: ((path: string) => string) | undefined;
}

/** A syntax of settings files. */
export interface SettingSyntax {
  /** Its name for operators: `YAML`. */
  readonly name: string;
  /** Whether a text is in this syntax; a text that is not is YAML. @default {any text is} */
  accepts?(text: string): boolean;
  /**
   * Reads any text. Never rejects.
   *
   * @param settings All that the file may have: a syntax without types needs their forms. @default {none}
   */
  parse(text: string, settings?: readonly SettingDescription[]): Promise<ParsedText>;
}

/** One setting: for the reference page, for the chart, and to find unknown keys. */
export interface SettingDescription {
  /** Key in the file, nested ones with dots: `addresses.exclude`; those of list items without an index. */
  readonly path: string;
  /** Form of its value. An `array` is of texts, or of blocks if keys stand below it; an `object` has free keys. */
  readonly form: SettingForm;
  /** The values that it accepts, in words for operators: `duration`, `list of CIDRs`. */
  readonly type: string;
  /** What it does, in whole sentences. */
  readonly description: string;
  /** Its default, as an operator would write it. Absent: nothing. */
  readonly default?: string;
  /** Environment variable that is read when the file does not set it. */
  readonly variable?: string;
}

/** The form of a setting's value, as JSON Schema names it. */
export type SettingForm = "array" | "boolean" | "number" | "object" | "string";

/** What the documents say about a setting. */
type SettingNotes = Omit<SettingDescription, "form" | "path">;

/** A schema with a known output type. */
export type SettingSchema<T> = v.GenericSchema<unknown, T>;

/** Creates a required setting. For a setting with a default, wrap it in `v.optional()`. */
export function required<T>(
  schema: SettingSchema<T>,
  { description, ...notes }: SettingNotes,
): SettingSchema<T> {
  return v.pipe(schema, v.description(description), v.metadata(notes));
}

/** Creates an optional setting. */
export function setting<T>(
  schema: SettingSchema<T>,
  notes: SettingNotes,
): v.OptionalSchema<SettingSchema<T>, undefined> {
  return v.optional(required(schema, notes));
}

/** Describes the value of a setting that has keys of its own. */
export const BLOCK = "a block of settings (key: value)";

/** A message for valibot. */
type SettingMessage = (issue: { readonly input: unknown }) => string;

/** Creates the message for a value that a schema refuses. @param what The accepted values: `true or false` */
export function need(what: string): SettingMessage {
  return ({ input }) => mustBeSetting(what, input);
}

/** The message for a value that is not text. */
export const needText: SettingMessage = ({ input }) => mustBeQuoted(input);

/**
 * Creates the schema of a text that `parse` turns into a value. If `parse` returns `undefined`, that is an issue.
 *
 * @param what The accepted values, or a function that says what is wrong with a text. That function must not repeat the
 * text, which may be a secret on the wrong line
 */
export function parsed<T>(
  parse: (text: string) => T | undefined,
  what: string | ((text: string) => string | undefined),
): SettingSchema<T> {
  // For a value that is not text, "write it in quotes" may only lead to the next problem.
  return v.pipe(
    v.string(typeof what === "string" ? need(what) : needText),
    v.rawTransform(({ dataset, addIssue, NEVER }): T => {
      const { value } = dataset;
      const result = parse(value);
      if (result !== undefined) return result;
      const message = typeof what === "string" ? mustBeSetting(what, value) : what(value);
      addIssue({ message: message ?? "cannot be used" });
      return NEVER;
    }),
  );
}

/** Schema of a duration with unit, in milliseconds; both limits are allowed. @param example As an operator writes it */
export function duration(minMs: number, maxMs: number, example: string): SettingSchema<number> {
  return parsed(
    (text) => parseDurationWithin(text, minMs, maxMs),
    describeDurationRange(minMs, maxMs, example),
  );
}

/** Schema of a boolean. */
export function trueOrFalse(): SettingSchema<boolean> {
  return v.boolean(need("true or false"));
}

/** Schema of a whole number; both limits are allowed. */
export function wholeNumber(min: number, max: number): SettingSchema<number> {
  const problem = need(`a whole number from ${min} to ${max}, without quotes`);
  return v.pipe(
    v.number(problem),
    v.integer(problem),
    v.minValue(min, problem),
    v.maxValue(max, problem),
  );
}

/** Schema of a number; both limits are allowed. @param example As an operator writes it, and what it means */
export function numberWithin(min: number, max: number, example: string): SettingSchema<number> {
  const problem = need(`a number from ${min} to ${max}, without quotes, for example ${example}`);
  return v.pipe(v.number(problem), v.minValue(min, problem), v.maxValue(max, problem));
}

/**
 * Schema of a list.
 *
 * @param example As an operator writes it
 * @param size How many items it may have. @default {itemsMin: 0}. More are refused before any is looked at: aliases can
 * make a short file very long
 */
export function listOf<T>(
  item: SettingSchema<T>,
  example: string,
  { itemsMin = 0, itemsMax }: { readonly itemsMin?: number; readonly itemsMax: number },
): SettingSchema<T[]> {
  const list = v.array(v.unknown(), need(`a list, for example ${example}`));
  const few = v.maxLength<unknown[], number, string>(itemsMax, `must have at most ${itemsMax}`);
  const some = v.minLength<unknown[], number, string>(itemsMin, "must not be an empty list");
  return v.pipe(list, few, some, v.array(item));
}

/** Schema of a block in a list. @param what The block, for messages: `a pool (name, addresses, …)` */
export function block<const E extends v.ObjectEntries>(
  entries: E,
  what: string,
): SettingSchema<v.InferOutput<v.ObjectSchema<E, undefined>>> {
  return v.object(entries, need(what));
}

/** Schema of one of a few words. A word that is nearly one of them is no secret, and is shown. */
export function oneOf<const T extends string>(words: readonly T[]): SettingSchema<T> {
  return v.picklist(words, ({ input }) =>
    typeof input === "string" && suggest(input, words) !== ""
      ? mustBeOneOf(words, input)
      : mustBeSetting(nameChoices(words), input),
  );
}

/** Schema of labels that an object must have. */
export function labels(): SettingSchema<Record<string, string>> {
  const problem = need("labels (key: value)");
  return v.pipe(
    v.record(
      v.pipe(v.string(), v.check(isLabelKey, "must be a label key that Kubernetes accepts")),
      v.pipe(v.string(needText), v.check(isLabelValue, need(LABEL_VALUE_FORM))),
      problem,
    ),
    v.check((found) => Object.keys(found).length > 0, "must not be empty"),
  );
}

/** Schema of a list of addresses and networks. */
export function cidrs(): SettingSchema<Cidr[]> {
  return v.array(
    parsed(parseCidr, "an IP address or a CIDR, for example 10.0.0.0/8"),
    need("a list, for example [10.0.0.0/8]"),
  );
}

/**
 * Schema of a certificate's SHA-256 fingerprint as tools show it; the result is 64 hexadecimal digits in lower case.
 */
export function fingerprint(): SettingSchema<string> {
  return parsed(
    parseFingerprint,
    "a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons",
  );
}

function parseFingerprint(text: string): string | undefined {
  const hex = text
    .trim()
    .replace(/^sha-?256( fingerprint)?[:=]/i, "")
    .replaceAll(":", "")
    .toLowerCase();
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined;
}

/** A schema in a block. An optional setting wraps its schema. */
type Entry = SettingSchema<unknown> & { readonly wrapped?: SettingSchema<unknown> };

/**
 * Lists the settings of a block, in its order. A setting without notes is a bug.
 *
 * @param above The text before each key: `addresses.`
 */
export function describeBlock(
  entries: Readonly<Record<string, Entry>>,
  above: string = "",
): SettingDescription[] {
  return Object.entries(entries).map(([key, entry]) => {
    const schema = entry.wrapped ?? entry;
    const description = v.getDescription(schema);
    const { type, default: standard, variable } = v.getMetadata(schema);
    assert(description !== undefined, `the setting ${above}${key} has no notes`);
    return {
      path: above + key,
      form: toSettingForm(schema.type),
      type: String(type),
      description,
      ...(standard === undefined ? {} : { default: String(standard) }),
      ...(variable === undefined ? {} : { variable: String(variable) }),
    };
  });
}

const FORMS: Readonly<Record<string, SettingForm>> = {
  array: "array",
  boolean: "boolean",
  number: "number",
  picklist: "string",
  record: "object",
  string: "string",
};

/** Returns the form for a kind of valibot schema. An unknown kind is a bug. */
function toSettingForm(kind: string): SettingForm {
  const form = FORMS[kind];
  assert(form !== undefined, `no setting can have the form of ${kind}`);
  return form;
}

/** A key, and the keys below it. */
export interface SettingBranch {
  /** Absent for a block without a row of its own, such as `deletion`. */
  readonly setting?: SettingDescription;
  /** Keys of the block, or of each item of the list; empty for a single value and for a map of free keys. */
  readonly children: SettingTree;
}

/** Branches by key, in the order of the table. */
export type SettingTree = ReadonlyMap<string, SettingBranch>;

/** Builds the tree of all settings: `deletion.enabled` becomes `enabled` below `deletion`. */
export function toSettingTree(settings: readonly SettingDescription[]): SettingTree {
  const root: MutableTree = new Map();
  for (const setting of settings) {
    let level = root;
    let branch: MutableBranch | undefined;
    for (const key of setting.path.split(".")) {
      branch = level.get(key) ?? { children: new Map() };
      level.set(key, branch);
      level = branch.children;
    }
    if (branch) branch.setting = setting;
  }
  return root;
}

type MutableTree = Map<string, MutableBranch>;

interface MutableBranch {
  setting?: SettingDescription;
  readonly children: MutableTree;
}

/** What is wrong with a value, and where. */
export interface ShapeIssue {
  readonly path: string;
  readonly message: string;
}

/** The settings of a file: there if there are no issues, and only then. */
interface ParsedShape<S> {
  readonly settings?: S;
  readonly issues: ShapeIssue[];
}

/**
 * Checks everything that a file says.
 *
 * @param raw An object without nulls, see {@linkcode dropEmpty}
 * @param blocks Keys at the top whose value is a block. To valibot a list is an object without keys, so a list there
 * would do nothing and be no error
 */
export function parseShape<S>(
  schema: SettingSchema<S>,
  raw: unknown,
  blocks: readonly string[],
): ParsedShape<S> {
  const entries = isFields(raw) ? Object.entries(raw) : [];
  const lists = entries.filter(([key, value]) => blocks.includes(key) && Array.isArray(value));
  const result = v.safeParse(schema, raw);
  if (result.success && lists.length === 0) return { settings: result.output, issues: [] };
  const issues = (result.issues ?? []).map((issue) => ({
    path: v.getDotPath(issue) ?? "",
    message: issue.message,
  }));
  const message = mustBe(BLOCK, "a list");
  return { issues: [...lists.map(([path]) => ({ path, message })), ...issues] };
}

/**
 * A copy without empty keys: they count as not set, because templates leave such keys behind.
 *
 * @param depth How many levels below the first are settings. Deeper ones are wrong, and an alias may contain itself
 */
export function dropEmpty(value: unknown, depth: number): unknown {
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== null && one !== "");
  if (depth === 0) return Object.fromEntries(kept);
  return Object.fromEntries(kept.map(([key, one]) => [key, dropEmpty(one, depth - 1)]));
}

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
