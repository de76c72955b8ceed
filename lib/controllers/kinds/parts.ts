/**
 * What the schemas of our kinds are put together from. Each part carries what the CRD says about it: valibot's
 * metadata becomes keys of the OpenAPI schema.
 * @module
 */
import * as v from "valibot";
import type { Condition } from "./conditions.ts";
import type { SpecProblem } from "./problems.ts";
import { isLabelKey } from "../../core/text/label.ts";
import { mustBe } from "../../core/text/values.ts";
import type { KubeObject } from "../../kube/kinds/resource.ts";

/** A schema that accepts and returns a type. */
export type Schema<T> = v.GenericSchema<T>;

type Optional<T> = v.ExactOptionalSchema<Schema<T>, undefined>;

/** One schema for each field of a type: with {@linkcode optional} for those that may be absent, and only for those. */
type Fields<T> = {
  readonly [Key in keyof T]-?: Record<never, never> extends Pick<T, Key>
    ? Optional<Exclude<T[Key], undefined>>
    : Schema<T[Key]>;
};

/** A rule that types cannot state. */
export interface Rule<T> {
  /** In CEL, for the CRD. Its estimated cost must be bounded: every list and map in it has a largest size. */
  readonly cel: string;
  /** What must be, for people; no full stop. */
  readonly message: string;
  /** The same as {@linkcode cel}. */
  holds(value: T): boolean;
  /** Which parts break it, after the message; no full stop. @default {the path says enough} */
  explain?(value: T): string;
}

/** Creates the schema of an object with exactly the fields of a type. */
export function object<T>(fields: Fields<T>): Schema<T>;
/** The same for the compiler, which cannot see that such fields give that type. */
export function object(fields: v.ObjectEntries): Schema<unknown> {
  return v.object(fields);
}

/** A field that must be there. */
export function required<T>(schema: Schema<T>, description: string): Schema<T> {
  return v.pipe(schema, v.description(description));
}

/** A field that may be absent. @param fallback What the API server sets then. @default {nothing} */
export function optional<T>(schema: Schema<T>, description: string, fallback?: T): Optional<T> {
  const described = required(schema, description);
  return v.exactOptional(
    fallback === undefined ? described : v.pipe(described, v.metadata({ default: fallback })),
  );
}

/** Adds rules. A schema has them from one call. */
export function withRules<T>(schema: Schema<T>, rules: readonly Rule<T>[]): Schema<T> {
  const written = rules.map(({ cel, message }) => ({ rule: cel, message }));
  return v.pipe(
    schema,
    v.metadata<T, Record<string, unknown>>({ "x-kubernetes-validations": written }),
    v.rawCheck<T>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const { value } = dataset;
      for (const rule of rules.filter(({ holds }) => !holds(value))) {
        const which = rule.explain?.(value);
        addIssue({ message: which === undefined ? rule.message : `${rule.message}: ${which}` });
      }
    }),
  );
}

/** A whole number; both limits are allowed. */
export function wholeNumber(min: number, max: number): Schema<number> {
  const message = ({ input }: { readonly input: unknown }): string =>
    mustBe(`a whole number from ${min} to ${max}`, JSON.stringify(input));
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(min, message),
    v.maxValue(max, message),
    v.metadata({ format: "int32" }),
  );
}

/** A switch. */
export function trueOrFalse(): Schema<boolean> {
  return v.boolean("must be true or false");
}

/** A text of at most so many characters. */
export function text(maxLength: number): Schema<string> {
  return v.pipe(
    v.string("must be text"),
    v.maxLength(maxLength, `must have at most ${maxLength} characters`),
  );
}

/** A text of a form. @param what What it must be: `a label key` */
export function form(pattern: RegExp, maxLength: number, what: string): Schema<string> {
  return v.pipe(
    text(maxLength),
    v.regex(pattern, ({ input }) => mustBe(what, JSON.stringify(input.slice(0, 80)))),
  );
}

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Schema<Word> {
  return v.picklist(words, `must be one of ${words.join(", ")}`);
}

/** A list of at most so many items. */
export function list<T>(item: Schema<T>, maxItems: number): Schema<readonly T[]> {
  return v.pipe(
    v.array(item, "must be a list"),
    v.maxLength(maxItems, `must have at most ${maxItems} items`),
  );
}

/** A list in which no text occurs twice. */
export function textSet(item: Schema<string>, maxItems: number): Schema<readonly string[]> {
  return v.pipe(
    list(item, maxItems),
    v.metadata({ "x-kubernetes-list-type": "set" }),
    v.check((items) => new Set(items).size === items.length, "must not name anything twice"),
  );
}

/** A list in which no two items have the same text in a field that each has. Old API servers know this, too. */
export function listBy<Key extends string, T extends Readonly<Record<Key, string>>>(
  key: Key,
  item: Schema<T>,
  maxItems: number,
): Schema<readonly T[]> {
  return v.pipe(
    list(item, maxItems),
    v.metadata({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key] }),
    v.check(
      (items) => new Set(items.map((one) => one[key])).size === items.length,
      `must not have the same ${key} twice`,
    ),
  );
}

/** Any fields with any values, which nothing reads. */
export function anyFields(maxEntries: number): Schema<Readonly<Record<string, unknown>>> {
  return v.pipe(
    v.record(v.string(), v.unknown(), "must be a map"),
    v.maxEntries(maxEntries, `must have at most ${maxEntries} keys`),
  );
}

/** Values by key, at most so many. */
export function mapOf<T>(value: Schema<T>, maxEntries: number): Schema<Record<string, T>> {
  return v.pipe(
    v.record(v.string(), value, "must be a map"),
    v.maxEntries(maxEntries, `must have at most ${maxEntries} keys`),
  );
}

const NAME = String.raw`[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`;
const PREFIX = String.raw`[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`;
const KEY = `(${PREFIX}/)?${NAME}`;
const KEY_LENGTH_MAX = 253 + 1 + 63;

/** The key of a label. */
export function labelKey(): Schema<string> {
  return form(new RegExp(`^${KEY}$`), KEY_LENGTH_MAX, "a label key");
}

/** The key of a label, or empty. */
export function labelKeyOrEmpty(): Schema<string> {
  return form(new RegExp(`^(${KEY})?$`), KEY_LENGTH_MAX, "a label key or empty");
}

/** The value of a label. */
export function labelValue(): Schema<string> {
  return form(new RegExp(`^(${NAME})?$`), 63, "a label value");
}

/**
 * Labels. No rule in CEL checks their keys: the length of a map's keys has no limit there, so an API server would
 * expect the check to be too expensive, and refuse the CRD.
 */
export function labels(): Schema<Record<string, string>> {
  return v.pipe(
    mapOf(labelValue(), 64),
    v.check((map) => Object.keys(map).every(isLabelKey), "must have label keys as its keys"),
  );
}

/** The name of an object in the same namespace. */
export function objectName(): Schema<string> {
  return form(new RegExp(`^${PREFIX}$`), 253, "the name of an object");
}

/** A text without a limit: only we write it. */
export const STATUS_TEXT: Schema<string> = v.string();
/** A whole number without a limit. */
export const STATUS_NUMBER: Schema<number> = v.pipe(
  v.number(),
  v.integer(),
  v.metadata({ format: "int64" }),
);

/** A time, as RFC 3339 in UTC. */
export const STATUS_TIME: Schema<string> = v.pipe(STATUS_TEXT, v.metadata({ format: "date-time" }));

/** The list of conditions, by their types. @param types Names of the types, for people: `Ready or Scheduled` */
export function conditions(types: string): Schema<readonly Condition[]> {
  const condition = object<Condition>({
    type: required(STATUS_TEXT, `${types}.`),
    status: required(oneOf(["True", "False", "Unknown"]), "Whether the condition holds."),
    reason: required(STATUS_TEXT, "Why, in one word."),
    message: required(STATUS_TEXT, "Why, in a sentence."),
    lastTransitionTime: required(STATUS_TIME, "When the status of the condition last changed."),
    observedGeneration: optional(
      STATUS_NUMBER,
      "The generation of the spec that the condition is about.",
    ),
  });
  return v.pipe(
    list(condition, 16),
    v.metadata({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  );
}

/** A spec, or what is wrong with it. */
export type Checked<Spec> =
  | { readonly isValid: true; readonly spec: Spec }
  | { readonly isValid: false; readonly problems: readonly SpecProblem[] };

/** Checks a spec. Fields that the schema does not have are left out, as an API server does. */
export function checkBySchema<Spec>(schema: Schema<Spec>, spec: unknown): Checked<Spec> {
  const result = v.safeParse(schema, spec);
  if (result.success) return { isValid: true, spec: result.output };
  const problems = result.issues.map((issue) => ({
    path: toPath(issue.path),
    message: toMessage(issue),
  }));
  return { isValid: false, problems };
}

/** Kubernetes allows longer names of objects, but not of labels' values. */
const NAME_LENGTH_MAX = 63;
const NAME_TOO_LONG: string =
  `must have at most ${NAME_LENGTH_MAX} characters, because hosts get it as the value of a ` +
  "label";
/** The same for the API server. One that an older version stored has a status: it can still be deleted. */
export const NAME_RULE: { readonly rule: string; readonly message: string } = {
  rule: `size(self.metadata.name) <= ${NAME_LENGTH_MAX} || has(self.status)`,
  message: `metadata.name ${NAME_TOO_LONG}`,
};

/** Checks the spec of an object, and its name, which becomes the value of a label on its hosts. */
export function checkNamed<Spec>(
  schema: Schema<Spec>,
  { metadata: { name }, spec }: KubeObject & { readonly spec?: unknown },
): Checked<Spec> {
  const checked = checkBySchema(schema, spec);
  if (name.length <= NAME_LENGTH_MAX) return checked;
  const problems = checked.isValid ? [] : checked.problems;
  return {
    isValid: false,
    problems: [{ path: "metadata.name", message: NAME_TOO_LONG }, ...problems],
  };
}

function toPath(path: readonly { readonly key: unknown }[] = []): string {
  const keys = path.map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return `spec${keys.join("")}`;
}

function toMessage({ type, kind, received, message }: v.BaseIssue<unknown>): string {
  if (kind !== "schema") return message;
  if (received === "undefined") return "must be set";
  return type === "object" ? "must be a map" : message;
}
