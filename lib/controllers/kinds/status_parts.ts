/**
 * What the schemas of a status are put together from: an API server drops what a CRD does not name.
 * @module
 */
import * as v from "valibot";
import type { Condition } from "./conditions.ts";
import { list, object, oneOf, optional, required, type Schema } from "./parts.ts";

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
