/**
 * The form of a setting's value.
 * @module
 */
import { assert } from "../../core/errors.ts";

/** The form of a setting's value, as JSON Schema names it. */
export type SettingForm = "array" | "boolean" | "number" | "object" | "string";

const FORMS: Readonly<Record<string, SettingForm>> = {
  array: "array",
  boolean: "boolean",
  number: "number",
  picklist: "string",
  record: "object",
  string: "string",
};

/** Returns the form for a kind of valibot schema. An unknown kind is a bug. */
export function toSettingForm(kind: string): SettingForm {
  const form = FORMS[kind];
  assert(form !== undefined, `no setting can have the form of ${kind}`);
  return form;
}
