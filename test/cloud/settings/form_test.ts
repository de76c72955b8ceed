/**
 * Forms of settings.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { type SettingForm, toSettingForm } from "../../../lib/cloud/settings/form.ts";

describe("toSettingForm()", () => {
  const known: readonly [string, SettingForm][] = [
    ["string", "string"],
    ["picklist", "string"],
    ["record", "object"],
    ["array", "array"],
    ["boolean", "boolean"],
    ["number", "number"],
  ];
  test.each(known)("takes %s for %s", (kind, form) => {
    expect(toSettingForm(kind)).toBe(form);
  });

  test("knows no other", () => {
    expect(() => toSettingForm("tuple")).toThrow("tuple");
  });
});
