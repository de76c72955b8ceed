import { describe, expect, test } from "bun:test";
import {
  escapeInvisible,
  isPathLike,
  listSecrets,
  quote,
  redact,
  shorten,
  toMessage,
  toPlainText,
} from "../../../lib/core/text/printable.ts";

describe("escapeInvisible()", () => {
  test.each([
    ["plain é 漢 🙂", "plain é 漢 🙂"],
    ["\u009b31m\u007f", "\\u009b31m\\u007f"],
    ["\u202eabc\u2066\u200f\ufeff", "\\u202eabc\\u2066\\u200f\\ufeff"],
    ["\u2028\u2029", "\\u2028\\u2029"],
    ["\ud800x", "\\ud800x"],
    ["\u{e0001}", "\\udb40\\udc01"],
  ])("escapeInvisible() makes of %j %j", (text, escaped) => {
    expect(escapeInvisible(text)).toBe(escaped);
    expect(JSON.parse(escapeInvisible(JSON.stringify(text)))).toBe(text);
  });
});

test.each([
  ["a plain nœud", "a plain nœud"],
  ["\u001b[2Ja\nb", "\\u001b[2Ja\\u000ab"],
  [
    "\u202a\u202e\u2066\u2069\u0085\u2028\u2029",
    "\\u202a\\u202e\\u2066\\u2069\\u0085\\u2028\\u2029",
  ],
])("toMessage() makes %j one line that reads as it is written", (text, message) => {
  expect(toMessage(text)).toBe(message);
});

describe("quote()", () => {
  test("quote() leaves a plain text as it is", () => {
    expect(quote("xenorchestra://a/b")).toBe('"xenorchestra://a/b"');
  });

  test("quote() keeps a text within one line and one pair of quotes", () => {
    expect(quote('a\n"b\u001b[31m\u202e')).toBe('"a\\n\\"b\\u001b[31m\\u202e"');
  });

  test("quote() cuts a long text and says how long it is", () => {
    expect(quote("x".repeat(1_000_000))).toBe(`"${"x".repeat(160)}…" (1000000 characters)`);
  });
});

test.each([
  ["", 3, ""],
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["🚢🚢", 2, "\uFFFD…"],
])("shorten() of %j to %p", (text, charsMax, shown) => {
  expect(shorten(text, charsMax)).toBe(shown);
});

test.each([
  ["\u001b[2J\u001b]0;title\u0007", "?[2J?]0;title?"],
  ["a\r\n\tb", "a b"],
  ["\u202Egnp.exe\u202C", "?gnp.exe?"],
  ["nœud 1", "nœud 1"],
])("toPlainText() makes %j safe for a terminal", (text, plain) => {
  expect(toPlainText(text)).toBe(plain);
});

const BASIC = Buffer.from("ann:geheim:1").toString("base64");

test.each<[Record<string, string>, readonly string[]]>([
  [{}, []],
  [{ accept: "application/json" }, []],
  [{ authorization: "Bearer t0ken" }, ["t0ken"]],
  [{ authorization: `Basic ${BASIC}` }, [BASIC, "geheim:1"]],
  [{ cookie: "authenticationToken=t0ken=; other=value" }, ["t0ken=", "value"]],
  // In every text there is one.
  [{ authorization: "Bearer a" }, []],
])("listSecrets() of %j", (headers, secrets) => {
  expect(listSecrets(headers)).toEqual([...secrets]);
});

test("redact() leaves no secret in a text", () => {
  expect(redact("no t0ken, t0ken or geheim", ["t0ken", "geheim"])).toBe(
    "no (secret), (secret) or (secret)",
  );
  expect(redact("nothing", [])).toBe("nothing");
});

test.each([
  ["/etc/landfall/token", true],
  ["./token", true],
  ["../token", true],
  ["~/token", true],
  ["token.txt", true],
  ["/" + "x".repeat(500), true],
  ["token", false],
  ["", false],
  // As long as the shortest tokens.
  ["x/".repeat(15) + "x", true],
  ["x/".repeat(16), false],
])("isPathLike() of %j is %p", (text, isOne) => {
  expect(isPathLike(text)).toBe(isOne);
});
