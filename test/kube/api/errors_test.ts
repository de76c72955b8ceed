/**
 * What a reply that is no success means.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { type KubeErrorKind, parseStatus, toKubeError } from "../../../lib/kube/api/errors.ts";

function toBody(fields: object): string {
  return JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", ...fields });
}

describe("toKubeError()", () => {
  const CASES: [number, string, KubeErrorKind][] = [
    [409, "Conflict", "conflict"],
    [409, "AlreadyExists", "alreadyExists"],
    [404, "NotFound", "notFound"],
    [410, "Gone", "gone"],
    [410, "Expired", "gone"],
    [400, "Expired", "gone"],
    [403, "Forbidden", "forbidden"],
    [401, "Unauthorized", "unauthorized"],
    [429, "TooManyRequests", "throttled"],
    [422, "Invalid", "invalid"],
    [400, "BadRequest", "invalid"],
    [415, "UnsupportedMediaType", "invalid"],
    [504, "Timeout", "unavailable"],
    [500, "ServerTimeout", "unavailable"],
    [500, "InternalError", "unavailable"],
    [409, "", "conflict"],
    [404, "", "notFound"],
    [410, "", "gone"],
    [503, "", "unavailable"],
    [418, "", "invalid"],
  ];
  test.each(CASES)("takes %i %p as %s", (code, reason, kind) => {
    const error = toKubeError('read "/x"', { code, body: toBody({ reason, message: "why" }) });
    expect(error).toMatchObject({ kind, code, reason: reason || undefined });
    expect(error.message).toBe(`Cannot read "/x": ${code}${reason && ` ${reason}`}: why`);
  });

  test.each([
    [404, "unavailable"],
    [401, "unauthorized"],
    [403, "forbidden"],
    [429, "throttled"],
    [302, "unavailable"],
    [502, "unavailable"],
  ] as const)("takes %i of something between us and Kubernetes as %s", (code, kind) => {
    const body = "<html><body>\n<h1>Sorry</h1></body></html>";
    const error = toKubeError('read "/x"', { code, body });
    expect(error.kind).toBe(kind);
    expect(error.message).toBe(
      `Cannot read "/x": ${code}: the answer is not from Kubernetes: Sorry`,
    );
  });

  test("says that a kind is not installed, as Kubernetes answers for an unknown group, and concludes nothing", () => {
    const error = toKubeError('list "/apis/g/v1/x"', { code: 404, body: "404 page not found\n" });
    expect(error.kind).toBe("unavailable");
    expect(error.message).toBe(
      'Cannot list "/apis/g/v1/x": 404: the CustomResourceDefinition of this kind is not installed, or this is not ' +
        "Kubernetes",
    );
  });

  test("takes the pause from the header, else from the Status, and of that five minutes at most", () => {
    const body = toBody({ details: { retryAfterSeconds: 3 } });
    const long = toBody({ details: { retryAfterSeconds: 1e308 } });
    expect(toKubeError("read", { code: 429, body: long }).retryAfterMs).toBe(300_000);
    expect(toKubeError("read", { code: 429, body, retryAfterMs: 1000 }).retryAfterMs).toBe(1000);
    expect(toKubeError("read", { code: 429, body }).retryAfterMs).toBe(3000);
    expect(toKubeError("read", { code: 429, body: "" }).retryAfterMs).toBeUndefined();
  });
});

describe("parseStatus()", () => {
  test("reads text and values alike", () => {
    const status = { kind: "Status", code: 410, reason: "Expired", message: "m" };
    const expected = { code: 410, reason: "Expired", message: "m" };
    expect(parseStatus(status)).toEqual(expected);
    expect(parseStatus(JSON.stringify(status))).toEqual(expected);
  });

  test.each([undefined, null, "", "{", "[]", '{"kind":"Node"}', 7])(
    "takes %p for none",
    (value) => {
      expect(parseStatus(value)).toBeUndefined();
    },
  );
});

test("toKubeError() shortens what Kubernetes says, too", () => {
  const body = JSON.stringify({ kind: "Status", message: "x".repeat(100_000) });
  expect(toKubeError("list", { code: 422, body }).message.length).toBeLessThan(2_100);
});

test.each(["constructor", "toString", "__proto__"])(
  "toKubeError() takes the reason %s, which every object has, for an unknown one",
  (reason) => {
    const body = JSON.stringify({ kind: "Status", reason });
    expect(toKubeError("list", { code: 409, body }).kind).toBe("conflict");
  },
);

test("toKubeError() names the fields that Kubernetes refuses, and leaves out what is no field", () => {
  const taken = {
    reason: "FieldValueInvalid",
    message: "Invalid value: 30001: provided port is already allocated",
    field: "spec.ports[0].nodePort",
  };
  const body = toBody({ reason: "Invalid", details: { causes: [taken, { field: 1 }, null] } });
  expect(toKubeError("patch", { code: 422, body }).fields).toEqual([
    { field: taken.field, message: taken.message },
  ]);
  const other = toBody({ reason: "Invalid", details: { causes: "none" } });
  expect(toKubeError("patch", { code: 422, body: other }).fields).toEqual([]);
});
