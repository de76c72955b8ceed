/**
 * Forms of addresses and tokens.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  explainToken,
  explainUrl,
  parseToken,
  parseUrl,
} from "../../../../lib/providers/xenorchestra/settings/text_forms.ts";

describe("parseUrl()", () => {
  test.each([
    [" https://xo.example.com/ ", "https://xo.example.com"],
    ["https://xo.example.com:443/sub//", "https://xo.example.com/sub"],
    ["http://xo/rest/v0", "http://xo"],
    ["http://xo//rest/v0/", "http://xo"],
    ["http://xo/sub/rest/v0", "http://xo/sub"],
    ["http://xo/rest/v0/vms", "http://xo/rest/v0/vms"],
    ["http://xo/interest/v0", "http://xo/interest/v0"],
    ["https://u:p@xo", undefined],
  ])("reads %j as %j", (text, url) => {
    expect(parseUrl(text)).toBe(url);
  });
});

describe("explainUrl()", () => {
  test.each([
    ["xo.example.com", "begin it with https://"],
    ["xo.example.com/s3cret", "begin it with https://"],
    ["xo.example.com:8443", "begin it with https://"],
    ["localhost:8443/s3cret", "begin it with https://"],
    ["10.0.0.1:443", "begin it with https://"],
    ["[fd00::1]:443", "begin it with https://"],
    ["//xo.example.com", "begin it with https://"],
    ["wss://xo/s3cret", "is the address of a WebSocket: write https:// instead of wss://"],
    ["WS://xo", "is the address of a WebSocket: write http:// instead of ws://"],
    ["ftp://xo", "for example https://"],
    ["https://", "for example https://"],
    ["https://xo/v6", "remove /v6"],
    ["https://xo/v6/", "remove /v6"],
    ["https://xo/v5", "remove /v5"],
    ["https://xo/sub/v6/pool/s3cret", "remove /v6"],
    ["https://xo/v6/#/pool/s3cret", "remove /v6"],
    ["https://user:s3cret@xo", "holds a user or password"],
    ["https://s3cret@xo", "holds a user or password"],
    ["https://:s3cret@xo", "holds a user or password"],
    ["https://xo/?token=s3cret", "holds a query"],
    ["https://xo/?", "holds a query"],
    ["https://xo/#s3cret", "holds a fragment"],
  ])("says what is wrong with %j without repeating it", (text, problem) => {
    expect(explainUrl(text)).toContain(problem);
    expect(explainUrl(text)).not.toContain("s3cret");
  });

  test("has nothing against a good address", () => {
    for (const url of ["https://xo:8443/sub", "https://xo/v60", "http://v6.xo"]) {
      expect(explainUrl(url)).toBeUndefined();
    }
  });
});

describe("parseToken()", () => {
  test("drops blanks around it, and refuses what explainToken() has something against", () => {
    expect(parseToken(" s3cret\n")).toBe("s3cret");
    expect(parseToken("s3 cret")).toBeUndefined();
  });
});

describe("explainToken()", () => {
  test.each([
    ["  ", "is blank"],
    ["s3crét", "not ASCII"],
    ["s3c ret", "a blank"],
    ["s3c\nret", "a line break"],
    ["s3c\0ret", "control character"],
    ["s3c,ret", "a comma"],
    ["s3c;ret", "a semicolon"],
    ['"s3cret"', "a quotation mark"],
    ["s3c\\ret", "a backslash"],
  ])("says what is wrong with %j without repeating it", (text, problem) => {
    expect(explainToken(text)).toContain(problem);
    expect(explainToken(text)).not.toMatch(/s3c|ret/);
  });

  test("accepts every other visible ASCII character", () => {
    const all = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join("");
    expect(explainToken(all.replaceAll(/[",;\\]/g, ""))).toBeUndefined();
  });
});
