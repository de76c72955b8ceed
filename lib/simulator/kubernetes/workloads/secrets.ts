/**
 * Secrets as the API server stores them: text becomes data, the type stays.
 * @module
 */
import { Buffer } from "node:buffer";
import type { FieldProblem } from "../api_error.ts";
import { objectAt, stringAt, without, type JsonObject } from "../patches/json.ts";
import { invalidValue } from "../schema/validation.ts";

/** A Secret whose `stringData` is part of its `data`. Pure. */
export function withSecretData(secret: JsonObject): JsonObject {
  const texts = Object.entries(objectAt(secret, "stringData"));
  const added = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  const data = { ...objectAt(secret, "data"), ...Object.fromEntries(added) };
  const type = stringAt(secret, "type") || "Opaque";
  const whole = { ...without(secret, "stringData"), type };
  return Object.keys(data).length === 0 ? whole : { ...whole, data };
}

/** Problems of a Secret that is about to be stored. */
export function secretProblems(
  secret: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const type = stringAt(secret, "type");
  if (before === undefined || stringAt(before, "type") === type) return [];
  return [invalidValue("type", type, "field is immutable")];
}
