import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toBytes } from "../../../lib/controllers/vino/resource/schema/fields.ts";
import {
  describeDurationRange,
  formatAbout,
  formatDuration,
  formatSize,
  isFields,
  mustBe,
  mustBeQuoted,
  mustBeSetting,
  mustBeText,
  parseBool,
  parseDuration,
  parseDurationWithin,
  parseFields,
  parseJson,
  parseList,
  parseUuid,
  swapUuid,
} from "../../../lib/core/text/values.ts";

describe("parseDuration()", () => {
  const good: readonly [string, number][] = [
    ["0", 0],
    ["0s", 0],
    ["300ms", 300],
    ["1.5s", 1_500],
    [".5s", 500],
    ["1.s", 1_000],
    ["5m0s", 300_000],
    ["1h30m", 5_400_000],
    ["1h15m30.918s", 4_530_918],
    ["90m", 5_400_000],
    ["-2s", -2_000],
    ["+2s", 2_000],
    ["-0", 0],
    ["10us", 0.01],
    ["1us", 0.001],
    ["10\u00b5s", 0.01],
    ["10\u03bcs", 0.01],
    ["500ns", 0.0005],
    ["60s", 60_000],
    ["2562047h", 2_562_047 * 3_600_000],
  ];
  test.each(good)("parseDuration() reads %j", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  const bad = ["", " ", "5", "-", "+", "s", ".s", "1d", "1h 30m", "5 m", "1e3s", "--1s", "1m-1s"];
  const worse = ["1S", "0x1s", "1,5s", "1..5s", "3m5", "NaN", "99999999h", "0\ns", "60s\n"];
  test.each([...bad, ...worse])("parseDuration() rejects %j and quotes it", (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
    expect(() => parseDuration(text)).toThrow(`"${text}"`);
  });
});

describe("parseDurationWithin()", () => {
  test.each([
    ["1s", 1_000],
    ["1m", 60_000],
    ["999ms", undefined],
    ["1m1us", undefined],
    ["soon", undefined],
  ])("parseDurationWithin() of %j, from 1s to 1m, is %p", (text, ms) => {
    expect(parseDurationWithin(text, 1_000, 60_000)).toBe(ms);
  });
});

test("describeDurationRange() says the bounds and the unit", () => {
  expect(describeDurationRange(1_000, 3_600_000, "30s")).toBe(
    'a duration from 1s to 1h, for example "30s"',
  );
});

describe("formatDuration()", () => {
  const cases: readonly [number, string][] = [
    [0, "0s"],
    [0.0004, "0s"],
    [0.25, "250us"],
    [1.5, "1.5ms"],
    [300, "300ms"],
    [1_500, "1.5s"],
    [60_000, "1m0s"],
    [300_000, "5m0s"],
    [5_400_000, "1h30m0s"],
    [3_600_000, "1h0m0s"],
    [-2_000, "-2s"],
  ];
  test.each(cases)("formatDuration() shows %d ms as Go does", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test("formatDuration() is read back by parseDuration() for every microsecond", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e13, max: 1e13 }), (micros) => {
        expect(parseDuration(formatDuration(micros / 1_000))).toBeCloseTo(micros / 1_000, 3);
      }),
    );
  });
});

test("parseBool() reads the twelve forms of Go and nothing else", () => {
  const yes = ["1", "t", "T", "true", "TRUE", "True"];
  const no = ["0", "f", "F", "false", "FALSE", "False"];
  expect(yes.map(parseBool)).toEqual(yes.map(() => true));
  expect(no.map(parseBool)).toEqual(no.map(() => false));
  expect(["", "yes", "tRUE", "on", "2"].map(parseBool).some((one) => one !== undefined)).toBe(
    false,
  );
});

test.each([
  [8 * 1024 ** 3, "8Gi"],
  [1536 * 1024 ** 2, "1536Mi"],
  [2 * 1024 ** 4, "2Ti"],
  [10_000_000_000, "10G"],
  [1_500_000, "1500k"],
  [8_589_934_593, "8589934593 bytes"],
  [7, "7 bytes"],
  [0, "0 bytes"],
])("formatSize() writes %i as %s", (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});

test("formatSize() loses nothing: what it writes means the same size in a spec", () => {
  const sizes = fc.oneof(
    fc.nat(),
    fc.nat(4096).map((count) => count * 1024 ** 3),
    fc.nat(99_999).map((count) => count * 1000 ** 2),
  );
  fc.assert(
    fc.property(sizes, (bytes) => {
      expect(toBytes(formatSize(bytes).replace(" bytes", ""))).toBe(bytes);
    }),
  );
});

test.each([
  [8.39 * 1024 ** 3, "8.3Gi"],
  [20 * 1024 ** 3, "20Gi"],
  [1023, "1023 bytes"],
  [0, "0 bytes"],
])("formatAbout() writes %d as %s", (bytes, text) => {
  expect(formatAbout(bytes)).toBe(text);
});

const UUID = "e865e63f-3d30-4f0b-83e0-0123456789ab";

describe("parseUuid()", () => {
  test.each([
    UUID,
    UUID.toUpperCase(),
    UUID.replaceAll("-", ""),
    `{${UUID}}`,
    `urn:uuid:${UUID}`,
    `URN:UUID:${UUID.toUpperCase()}`,
  ])("reads %p", (text) => {
    expect(parseUuid(text)).toBe(UUID);
  });

  test.each([
    "",
    "x",
    UUID.slice(1),
    `${UUID}0`,
    ` ${UUID}`,
    `{${UUID}`,
    `${UUID}}`,
    UUID.replace("-", ""),
    UUID.replace("e", "g"),
    "00000000-0000-0000-0000-000000000000",
    "{00000000-0000-0000-0000-000000000000}",
    "0".repeat(32),
  ])("refuses %p", (text) => {
    expect(parseUuid(text)).toBeUndefined();
  });
});

describe("swapUuid()", () => {
  test("reverses the first three groups as UEFI guests show them", () => {
    expect(swapUuid(UUID)).toBe("3fe665e8-303d-0b4f-83e0-0123456789ab");
  });

  test.each(["", "not a UUID", "a-b-c", "ab-cd-ef"])("leaves %p as it is", (text) => {
    expect(swapUuid(text)).toBe(text);
  });

  test("undoes itself", () => {
    fc.assert(fc.property(fc.uuid(), (one) => swapUuid(swapUuid(one)) === one));
  });
});

test("parseJson() reads any JSON, and nothing else", () => {
  expect(["1", "null", '"a"', '{"a":1}'].map(parseJson)).toEqual([1, null, "a", { a: 1 }]);
  expect(["", "a", "{", '{"a":1} x'].map(parseJson)).toEqual(Array(4).fill(undefined));
});

test.each<[unknown, boolean]>([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ["a", false],
])("isFields() of %j is %p", (value, expected) => {
  expect(isFields(value)).toBe(expected);
});

test("parseFields() reads only objects", () => {
  expect(parseFields('{"a":1}')).toEqual({ a: 1 });
  expect(["[1]", "null", "1", "{"].map(parseFields)).toEqual(Array(4).fill(undefined));
});

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

test("parseList() drops blanks and empty items", () => {
  expect(parseList(" a, b,,c ,")).toEqual(["a", "b", "c"]);
  expect(parseList("")).toEqual([]);
});
