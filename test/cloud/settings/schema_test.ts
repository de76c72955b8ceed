/**
 * Settings that describe themselves, and texts that become values.
 * @module
 */
import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import {
  describeBlock,
  duration,
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
    expect(judge(setting(v.boolean("must be true or false"), NOTES), undefined)).toBeUndefined();
    expect(judge(setting(v.boolean("must be true or false"), NOTES), 1)).toBe(
      "must be true or false",
    );
  });
});

describe("parsed()", () => {
  const toNumber = (text: string): number | undefined => Number(text) || undefined;

  test.each([
    ["7", 7],
    ["x", "must be a number"],
    [7, "must be a number, but is 7"],
  ])("makes %j %j", (input, outcome) => {
    expect(judge(parsed(toNumber, "a number"), input)).toBe(outcome);
  });

  test.each([
    ["x", "x is none"],
    ["", "cannot be used"],
    [7, "must be text, but is a number; write it in quotes"],
  ])("lets a function say what is wrong with %j: %s", (input, outcome) => {
    const schema = parsed(toNumber, (text) => (text === "" ? undefined : `${text} is none`));
    expect(judge(schema, input)).toBe(outcome);
  });
});

describe("duration()", () => {
  test.each([
    ["1s", 1_000],
    ["60s", 60_000],
    ["61s", 'must be a duration from 1s to 1m, for example "30s", but is "61s"'],
    ["my secret", 'must be a duration from 1s to 1m, for example "30s"'],
    [30, 'must be a duration from 1s to 1m, for example "30s", but is 30'],
  ])("makes %j %j", (input, outcome) => {
    expect(judge(duration(1_000, 60_000, "30s"), input)).toBe(outcome);
  });
});
