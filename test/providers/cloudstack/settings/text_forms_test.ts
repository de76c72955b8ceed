/**
 * Addresses and keys, and what is wrong with one.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  explainOddPath,
  explainUrl,
  parseKey,
  parseUrl,
} from "../../../../lib/providers/cloudstack/settings/text_forms.ts";

describe("parseUrl()", () => {
  test.each([
    ["https://cs.example.com/client/api", "https://cs.example.com/client/api"],
    [" https://CS.example.com:8443/client/api/ ", "https://cs.example.com:8443/client/api"],
    ["http://[2001:db8::1]:8080/client/api", "http://[2001:db8::1]:8080/client/api"],
  ])("takes %j", (text, url) => {
    expect(parseUrl(text)).toBe(url);
    expect(explainUrl(text)).toBeUndefined();
  });

  test.each([
    ["cs.example.com/client/api", "has no scheme"],
    ["ftp://cs.example.com", "must be an address"],
    ["https://", "must be an address"],
    ["https://user:pa55@cs.example.com/client/api", "holds a user or password"],
    ["https://cs.example.com/client/api?command=listZones", "holds a query"],
    ["https://cs.example.com/client/#/dashboard", "holds a fragment"],
    ["", "has no scheme"],
    ["'https://cs.example.com/client/api'", "begins with a single quote"],
  ])("refuses %j, because it %s", (text, why) => {
    expect(parseUrl(text)).toBeUndefined();
    expect(explainUrl(text)).toContain(why);
    expect(explainUrl(text)).not.toContain("pa55");
  });
});

describe("explainOddPath()", () => {
  test("finds the address of the web page odd", () => {
    expect(explainOddPath("https://cs.example.com/client/api")).toBeUndefined();
    expect(explainOddPath("https://cs.example.com/client")).toContain("/client/api");
    expect(explainOddPath("https://cs.example.com/")).toContain("/client/api");
  });
});

describe("parseKey()", () => {
  test("takes a key without the blanks around it", () => {
    expect(parseKey(" plgWJfZK4-_A\n")).toBe("plgWJfZK4-_A");
  });

  test.each(["", " \n", "two words", "line\nbreak", "schlüssel"])("refuses %j", (text) => {
    expect(parseKey(text)).toBeUndefined();
  });
});
