/**
 * Tables for terminals.
 * @module
 */
import { expect, test } from "bun:test";
import { formatTable, toPlainText } from "../../lib/http/text_table.ts";

test("formatTable() aligns columns and marks empty cells", () => {
  expect(
    formatTable(
      ["A", "LONG"],
      [
        ["value", ""],
        ["", "x\n y"],
      ],
    ),
  ).toBe("A      LONG\nvalue  -\n-      x y\n");
});

test("formatTable() shows the titles of an empty table", () => {
  expect(formatTable(["A", "B"], [])).toBe("A  B\n");
});

test("formatTable() cuts what would make every row long, and nothing at the end of a row", () => {
  const long = "x".repeat(10_000);
  const [, first = "", second = ""] = formatTable(
    ["A", "B"],
    [
      [long, "y"],
      ["", long],
    ],
  ).split("\n");
  expect(first).toBe(`${"x".repeat(119)}…  y`);
  expect(second).toBe(`-${" ".repeat(121)}${long}`);
});

test.each([
  ["\u001b[2J\u001b]0;title\u0007", "?[2J?]0;title?"],
  ["a\r\n\tb", "a b"],
  ["\u202Egnp.exe\u202C", "?gnp.exe?"],
  ["nœud 1", "nœud 1"],
])("toPlainText() makes %j safe for a terminal", (text, plain) => {
  expect(toPlainText(text)).toBe(plain);
  expect(formatTable(["A"], [[text]])).toBe(`A\n${plain}\n`);
});
