/**
 * Reads objects of a reply by a schema, each by itself: one that cannot be read must not hide the others.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { mustBe } from "../core/text/must_be.ts";
import { shorten } from "../core/text/printable.ts";
import { parseUuid } from "../core/text/uuid.ts";

/** A list of which each object was read by itself. */
export interface ListReply<T> {
  readonly objects: readonly T[];
  /** Objects that could not be read, by ID (without one: `#` and the place in the list), and why. */
  readonly undecodable: ReadonlyMap<string, string>;
}

/**
 * Reads one object.
 *
 * @returns The object, or what is wrong with it in words
 */
export function decode<T>(
  schema: v.GenericSchema<unknown, T>,
  body: unknown,
): { value: T } | { problem: string } {
  const result = v.safeParse(schema, body);
  if (result.success) return { value: result.output };
  // The first problem is enough to understand it; the value itself is not shown.
  const [issue] = result.issues;
  const path = shorten(v.getDotPath(issue) ?? "the object itself", PATH_CHARS_MAX);
  const what = issue.type === "check" ? issue.message : (issue.expected ?? "something else");
  return { problem: `${path}: ${mustBe(what)}` };
}

/** A path may hold keys of any length. */
const PATH_CHARS_MAX = 100;

/**
 * Reads a list. Objects that cannot be read are kept apart, by the ID in their `id` or `href`. So are objects that are
 * listed more than once with different content, because none of them is known to be the true one.
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

/** The problem of an object in a list without even a readable ID; `undefined` if there is none. */
export function findNameless(undecodable: ListReply<unknown>["undecodable"]): string | undefined {
  for (const [key, problem] of undecodable) if (key.startsWith("#")) return problem;
  return undefined;
}

/** A damaged ID may belong to any object: only a whole ID counts. */
function findId(object: unknown): string | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  const href = "href" in object && typeof object.href === "string" ? object.href : "";
  const id = "id" in object && typeof object.id === "string" ? object.id : href.split("/").at(-1);
  return parseUuid(id ?? "");
}
