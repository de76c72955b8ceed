/**
 * Schemas of settings that contain their own description, so that validation, docs and chart use one table.
 * @module
 */
import * as v from "valibot";
import { type SettingDescription, toSettingForm } from "./syntax.ts";
import { assert } from "../../core/errors.ts";
import { type Cidr, parseCidr } from "../../core/net/ip.ts";
import { describeDurationRange, parseDurationWithin } from "../../core/text/duration.ts";
import { isFields } from "../../core/text/json.ts";
import { isLabelKey, isLabelValue, LABEL_VALUE_FORM } from "../../core/text/label.ts";
import { mustBe, mustBeQuoted, mustBeSetting } from "../../core/text/must_be.ts";

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

/** Schema of one of a few words. */
export function oneOf<const T extends string>(words: readonly T[]): SettingSchema<T> {
  return v.picklist(words, need(words.join(" or ")));
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

/** What is wrong with a value, and where. */
export interface ShapeIssue {
  readonly path: string;
  readonly message: string;
}

/** The settings of a file: there if there are no issues, and only then. */
export interface ParsedShape<S> {
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
