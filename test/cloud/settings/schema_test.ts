/**
 * Settings that describe themselves, and texts that become values.
 * @module
 */
import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import {
  describeBlock,
  duration,
  NO_TEXT,
  parsed,
  required,
  setting,
  type SettingSchema,
} from "../../../lib/cloud/settings/schema.ts";

const NOTES = { type: "text", description: "Some." };

describe("describeBlock()", () => {
  test("tells of each setting in its order: required, with a default, left out", () => {
    const entries = {
      name: required(v.string(), NOTES),
      state: v.optional(required(v.picklist(["on"]), { ...NOTES, default: "on" }), "on"),
      list: setting(v.array(v.string()), { ...NOTES, variable: "LIST" }),
    };
    expect(describeBlock(entries, "block.")).toEqual([
      { path: "block.name", form: "string", ...NOTES },
      { path: "block.state", form: "string", ...NOTES, default: "on" },
      { path: "block.list", form: "array", ...NOTES, variable: "LIST" },
    ]);
  });

  test("refuses a setting without notes", () => {
    expect(() => describeBlock({ bare: v.string() }, "a.")).toThrow("a.bare has no notes");
  });
});

function judge<T>(schema: SettingSchema<T>, input: unknown): T | string | undefined {
  const result = v.safeParse(schema, input);
  return result.success ? result.output : result.issues[0].message;
}

describe("setting()", () => {
  test("may be left out, and keeps what its schema says", () => {
    expect(judge(setting(v.boolean("wanted true or false"), NOTES), undefined)).toBeUndefined();
    expect(judge(setting(v.boolean("wanted true or false"), NOTES), 1)).toBe(
      "wanted true or false",
    );
  });
});

describe("parsed()", () => {
  const toNumber = (text: string): number | undefined => Number(text) || undefined;

  test.each([
    ["7", 7],
    ["x", "wanted a number"],
    [7, "wanted a number"],
  ])("makes %j %j", (input, outcome) => {
    expect(judge(parsed(toNumber, "wanted a number"), input)).toBe(outcome);
  });

  test.each([
    ["x", "x is none"],
    ["", "cannot be used"],
    [7, NO_TEXT],
  ])("lets a function say what is wrong with %j: %s", (input, outcome) => {
    const schema = parsed(toNumber, (text) => (text === "" ? undefined : `${text} is none`));
    expect(judge(schema, input)).toBe(outcome);
  });
});

describe("duration()", () => {
  test.each([
    ["1s", 1_000],
    ["60s", 60_000],
    ["61s", "wanted a duration with its unit from 1s to 1m0s, such as 30s"],
    [30, "wanted a duration with its unit from 1s to 1m0s, such as 30s"],
  ])("makes %j %j", (input, outcome) => {
    expect(judge(duration(1_000, 60_000, "30s"), input)).toBe(outcome);
  });
});
