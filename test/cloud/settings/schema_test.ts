/**
 * Settings that describe themselves, and texts that become values.
 * @module
 */
import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import {
  cidrs,
  describeBlock,
  dropEmpty,
  fingerprint,
  parsed,
  parseShape,
  required,
  setting,
  type SettingSchema,
} from "../../../lib/cloud/settings/schema.ts";

const NOTES = { type: "text", description: "Some." };

describe("describeBlock()", () => {
  test("reports each setting in its order: required, with a default, left out", () => {
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

test("cidrs() takes networks and single addresses, and says what else it must be", () => {
  expect(judge(cidrs(), ["10.0.0.0/8", "2001:db8::1"])).toHaveLength(2);
  expect(judge(cidrs(), ["10.0.0.0/33"])).toBe(
    "must be an IP address or a CIDR, for example 10.0.0.0/8",
  );
  expect(judge(cidrs(), "10.0.0.0/8")).toBe("must be a list, for example [10.0.0.0/8]");
});

describe("fingerprint()", () => {
  const hex = "0123456789abcdef".repeat(4);

  test.each([
    hex,
    hex.toUpperCase(),
    ` ${hex.replaceAll(/(..)(?=.)/g, "$1:")}\n`,
    `sha256 Fingerprint=${hex}`,
    `SHA-256:${hex}`,
  ])("reads %s", (text) => expect(judge(fingerprint(), text)).toBe(hex));

  test.each([hex.slice(1), `${hex}0`, "", "sha1=00"])("refuses %j", (text) => {
    expect(judge(fingerprint(), text)).toStartWith("must be a SHA-256 fingerprint");
  });
});

const SCHEMA = v.object({
  url: v.optional(v.string("wanted text")),
  block: v.optional(v.object({ on: v.optional(v.boolean("wanted true or false")) })),
});

describe("parseShape()", () => {
  test("a list in the place of a block is a problem, although it has no wrong key", () => {
    const { settings, issues } = parseShape(SCHEMA, { block: [] }, ["block"]);
    expect(settings).toBeUndefined();
    expect(issues.map(({ path }) => path)).toEqual(["block"]);
  });
});

describe("dropEmpty()", () => {
  test("drops empty keys at the levels that it is given, and no list item", () => {
    const raw = { a: "", b: null, c: 0, d: { e: "", f: [""], g: { h: "" } } };
    expect(dropEmpty(raw, 1)).toEqual({ c: 0, d: { f: [""], g: { h: "" } } });
    expect(dropEmpty([null], 1)).toEqual([null]);
    expect(dropEmpty("text", 1)).toBe("text");
  });

  test("is done with an object that contains itself", () => {
    const raw: Record<string, unknown> = {};
    raw["self"] = raw;
    expect(dropEmpty(raw, 1)).toHaveProperty("self.self");
  });
});
