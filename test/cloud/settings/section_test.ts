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
