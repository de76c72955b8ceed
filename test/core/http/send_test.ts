import { describe, expect, test } from "bun:test";
import { parseRetryAfter } from "../../../lib/core/http/send.ts";

describe("parseRetryAfter()", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  test.each([
    [null, undefined],
    ["0", 0],
    [" 7 ", 7000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["soon", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    // No server silences the client for more than five minutes.
    ["9999999", 300_000],
    ["Fri, 31 Dec 2100 23:59:59 GMT", 300_000],
  ])("reads %p as %p", (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});
