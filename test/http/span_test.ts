import { expect, test } from "bun:test";
import { formatSpan, toMs } from "../../lib/http/span.ts";

test.each([
  [-5, "0s"],
  [1_499, "1s"],
  [119_000, "119s"],
  [120_000, "2m"],
  [7_199_000, "119m"],
  [7_200_000, "2h"],
  [Number.NaN, ""],
])("formatSpan() shows %p ms as %p", (ms, text) => {
  expect(formatSpan(ms)).toBe(text);
});

test("toMs() gives nothing for no time", () => {
  expect(toMs("1970-01-01T00:00:01Z")).toBe(1_000);
  expect(toMs(undefined)).toBeNaN();
});
