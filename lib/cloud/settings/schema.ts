/**
 * Schemas of settings that carry their own description, so that checks, documents and the chart follow one table.
 * @module
 */
import * as v from "valibot";
import { assert } from "../../core/assert.ts";
import { describeDurationRange, parseDurationWithin } from "../../core/text/duration.ts";
import type { SettingDescription } from "../provider_definition.ts";
import { toSettingForm } from "./form.ts";

/** What the documents say of a setting. */
export type SettingNotes = Omit<SettingDescription, "form" | "path">;

/** A schema of which nothing is known but what comes out. */
export type SettingSchema<T> = v.GenericSchema<unknown, T>;

/** A setting that must be there. One with a default is such a schema in `v.optional()`. */
export function required<T>(
  schema: SettingSchema<T>,
  { description, ...notes }: SettingNotes,
): SettingSchema<T> {
  return v.pipe(schema, v.description(description), v.metadata(notes));
}

/** A setting that may be left out. */
export function setting<T>(
  schema: SettingSchema<T>,
  notes: SettingNotes,
): v.OptionalSchema<SettingSchema<T>, undefined> {
  return v.optional(required(schema, notes));
}

/**
 * Text that a function turns into a value; `undefined` from it is an issue. Messages never repeat what was written: it
 * may be a secret on the wrong line.
 *
 * @param problem What is wrong, or what says it of such a text
 */
export function parsed<T>(
  parse: (text: string) => T | undefined,
  problem: string | ((text: string) => string | undefined),
): SettingSchema<T> {
  // A message that says what is wanted says it of what is no text, too: quotes alone would lead to the next problem.
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

/** What is wrong with a value that is no text. */
export const NO_TEXT = "wanted text, in quotes if it looks like a number";

/** A duration with its unit, in milliseconds; both ends are allowed. @param example As people would write one */
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

/** A number; both ends are allowed. @param example As people would write one, and what it means */
export function numberWithin(min: number, max: number, example: string): SettingSchema<number> {
  const problem = `wanted a number from ${min} to ${max}, not in quotes, such as ${example}`;
  return v.pipe(v.number(problem), v.minValue(min, problem), v.maxValue(max, problem));
}

/** A schema as it stands in a block; that of an optional setting is wrapped. */
type Entry = SettingSchema<unknown> & { readonly wrapped?: SettingSchema<unknown> };

/**
 * The settings of a block, in its order. One without notes is a bug.
 *
 * @param above What stands before each key: `addresses.`
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
