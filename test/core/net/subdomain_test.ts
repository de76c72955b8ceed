import { describe, expect, test } from "bun:test";
import { isSubdomain } from "../../../lib/core/net/subdomain.ts";

describe("isSubdomain()", () => {
  test.each(["a", "0", "a-b", "a.b", "node-1.example.com", "n".repeat(253)])("takes %s", (text) => {
    expect(isSubdomain(text)).toBe(true);
  });
  test.each([
    "",
    "A",
    "a_b",
    "-a",
    "a-",
    ".a",
    "a.",
    "a..b",
    "a.-b",
    "a b",
    "a\n",
    "ä",
    "n".repeat(254),
  ])("refuses %p", (text) => {
    expect(isSubdomain(text)).toBe(false);
  });
});
