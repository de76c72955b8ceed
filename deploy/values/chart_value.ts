/**
 * Defines a value of the Helm chart, and generates files from all values.
 * @module
 */
import { toTable } from "../../docs/generator/markdown.ts";
import { type Comments, toComment, toYaml } from "../yaml.ts";

/** A part of a JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** One value. */
export interface ChartValue {
  readonly help: string;
  readonly default: unknown;
  readonly schema: Schema;
}

/** Values under one key. */
export interface ChartGroup {
  readonly help: string;
  readonly values: ChartValues;
}

/** Values by key, in the order of values.yaml. */
export type ChartValues = Readonly<Record<string, ChartValue | ChartGroup>>;

/** Writes values.yaml: each value with its description and its default. */
export function renderValues(head: string, values: ChartValues): string {
  const text = toYaml(toDefaults(values), toComments(values));
  // An empty line before each value with a comment.
  return `${toComment(head)}\n${text.replaceAll(/^(?=# )(?<!^# .*\n)/gm, "\n").trimStart()}`;
}

/**
 * Writes values.schema.json, which refuses unknown keys and values of a wrong type.
 *
 * @param rules Further rules, for values that depend on each other
 */
export function renderSchema(values: ChartValues, rules: readonly Schema[]): string {
  const { additionalProperties, ...root } = toGroupSchema({ help: "", values });
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the Helm chart of Landfall",
    ...root,
    properties: {
      ...toProperties(values),
      // Helm adds this key when the chart is a dependency of another chart.
      global: { type: "object" },
    },
    additionalProperties,
    allOf: rules,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** Writes the table of values for the README. */
export function renderValueTable(values: ChartValues): string {
  return toTable(["value", "default", "description"], toRows(values, ""));
}

function toDefaults(values: ChartValues): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).map(([key, one]) => [
      key,
      "values" in one ? toDefaults(one.values) : one.default,
    ]),
  );
}

function toComments(values: ChartValues, above = ""): Comments {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, one]) => [
      [`${above}${key}`, one.help],
      ...("values" in one ? Object.entries(toComments(one.values, `${above}${key}.`)) : []),
    ]),
  );
}

function toProperties(values: ChartValues): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(values).map(([key, one]) => [
      key,
      "values" in one
        ? { description: toLine(one.help), ...toGroupSchema(one) }
        : { description: toLine(one.help), ...one.schema },
    ]),
  );
}

function toGroupSchema({ values }: ChartGroup): Schema {
  return { type: "object", properties: toProperties(values), additionalProperties: false };
}

function toRows(values: ChartValues, above: string): string[][] {
  return Object.entries(values).flatMap(([key, one]) =>
    "values" in one
      ? toRows(one.values, `${above}${key}.`)
      : [[`\`${above}${key}\``, `\`${toShort(one.default)}\``, toLine(one.help)]],
  );
}

function toShort(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > SHORT ? "see values.yaml" : text;
}

const SHORT = 48;

function toLine(text: string): string {
  return text.replaceAll("\n", " ");
}
