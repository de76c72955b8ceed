/**
 * Texts in YAML: what they say, what is wrong with them, and where settings stand.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { YAML_SYNTAX } from "../../lib/config/yaml_syntax.ts";

describe("YAML_SYNTAX", () => {
  test.each([
    ["a: { b: [1, x] }", { a: { b: [1, "x"] } }],
    ["# nothing", null],
    ["", null],
  ])("reads %j", async (text, raw) => {
    const parsed = await YAML_SYNTAX.parse(text);
    expect(parsed.raw ?? null).toEqual(raw);
    expect(parsed.issues).toEqual([]);
  });

  test.each([
    ["a: [1", [{ line: 1, column: 6 }]],
    ["a: 1\na: 2", [{ message: "this key occurs twice; remove one", line: 2, column: 1 }]],
    [
      "- a",
      [
        {
          message: "must be one block of settings (key: value)",
          line: 1,
          column: 1,
        },
      ],
    ],
    ["[".repeat(100_000), [{ message: "brackets or lists are nested too deeply" }]],
  ])("says what is wrong with %j", async (text, issues) => {
    expect((await YAML_SYNTAX.parse(text)).issues).toMatchObject(issues);
  });

  test("finds where a setting stands, in a text that is well", async () => {
    const find = await (await YAML_SYNTAX.parse("a: 1\nb:\n  c: 2\n")).locate();
    expect(find("b.c")).toEqual({ line: 3, column: 3 });
    expect(find("d")).toBeUndefined();
  });
});
