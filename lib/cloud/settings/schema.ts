/**
 * Schemas of settings that contain their own description, so that checks, documents and the chart use one table.
 * @module
 */
import * as v from "valibot";
import { assert } from "../../core/assert.ts";
import { describeDurationRange, parseDurationWithin } from "../../core/text/duration.ts";
import type { SettingDescription } from "../provider_definition.ts";
import { toSettingForm } from "./form.ts";

/** What the documents say about a setting. */
export type SettingNotes = Omit<SettingDescription, "form" | "path">;

/** A schema of which only the output is known. */
export type SettingSchema<T> = v.GenericSchema<unknown, T>;

/** A required setting. One with a default is such a schema in `v.optional()`. */
export function required<T>(
  schema: SettingSchema<T>,
  { description, ...notes }: SettingNotes,
): SettingSchema<T> {
  return v.pipe(schema, v.description(description), v.metadata(notes));
}

/** An optional setting. */
export function setting<T>(
  schema: SettingSchema<T>,
  notes: SettingNotes,
): v.OptionalSchema<SettingSchema<T>, undefined> {
  return v.optional(required(schema, notes));
}

/**
 * Text that a function turns into a value; `undefined` from it is an issue. Messages never repeat the text: it may be a
 * secret on the wrong line.
 *
 * @param problem What is wrong, or a function that says it about such a text
 */
export function parsed<T>(
  parse: (text: string) => T | undefined,
  problem: string | ((text: string) => string | undefined),
): SettingSchema<T> {
  // A message with "wanted" also fits a value that is not text: to ask only for quotes would lead to the next problem.
  const whole = typeof problem === "string" ? problem : NO_TEXT;
  return v.pipe(
    v.string(whole),
    v.rawTransform(({ dataset, addIssue, NEVER }): T => {
      const value = parse(dataset.value);
      if (value !== undefined) return value;
      const message = typeof problem === "string" ? problem : problem(dataset.value);
      addIssue({ message: message ?? "cannot be used" });
      return NEVER;
    }),
  );
}

/** The problem with a value that is not text. */
export const NO_TEXT = "wanted text, in quotes if it looks like a number";

/** A duration with its unit, in milliseconds; both ends are allowed. @param example As an operator would write it */
export function duration(minMs: number, maxMs: number, example: string): SettingSchema<number> {
  return parsed(
    (text) => parseDurationWithin(text, minMs, maxMs),
    describeDurationRange(minMs, maxMs, example),
  );
}

/** A switch. */
export function trueOrFalse(): SettingSchema<boolean> {
  return v.boolean("wanted true or false");
}

/** A whole number; both ends are allowed. */
export function wholeNumber(min: number, max: number): SettingSchema<number> {
  const problem = `wanted a whole number from ${min} to ${max}, not in quotes`;
  return v.pipe(
    v.number(problem),
    v.integer(problem),
    v.minValue(min, problem),
    v.maxValue(max, problem),
  );
}

/** A number; both ends are allowed. @param example As an operator would write it, and what it means */
export function numberWithin(min: number, max: number, example: string): SettingSchema<number> {
  const problem = `wanted a number from ${min} to ${max}, not in quotes, such as ${example}`;
  return v.pipe(v.number(problem), v.minValue(min, problem), v.maxValue(max, problem));
}

/** A schema in a block; that of an optional setting is wrapped. */
type Entry = SettingSchema<unknown> & { readonly wrapped?: SettingSchema<unknown> };

/**
 * The settings of a block, in its order. A setting without notes is a bug.
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
