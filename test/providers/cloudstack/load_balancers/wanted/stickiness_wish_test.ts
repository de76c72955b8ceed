import { expect, test } from "bun:test";
import { parseStickiness } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/stickiness_wish.ts";

test("parseStickiness() reads nothing from nothing", () => {
  expect(parseStickiness(undefined, undefined)).toBeUndefined();
  expect(parseStickiness("", "")).toBeUndefined();
});

const GOOD: readonly [string, string, Record<string, string>][] = [
  ["SourceBased", "", {}],
  ["SourceBased", "tablesize=200k,expire=30m", { tablesize: "200k", expire: "30m" }],
  ["LbCookie", "cookie-name=lb, mode=insert", { "cookie-name": "lb", mode: "insert" }],
  ["LbCookie", "nocache,indirect=true", { nocache: "true", indirect: "true" }],
];
for (const [method, text, params] of GOOD) {
  test(`parseStickiness() reads ${method} with ${text || "no parameter"}`, () => {
    expect(parseStickiness(method, text)).toEqual({
      method: method === "LbCookie" ? "LbCookie" : "SourceBased",
      params: new Map(Object.entries(params)),
    });
  });
}

const BAD: readonly [string | undefined, string | undefined][] = [
  ["AppCookie", undefined],
  ["lbcookie", undefined],
  ["Sticky", undefined],
  [undefined, "expire=30m"],
  ["SourceBased", "expire"],
  ["SourceBased", "expire="],
  ["SourceBased", "expire=30"],
  ["SourceBased", "expire=30m,expire=40m"],
  ["SourceBased", "tablesize=200"],
  ["SourceBased", "tablesize=0k"],
  ["SourceBased", "cookie-name=x"],
  ["SourceBased", "expire=30m,"],
  ["LbCookie", "mode=any"],
  ["LbCookie", "nocache=false"],
  ["LbCookie", "cookie-name=a b"],
  ["LbCookie", "cookie-name=a=b"],
  ["LbCookie", "cookie-name=a&b"],
  ["LbCookie", 'cookie-name=a"b'],
  ["LbCookie", "cookie-name=a'b"],
  ["LbCookie", "cookie-name=a\\b"],
  ["LbCookie", "cookie-name=a#b"],
  ["LbCookie", "cookie-name=a\nb"],
  ["LbCookie", `cookie-name=${"x".repeat(200)}`],
  ["LbCookie", "__proto__=x"],
];
for (const [method, params] of BAD) {
  test(`parseStickiness() refuses ${JSON.stringify([method, params?.slice(0, 30)])}`, () => {
    const found = parseStickiness(method, params);
    expect(found).toMatchObject({ reason: "StickinessNotPossible", isWaiting: true });
  });
}
