import { expect, test } from "bun:test";
import { type Call, GET, toCollection, toRequest, toWhat } from "../../../lib/kube/api/call.ts";

const CONTEXT = { userAgent: "landfall", deadlineMs: 30_000 } as const;

test("toRequest() names the request without its query, and sends no body where there is none", () => {
  const call: Call = { ...GET, path: "/api/v1/nodes?limit=1" };
  expect(toRequest(call, CONTEXT)).toEqual({
    method: "GET",
    path: "/api/v1/nodes?limit=1",
    headers: { accept: "application/json", "user-agent": "landfall" },
    what: 'read "/api/v1/nodes"',
    repeatable: true,
    beforeSend: undefined,
    deadlineMs: 30_000,
  });
});

test("toRequest() sends a body as JSON, with its type", () => {
  const call: Call = {
    method: "PATCH",
    verb: "patch",
    path: "/api/v1/nodes/a",
    body: { spec: {} },
    contentType: "application/merge-patch+json",
    repeatable: false,
  };
  expect(toRequest(call, CONTEXT)).toMatchObject({
    headers: { "content-type": "application/merge-patch+json" },
    body: '{"spec":{}}',
    repeatable: false,
  });
});

test("toWhat() names verb and path for errors", () => {
  expect(toWhat({ verb: "list", path: "/api/v1/nodes?limit=1" })).toBe('list "/api/v1/nodes"');
});

test("toCollection() has a namespace only when there is one", () => {
  expect([toCollection(undefined), toCollection("a")]).toEqual([{}, { namespace: "a" }]);
});
