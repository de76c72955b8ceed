import { describe, expect, test } from "bun:test";
import { mustBe, mustBeQuoted, mustBeSetting, mustBeText } from "../../../lib/core/text/must_be.ts";

test("mustBe() says what is accepted, and what was given if that is known", () => {
  expect(mustBe("a number")).toBe("must be a number");
  expect(mustBe("a number", "a list")).toBe("must be a number, but is a list");
});

test.each([
  ["x", 'must be a number, but is "x"'],
  ["", "must be a number, but is empty"],
  ["a\nb", 'must be a number, but is "a\\nb"'],
])("mustBeText() shows the flag %j", (text, message) => {
  expect(mustBeText("a number", text)).toBe(message);
});

describe("mustBeSetting()", () => {
  test.each([
    [30, "30"],
    [-0.5, "-0.5"],
    [true, "true"],
    ["30", '"30"'],
    ["30 sec", '"30 sec"'],
    ["25h30m", '"25h30m"'],
    ["yes", '"yes"'],
    ["", "empty"],
    [null, "empty"],
    [undefined, "empty"],
    [[1], "a list"],
    [{ a: 1 }, "a block (key: value)"],
    [12_345_678_901, "a number"],
    [Number.NaN, "a number"],
  ])("says that %p is %s", (value, found) => {
    expect(mustBeSetting("a duration", value)).toBe(`must be a duration, but is ${found}`);
  });

  test.each(["abc", "hunter2", "1a2b3c", "12345678901234567890", "10 s3cret", "30s\nsecret"])(
    "never shows %j, which may be a secret",
    (value) => {
      expect(mustBeSetting("a duration", value)).toBe("must be a duration");
    },
  );
});

test.each([
  [7, "must be text, but is a number; write it in quotes"],
  [true, "must be text, but is a boolean; write it in quotes"],
  [["s"], "must be text, but is a list"],
  [null, "must be text, but is empty"],
])("mustBeQuoted() never shows %j", (value, message) => {
  expect(mustBeQuoted(value)).toBe(message);
});
