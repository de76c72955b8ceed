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
