/**
 * Checks what a file says against the schema of its settings, with the path of every problem.
 * @module
 */
import * as v from "valibot";
import { mustBe } from "../../core/text/must_be.ts";
import { BLOCK, type SettingSchema } from "./schema.ts";

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
  const entries = typeof raw === "object" && raw !== null ? Object.entries(raw) : [];
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
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== null && one !== "");
  if (depth === 0) return Object.fromEntries(kept);
  return Object.fromEntries(kept.map(([key, one]) => [key, dropEmpty(one, depth - 1)]));
}
