/**
 * Fields by type, and errors that name them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { Section } from "../../../lib/kube/credentials/section.ts";

const VALUES = {
  text: "a",
  empty: "",
  none: null,
  yes: true,
  map: { a: "b" },
  list: ["x"],
  number: 1,
};
const section = new Section({ ...VALUES, named: [{ name: "n", v: 1 }, { v: "w" }] }, "/f", "top");

describe("Section", () => {
  test("reads fields by type, absent and empty ones as undefined", () => {
    expect(section.string("text")).toBe("a");
    expect(["empty", "none", "absent"].map((field) => section.string(field))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([section.boolean("yes"), section.boolean("absent")]).toEqual([true, false]);
    expect(section.section("map").string("a")).toBe("b");
    expect(section.section("absent").names()).toEqual([]);
    expect(section.strings("list")).toEqual(["x"]);
    expect(section.raw("number")).toBe(1);
  });

  test("knows which fields are set to something", () => {
    expect(["text", "empty", "none", "absent"].map((field) => section.has(field))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  const REFUSED: [string, () => unknown, string][] = [
    ["string()", () => section.string("number"), "/f: top.number: must be a string"],
    ["required()", () => section.required("empty"), "/f: top.empty: is missing"],
    ["boolean()", () => section.boolean("text"), "/f: top.text: must be true or false"],
    ["section()", () => section.section("list"), "/f: top.list: must be a mapping"],
    ["sections()", () => section.sections("map"), "/f: top.map: must be a list"],
    ["strings()", () => section.strings("named"), "/f: top.named: must be a list of strings"],
    [
      "sections() calling an item by its name",
      () => section.sections("named")[0]?.string("v"),
      "/f: top.named.n.v: ",
    ],
    [
      "sections() calling an item by its place",
      () => section.sections("named")[1]?.boolean("v"),
      "/f: top.named.1.v: ",
    ],
  ];
  test.each(REFUSED)("names file and field: %s", (_title, act, message) => {
    expect(act).toThrow(message);
  });
});
