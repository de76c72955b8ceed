/**
 * What codes and replies of CloudStack mean.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import type { Reply } from "../../../../lib/cloud_http/client.ts";
import { isJsonType, readBody } from "../../../../lib/providers/cloudstack/session/reply.ts";

const LIST = "listVirtualMachines";

function toError(code: number, text = "", more: object = {}): ApiError {
  return new ApiError({ code, text }, { command: LIST, secrets: [], ...more });
}

describe("ApiError", () => {
  test.each([
    [401, "denied", "unauthorized", "check api-key and secret-key"],
    [405, "denied", "denied", "only by POST"],
    [411, "denied", "twoFactors", "two factors"],
    [429, "throttled", "throttled", "too many requests"],
    [430, "protocol", "invalid", "not valid"],
    [431, "protocol", "invalid", "does not exist"],
    [432, "denied", "forbidden", "the role of the account has no listVirtualMachines"],
    [503, "unreachable", "serverError", "try again later"],
    [530, "unreachable", "serverError", "log of the management server"],
    [531, "denied", "forbidden", "check project-id"],
    [532, "denied", "limit", "limit"],
    [533, "unreachable", "serverError", "capacity"],
    [534, "unreachable", "serverError", "does not answer"],
    [535, "denied", "limit", "limit"],
    [536, "protocol", "conflict", "in use"],
    [537, "protocol", "conflict", "conflicts"],
    [599, "unreachable", "serverError", "try again later"],
    [444, "protocol", "refused", "not expected"],
  ] as const)("%i is %s, with the word %s and what to do: %s", (code, kind, word, text) => {
    const error = toError(code, "said");
    expect(error).toBeInstanceOf(CloudError);
    expect(error).toMatchObject({ kind, code, status: code, explanation: { word } });
    expect(error.message).toStartWith(`CloudStack answered ${code} (said) to ${LIST}: `);
    expect(error.message).toContain(text);
    expect(error.explanation.advice).toMatch(/^[a-z].*[^.]$/);
  });

  test("a 431 about the project says which setting is wrong, and is no word about a VM", () => {
    const text =
      "Unable to execute API command listvirtualmachines due to invalid value. Invalid parameter projectid value=p " +
      "due to incorrect long value format, or entity does not exist";
    expect(toError(431, text)).toMatchObject({
      kind: "denied",
      unknownId: "p",
      message: expect.stringContaining("there is no project with this ID; check project-id"),
    });
  });

  test.each([
    [-720_000, "its clock is 12m0s behind this machine's"],
    [720_400, "its clock is 12m0s ahead of this machine's"],
    [-60_000, "its clock is 1m0s behind this machine's"],
    [59_000, "the keys or the signature are wrong; check"],
    [undefined, "the keys or the signature are wrong, or a clock is"],
  ])("a 401 from a server whose clock differs by %p ms says: %s", (clockAheadMs, words) => {
    const { message } = toError(401, "", { clockAheadMs });
    expect(message).toContain(words);
    expect(message).toContain("api-key and secret-key");
  });

  test.each([
    ["after a request ended", 900_000, "correct the clocks; if that does not help, check api-key"],
    ["while a request is valid", 300_000, "their files; if that does not help, correct the clocks"],
    ["before a request begins", -900_000, "their files; if that does not help, correct the clocks"],
  ])("a 401 blames the clock first only if the server's is %s", (_when, clockAheadMs, words) => {
    const { explanation } = toError(401, "", { clockAheadMs });
    expect(explanation.advice).toContain(words);
    expect(explanation.problem.includes("keys or the signature are wrong")).toBe(
      clockAheadMs !== 900_000,
    );
  });

  test.each([
    [432, "words of the server", false],
    [530, "words of the server", true],
  ])("explains a %i with %j: %p", (code, words, isShown) => {
    const { explanation, message } = toError(code, words);
    expect(explanation.problem.includes(words)).toBe(isShown);
    expect(message).toContain(words);
    expect(message).toEndWith(`; ${explanation.advice}`);
  });

  test.each([
    ["account api limit, please retry after [640] ms.", 640],
    ["retry after 1200 ms", 1_200],
    ["retry after [999999999] ms.", 300_000],
    ["later", undefined],
  ])("a 429 that says %j asks for %p ms", (text, ms) => {
    expect(toError(429, text).retryAfterMs).toBe(ms);
  });

  test.each([
    [
      431,
      "Unable to execute API command listvirtualmachines due to invalid value. Invalid parameter id " +
        "value=AAAAAAAA-1111-4111-8111-AAAAAAAAAAAA due to incorrect long value format, or entity does not exist " +
        "or due to incorrect parameter annotation for the field in api cmd class.",
      "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa",
    ],
    [431, "Invalid value for pagesize", undefined],
    [530, "value=a due to incorrect long value format, or entity does not exist", undefined],
  ])("knows of which ID a %i says that nothing has it", (code, text, id) => {
    expect(toError(code, text).unknownId).toBe(id);
  });

  test("shows no secret, no control character, and not too much", () => {
    const text = `${"k".repeat(20)}\u001b[31m\nkey-1 ${"x".repeat(1_000)}`;
    const { message } = toError(530, text, { secrets: ["key-1"] });
    expect(message).not.toContain("key-1");
    expect(message).toContain("(secret)");
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(500);
  });
});

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
