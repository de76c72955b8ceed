/**
 * Paths without slashes at their ends.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { trimSlashes } from "../../../lib/core/net/trim_slashes.ts";

describe("trimSlashes()", () => {
  test.each([
    ["", ""],
    ["///", ""],
    ["a/b", "a/b"],
    ["/a//b//", "/a//b"],
  ])("trimSlashes() makes of %j %j", (text, trimmed) => {
    expect(trimSlashes(text)).toBe(trimmed);
  });
});
