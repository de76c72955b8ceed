/**
 * The envelope of an answer, and replies that have none.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Reply } from "../../../../lib/cloud_http/http.ts";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import { isJsonType, readBody } from "../../../../lib/providers/cloudstack/session/reply.ts";

const ASKED = { command: "listZones", secrets: [] };

function toReply(value: unknown, status = 200): Reply {
  return { status, contentType: "application/json; charset=UTF-8", json: { value } };
}

function read(reply: Reply): unknown {
  try {
    return readBody(reply, ASKED);
  } catch (error) {
    return error;
  }
}

describe("readBody()", () => {
  test.each([
    [{ listzonesresponse: { count: 1, zone: [] } }, { count: 1, zone: [] }],
    [{ listzonesresponse: {} }, {}],
    [{ anyresponse: { id: "a" } }, { id: "a" }],
  ])("takes what is under the single key of %j", (value, body) => {
    expect(read(toReply(value))).toEqual(body);
  });

  test("a refusal is an ApiError, under any key, and with any status", () => {
    const refusal = { errorcode: 432, errortext: "no" };
    for (const reply of [
      toReply({ listzonesresponse: refusal }, 432),
      toReply({ errorresponse: refusal }, 432),
      toReply({ errorresponse: { ...refusal, errorcode: "432" } }, 432),
      toReply({ errorresponse: refusal }, 200),
    ]) {
      expect(read(reply)).toBeInstanceOf(ApiError);
      expect(read(reply)).toMatchObject({ code: 432, kind: "denied" });
    }
  });

  test.each([
    [null],
    [[]],
    ["text"],
    [7],
    [{}],
    [{ a: {}, b: {} }],
    [{ a: [] }],
    [{ a: null }],
    [{ a: "text" }],
  ] as unknown[][])("JSON of another shape is no answer: %j", (value) => {
    expect(read(toReply(value))).toMatchObject({ kind: "protocol" });
    expect(read(toReply(value))).not.toBeInstanceOf(ApiError);
  });

  test.each([
    [200, "protocol", "check api-url"],
    [302, "protocol", "check api-url"],
    [401, "denied", "something on the way refuses"],
    [403, "denied", "something on the way refuses"],
    [404, "protocol", "check api-url"],
    [429, "throttled", "too many requests"],
    [500, "unreachable", "try again later"],
    [502, "unreachable", "try again later"],
    [504, "unreachable", "try again later"],
  ] as const)("HTML with %i is %s", (status, kind, advice) => {
    const error = read({ status, contentType: "text/html", retryAfterMs: 7_000 });
    expect(error).toMatchObject({ kind, status, retryAfterMs: 7_000 });
    expect(String(error)).toContain(advice);
    expect(error).not.toBeInstanceOf(ApiError);
  });

  test("damaged JSON is not said to be another server's", () => {
    const error = read({ status: 200, contentType: "application/json" });
    expect(String(error)).toContain("damaged JSON to listZones: something on the way");
  });

  test("JSON of a proxy with a bad status is no answer", () => {
    expect(read(toReply({ error: { message: "no upstream" } }, 502))).toMatchObject({
      kind: "unreachable",
    });
  });
});

describe("isJsonType()", () => {
  test.each([
    ["application/json; charset=UTF-8", true],
    ["text/javascript; charset=UTF-8", true],
    ["text/html", false],
    ["", false],
  ])("of %j is %p", (type, isJson) => expect(isJsonType(type)).toBe(isJson));
});
