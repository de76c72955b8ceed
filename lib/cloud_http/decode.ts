/**
 * Decodes the objects of a reply, each separately, so that one unreadable object does not hide the others.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import type { Counter, MetricsRegistry } from "../core/metrics.ts";
import { mustBe, parseUuid } from "../core/text/values.ts";
import { shorten } from "../core/text/printable.ts";

/** A list; Landfall decoded each object separately. */
export interface ListReply<T> {
  readonly objects: readonly T[];
  /** Objects that Landfall could not read: the problem by ID (without an ID: `#` and the position in the list). */
  readonly undecodable: ReadonlyMap<string, string>;
}

/**
 * Decodes one object.
 *
 * @returns The object, or its problem in words
 */
export function decode<T>(
  schema: v.GenericSchema<unknown, T>,
  body: unknown,
): { value: T } | { problem: string } {
  const result = v.safeParse(schema, body);
  if (result.success) return { value: result.output };
  // The first problem is enough. The message does not contain the value.
  const [issue] = result.issues;
  const path = shorten(v.getDotPath(issue) ?? "the object itself", PATH_CHARS_MAX);
  const what = issue.type === "check" ? issue.message : (issue.expected ?? "something else");
  return { problem: `${path}: ${mustBe(what)}` };
}

/** A path may contain keys of any length. */
const PATH_CHARS_MAX = 100;

/**
 * Decodes a list. Returns unreadable objects separately, by the ID in their `id` or `href`. So it does with objects
 * that are listed more than once with different content, because it cannot know which one is right.
 */
export function decodeList<T extends { readonly id: string }>(
  schema: v.GenericSchema<unknown, T>,
  body: readonly unknown[],
): ListReply<T> {
  const objects = new Map<string, T>();
  const undecodable = new Map<string, string>();
  for (const [at, one] of body.entries()) {
    const decoded = decode(schema, one);
    if ("problem" in decoded) {
      undecodable.set(findId(one) ?? `#${at}`, decoded.problem);
      continue;
    }
    const { value } = decoded;
    const other = objects.get(value.id);
    if (other === undefined) objects.set(value.id, value);
    else if (!isDeepStrictEqual(other, value)) undecodable.set(value.id, "it is listed twice");
  }
  for (const key of undecodable.keys()) objects.delete(key);
  return { objects: [...objects.values()], undecodable };
}

/** Finds the problem of an object that has no readable ID; `undefined` if there is none. */
export function findNameless(undecodable: ListReply<unknown>["undecodable"]): string | undefined {
  for (const [key, problem] of undecodable) if (key.startsWith("#")) return problem;
  return undefined;
}

/** Finds the ID of an unreadable object. Only a whole ID counts, because a damaged one may belong to any object. */
function findId(object: unknown): string | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  const href = "href" in object && typeof object.href === "string" ? object.href : "";
  const id = "id" in object && typeof object.id === "string" ? object.id : href.split("/").at(-1);
  return parseUuid(id ?? "");
}

/** Creates the metric of objects that do not have the form that their schema wants. */
export function createUndecodableCounter(metrics: MetricsRegistry): Counter {
  return metrics.counter({
    name: "landfall_cloud_undecodable_objects_total",
    help: "Objects of the cloud that Landfall could not read, by collection.",
  });
}
