import { expect, test } from "bun:test";
import { formatExamples, toParagraph } from "../../lib/cli/help_text.ts";

test("formatExamples() puts each line after its purpose, and continues a long one with a backslash", () => {
  expect(formatExamples([["Say it", "say one two three"]], 18)).toBe(
    "Examples:\n  # Say it\n  say one two \\\n    three\n",
  );
});

test("toParagraph() wraps a text", () => {
  expect(toParagraph("some longer words", 12)).toBe("some longer\nwords\n");
});
