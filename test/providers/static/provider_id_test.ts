import { describe, expect, test } from "bun:test";
import { formatProviderId, parseProviderId } from "../../../lib/providers/static/inventory.ts";
import { isInstanceId, isScheme } from "../../../lib/providers/static/settings.ts";

describe("parseProviderId()", () => {
  test.each([
    ["cloudlycke://m-c2-1", "m-c2-1"],
    ["cloudlycke://cloudlycke://m-c2-1", "m-c2-1"],
    ["cloudlycke://A_b.9", "A_b.9"],
    ["cloudlycke://7", "7"],
  ])("C-01 reads %p", (text, id) => {
    expect(parseProviderId("cloudlycke", text)).toEqual({ kind: "ours", id });
  });

  test.each([
    "cloudlycke",
    "cloudlycke:",
    "cloudlycke:m-c2-1",
    "cloudlycke:/m-c2-1",
    "cloudlycke://",
    "cloudlycke:///m-c2-1",
    "cloudlycke://cloudlycke://",
    "cloudlycke://cloudlycke://cloudlycke://m",
    "cloudlycke://m-c2-1/",
    "cloudlycke://m c2",
    "cloudlycke://m-c2-1\n",
    `cloudlycke://${"x".repeat(254)}`,
  ])("C-01 calls %p malformed", (text) => {
    expect(parseProviderId("cloudlycke", text).kind).toBe("malformed");
  });

  test.each(["static://m", "cloudlyckes://m", "m-c2-1", "", "Cloudlycke://m", " cloudlycke://m"])(
    "C-01 calls %p foreign",
    (text) => {
      expect(parseProviderId("cloudlycke", text)).toEqual({ kind: "foreign" });
    },
  );

  test("reads what formatProviderId() writes", () => {
    const text = formatProviderId("static", "a-1");
    expect(text).toBe("static://a-1");
    expect(parseProviderId("static", text)).toEqual({ kind: "ours", id: "a-1" });
  });
});

test.each([
  ["a", true],
  ["a-", false],
  ["", false],
  ["a/b", false],
])("isInstanceId() of %p is %p", (text, valid) => {
  expect(isInstanceId(text)).toBe(valid);
});

test.each([
  ["static", true],
  ["s3+x", true],
  ["Static", false],
  ["a:b", false],
  ["", false],
])("isScheme() of %p is %p", (text, valid) => {
  expect(isScheme(text)).toBe(valid);
});
