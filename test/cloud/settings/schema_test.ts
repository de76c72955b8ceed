/**
 * Settings that describe themselves, texts that become values, and sections of a file.
 * @module
 */
import * as v from "valibot";
import { describe, expect, test } from "bun:test";
import {
  block,
  cidrs,
  createSection,
  describeBlock,
  dropEmpty,
  findSettings,
  fingerprint,
  listOf,
  parsed,
  parseShape,
  required,
  setting,
  type SettingSchema,
  trueOrFalse,
  wholeNumber,
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
    'must be an IP address or a CIDR, for example 10.0.0.0/8, but is "10.0.0.0/33"',
  );
  expect(judge(cidrs(), "10.0.0.0/8")).toBe(
    'must be a list, for example [10.0.0.0/8], but is "10.0.0.0/8"',
  );
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

const notes = { type: "any", description: "Some." };
const LAMP = createSection({
  key: "lamp",
  docs: { title: "Lamps", text: "What shines." },
  entries: {
    isOn: setting(trueOrFalse(), { ...notes, default: "true" }),
    watts: setting(wholeNumber(1, 100), notes),
  },
  toSettings: ({ isOn = true, watts = 40 }) => ({ isOn, watts }),
  listWarnings: ({ watts }) => (watts > 60 ? [{ key: "watts", message: "gets hot" }] : []),
});
const STANDARD = { isOn: true, watts: 40 };

describe("createSection()", () => {
  test("describes its settings below its key", () => {
    expect(LAMP.settings).toEqual([
      { ...notes, path: "lamp.isOn", form: "boolean", default: "true" },
      { ...notes, path: "lamp.watts", form: "number" },
    ]);
    expect(LAMP.standard).toEqual(STANDARD);
  });
});

describe("createSection() with a list of blocks", () => {
  const BULB = {
    name: required(
      parsed((text) => text, "text"),
      notes,
    ),
    isOn: setting(trueOrFalse(), notes),
  };
  const LAMPS = createSection({
    key: "lamps",
    docs: { title: "Lamps", text: "What shines." },
    entries: {
      bulbs: setting(listOf(block(BULB, "a bulb (name)"), "[{name: a}]", { itemsMax: 9 }), notes),
    },
    items: { bulbs: BULB },
    toSettings: ({ bulbs = [] }) => bulbs.map(({ name }) => name),
    listIssues: ({ bulbs }) =>
      Array.isArray(bulbs) && bulbs.length > 1 ? [{ key: "bulbs.1", message: "is too much" }] : [],
  });

  test("describes the settings of an item below the list", () => {
    expect(LAMPS.settings.map(({ path }) => path)).toEqual([
      "lamps.bulbs",
      "lamps.bulbs.name",
      "lamps.bulbs.isOn",
    ]);
  });
});

describe("findSettings()", () => {
  test("gives what was read, what holds without a file, and nothing without a section", () => {
    const other = { isOn: false, watts: 1 };
    expect(findSettings(LAMP, new Map([["lamp", other]]))).toBe(other);
    expect(findSettings(LAMP, new Map())).toEqual(STANDARD);
    expect(findSettings(LAMP)).toEqual(STANDARD);
    expect(findSettings(undefined, new Map([["lamp", other]]))).toBeUndefined();
  });
});
