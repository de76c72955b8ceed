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

test("formatTable() shows the whole of a long cell, and moves no other row for it", () => {
  const long = "x".repeat(253);
  const fits = "y".repeat(96);
  expect(
    formatTable(
      ["A", "B", "C"],
      [
        [long, "b", "c"],
        ["a", fits, ""],
        ["a", `${fits}y`, "c"],
      ],
    ),
  ).toBe(
    [
      `A  B${" ".repeat(95)}  C`,
      `${long}  b${" ".repeat(95)}  c`,
      `a  ${fits}  -`,
      `a  ${fits}y  c`,
      "",
    ].join("\n"),
  );
});

test("formatTable() shows nothing that moves the cursor or sets colours", () => {
  expect(formatTable(["A"], [["\u001b[2Ja\tb"]])).toBe("A\n?[2Ja b\n");
});
