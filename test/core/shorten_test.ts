import { expect, test } from "bun:test";
import { shorten } from "../../lib/core/shorten.ts";

test.each([
  ["", 3, ""],
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["🚢🚢", 2, "\uFFFD…"],
])("shorten() of %j to %p", (text, charsMax, shown) => {
  expect(shorten(text, charsMax)).toBe(shown);
});
