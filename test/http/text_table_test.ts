/**
 * Tables for terminals.
 * @module
 */
import { expect, test } from "bun:test";
import { formatTable } from "../../lib/http/text_table.ts";

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

test("formatTable() shows nothing that moves the cursor or sets colours", () => {
  expect(formatTable(["A"], [["\u001b[2Ja\tb"]])).toBe("A\n?[2Ja b\n");
});
