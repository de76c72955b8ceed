import { expect, test } from "bun:test";
import { appendHash, hashContent, shortenName } from "../../../lib/core/text/short_name.ts";

test("hashContent() differs if the content differs", () => {
  expect(hashContent("a")).toBe("ca978112ca1bbdca");
  expect(hashContent("b")).not.toBe(hashContent("a"));
});

test("shortenName() keeps a name of 63 characters, and ends a longer one in a hash", () => {
  const longest = "a".repeat(63);
  expect(shortenName(longest)).toBe(longest);
  expect(shortenName(`${longest}b`)).toBe(`${"a".repeat(54)}-97aa7c54`);
  expect(shortenName(`${longest}c`)).not.toBe(shortenName(`${longest}b`));
});

test("appendHash() cuts a text where a name may end", () => {
  expect(appendHash(`${"a".repeat(53)}-b`, "n")).toMatch(/^a{53}-[0-9a-f]{8}$/);
});
