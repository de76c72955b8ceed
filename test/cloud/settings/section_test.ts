import { describe, expect, test } from "bun:test";
import {
  block,
  listOf,
  parsed,
  required,
  setting,
  trueOrFalse,
  wholeNumber,
} from "../../../lib/cloud/settings/schema.ts";
import { createSection, findSettings } from "../../../lib/cloud/settings/section.ts";

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

  test.each([undefined, null, "", {}, { isOn: null, watts: "" }])(
    "takes %j for not set",
    (written) => {
      expect(LAMP.parse(written)).toEqual({ settings: STANDARD, issues: [], warnings: [] });
    },
  );

  test("gives what is written, and says what is odd", () => {
    expect(LAMP.parse({ isOn: false, watts: 99 })).toEqual({
      settings: { isOn: false, watts: 99 },
      issues: [],
      warnings: [{ path: "lamp.watts", message: "gets hot" }],
    });
  });

  test.each<[unknown, readonly string[]]>([
    [7, ["lamp"]],
    [[], ["lamp"]],
    [{ isOn: "s3cr3t", watts: "s3cr3t" }, ["lamp.isOn", "lamp.watts"]],
    [{ watts: 99, isOn: 1 }, ["lamp.isOn"]],
  ])("refuses %j, keeps what holds without it and repeats no value", (written, paths) => {
    const { settings, issues, warnings } = LAMP.parse(written);
    expect(settings).toEqual(STANDARD);
    expect(issues.map(({ path }) => path)).toEqual([...paths]);
    expect(JSON.stringify(issues)).not.toContain("s3cr3t");
    expect(warnings).toEqual([]);
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

  test("takes an item's empty key for not set", () => {
    const { settings, issues } = LAMPS.parse({ bulbs: [{ name: "a", isOn: null }] });
    expect(issues).toEqual([]);
    expect(settings).toEqual(["a"]);
  });

  test("reports what is wrong with each value and with all of them together", () => {
    const { settings, issues } = LAMPS.parse({ bulbs: [{ isOn: "x" }, { name: "b" }] });
    expect(settings).toEqual([]);
    expect(issues).toEqual([
      { path: "lamps.bulbs.0.name", message: "required" },
      { path: "lamps.bulbs.0.isOn", message: "must be true or false" },
      { path: "lamps.bulbs.1", message: "is too much" },
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
