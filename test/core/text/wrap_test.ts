import { describe, expect, test } from "bun:test";
import { wrapAfter, wrapText } from "../../../lib/core/text/wrap.ts";

describe("wrapText()", () => {
  test.each<[string, number, string[]]>([
    ["", 20, [""]],
    ["short enough", 20, ["short enough"]],
    ["one line, whatever its length may be", Infinity, ["one line, whatever its length may be"]],
    ["breaks at the last blank that fits", 20, ["breaks at the last", "blank that fits"]],
    ["x://0123456789/0123456789", 20, ["x://0123456789/", "0123456789"]],
    ["a 0123456789012345678901234", 20, ["a", "01234567890123456789", "01234"]],
    ["a terminal of one column", 1, ["a terminal of", "one column"]],
  ])("wraps %j to %d", (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });

  test("loses no character and breaks none in half", () => {
    const text = "🙂".repeat(40);
    const lines = wrapText(text, 17);
    expect(lines.join("")).toBe(text);
    for (const line of lines) expect(line.isWellFormed()).toBe(true);
  });
});

test("wrapAfter() puts the prefix before the first line and indents the others", () => {
  expect(wrapAfter("  ok  ", "one two three four five", { width: 24 })).toBe(
    "  ok  one two three four\n      five\n",
  );
  expect(wrapAfter("  -> ", "one two three four", { width: 20, indent: "  " })).toBe(
    "  -> one two three\n  four\n",
  );
});
