import { describe, expect, test } from "bun:test";
import {
  alreadyExists,
  ApiError,
  applyConflict,
  badRequest,
  conflict,
  expired,
  invalid,
  noSuchPath,
  notFound,
  toRefusal,
  type ErrorSubject,
} from "../../../lib/simulator/kubernetes/api_error.ts";

const NODE: ErrorSubject = { group: "", resource: "nodes", kind: "Node", name: "n" };
const LEASE: ErrorSubject = {
  group: "coordination.k8s.io",
  resource: "leases",
  kind: "Lease",
  name: "l",
};
const NAME_PROBLEM = { field: "metadata.name", reason: "FieldValueInvalid", message: "bad" };
const SPEC_PROBLEM = { field: "spec", reason: "FieldValueForbidden", message: "no" };

describe("ApiError", () => {
  test("toStatus() has no details, reason or continue when there is nothing to say", () => {
    expect(new ApiError(500, "", "broken").toStatus()).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "broken",
      code: 500,
    });
  });

  test("toStatus() puts retryAfterSeconds beside the other details", () => {
    const error = new ApiError(429, "TooManyRequests", "wait", {
      details: { name: "n" },
      retryAfterSeconds: 3,
    });
    expect(error.toStatus()["details"]).toEqual({ name: "n", retryAfterSeconds: 3 });
    const bare = new ApiError(429, "TooManyRequests", "wait", { retryAfterSeconds: 0 });
    expect(bare.toStatus()["details"]).toEqual({ retryAfterSeconds: 0 });
  });
});

test.each([
  ["notFound()", 'nodes "n" not found', 404, "NotFound", notFound(NODE)],
  ["notFound()", 'leases.coordination.k8s.io "l" not found', 404, "NotFound", notFound(LEASE)],
  ["alreadyExists()", 'nodes "n" already exists', 409, "AlreadyExists", alreadyExists(NODE)],
  [
    "conflict()",
    'Operation cannot be fulfilled on nodes "n": why',
    409,
    "Conflict",
    conflict(NODE, "why"),
  ],
  [
    "invalid()",
    'Node "n" is invalid: metadata.name: bad',
    422,
    "Invalid",
    invalid(NODE, [NAME_PROBLEM]),
  ],
  [
    "invalid()",
    'Lease.coordination.k8s.io "l" is invalid: [metadata.name: bad, spec: no]',
    422,
    "Invalid",
    invalid(LEASE, [NAME_PROBLEM, SPEC_PROBLEM]),
  ],
  [
    "noSuchPath()",
    "the server could not find the requested resource",
    404,
    "NotFound",
    noSuchPath(),
  ],
  ["badRequest()", "what", 400, "BadRequest", badRequest("what")],
  ["expired()", "too old", 410, "Expired", expired("too old")],
])("%s says %p with status %p and reason %p", (_title, message, code, reason, error) => {
  expect(error.toStatus()).toMatchObject({ code, reason, message });
});

test.each([
  ["notFound()", { name: "n", kind: "nodes" }, notFound(NODE)],
  ["alreadyExists()", { name: "l", group: LEASE.group, kind: "leases" }, alreadyExists(LEASE)],
  ["conflict()", { name: "n", kind: "nodes" }, conflict(NODE)],
  [
    "invalid()",
    { name: "l", group: LEASE.group, kind: "Lease", causes: [NAME_PROBLEM] },
    invalid(LEASE, [NAME_PROBLEM]),
  ],
  ["noSuchPath()", {}, noSuchPath()],
])("%s has the details %j", (_title, details, error) => {
  expect(error.toStatus()["details"]).toEqual(details);
});

test("conflict() blames an old version when no cause is given", () => {
  expect(conflict(NODE).message).toContain("the object has been modified");
});

test("expired() hands out a token to go on with, if there is one", () => {
  expect(expired("old", "token").toStatus()["metadata"]).toEqual({ continue: "token" });
  expect(expired("old").toStatus()["metadata"]).toEqual({});
});

test.each([
  [{ status: 409 }, [409, "Conflict"]],
  [{ status: 409, reason: "AlreadyExists" }, [409, "AlreadyExists"]],
  [{ status: 418 }, [418, undefined]],
])("toRefusal() of the rule %j is %j", (rule, expected) => {
  const { code, reason } = toRefusal(rule).toStatus();
  expect([code, reason]).toEqual(expected);
});

test("applyConflict() names each field", () => {
  expect(applyConflict([".spec.a", ".spec.b"]).toStatus()).toMatchObject({
    code: 409,
    reason: "Conflict",
    message: "Apply failed with 2 conflict(s): .spec.a, .spec.b",
    details: { causes: [{ field: ".spec.a" }, { field: ".spec.b" }] },
  });
});
