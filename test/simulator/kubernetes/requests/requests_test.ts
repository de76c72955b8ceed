import { describe, expect, test } from "bun:test";
import {
  isWatch,
  mediaTypeOf,
  parseApiPath,
  readBody,
  tableOptionsOf,
  verbOf,
} from "../../../../lib/simulator/kubernetes/requests/requests.ts";

const URL_ANY = "http://127.0.0.1/";
const LEASES = "/apis/coordination.k8s.io/v1";

function withHeaders(headers: Record<string, string>, body?: string): Request {
  if (body === undefined) return new Request(URL_ANY, { headers });
  // As bytes: a body of text gets a content type of its own.
  return new Request(URL_ANY, { method: "POST", headers, body: new TextEncoder().encode(body) });
}

describe("parseApiPath()", () => {
  test.each([
    ["/api/v1/nodes", ["nodes", "", "", ""]],
    ["/api/v1/nodes/n", ["nodes", "", "n", ""]],
    ["/api/v1/nodes/n/status", ["nodes", "", "n", "status"]],
    ["/api/v1/nodes/a%20b", ["nodes", "", "a b", ""]],
    ["/api/v1/events", ["events", "", "", ""]],
    ["/api/v1/namespaces/ns/events/e", ["events", "ns", "e", ""]],
    [`${LEASES}/namespaces/ns/leases/l`, ["leases", "ns", "l", ""]],
    ["/api/v1/namespaces/ns", ["namespaces", "", "ns", ""]],
    ["/api/v1/namespaces/ns/status", ["namespaces", "", "ns", "status"]],
  ])("%s is %j", (pathname, expected) => {
    const path = parseApiPath(pathname);
    expect([path?.kind.plural, path?.namespace, path?.name, path?.subresource]).toEqual(expected);
  });

  test.each([
    "/",
    "/version",
    "/api/v1",
    "/api/v1/leases",
    "/api/v2/nodes",
    "/xyz/v1/nodes",
    "/api/v1/nodes/n/status/more",
    "/api/v1/namespaces/ns/nodes",
    "/api/v1/nodes/%zz",
  ])("%s names no object", (pathname) => {
    expect(parseApiPath(pathname)).toBeUndefined();
  });
});

test.each([
  ["GET", "/api/v1/nodes", "", "list"],
  ["HEAD", "/api/v1/nodes/n", "", "get"],
  ["GET", "/api/v1/nodes", "watch=true", "watch"],
  ["GET", "/api/v1/nodes/n", "watch=1", "watch"],
  ["GET", "/version", "watch=true", "get"],
  ["POST", "/api/v1/nodes", "", "create"],
  ["PUT", "/api/v1/nodes/n", "", "update"],
  ["PATCH", "/api/v1/nodes/n", "watch=true", "patch"],
  ["DELETE", "/api/v1/nodes/n", "", "delete"],
  ["DELETE", "/api/v1/nodes", "", "deletecollection"],
  ["OPTIONS", "/api/v1/nodes", "", "options"],
])("verbOf() %s %s?%s is %s", (method, pathname, query, expected) => {
  expect(verbOf(method, parseApiPath(pathname), new URLSearchParams(query))).toBe(expected);
});

test.each([
  ["watch=1", true],
  ["watch=true", true],
  ["watch=0", false],
  ["watch", false],
  ["", false],
])("isWatch() of %p is %p", (query, expected) => {
  expect(isWatch(new URLSearchParams(query))).toBe(expected);
});

test.each([
  ["Application/JSON; charset=utf-8", "application/json"],
  [" application/merge-patch+json ", "application/merge-patch+json"],
  ["", ""],
])("mediaTypeOf() of %p is %p", (type, expected) => {
  expect(mediaTypeOf(withHeaders({ "content-type": type }))).toBe(expected);
});

describe("readBody()", () => {
  test.each<[string, Record<string, string>]>([
    ["of type JSON", { "content-type": "application/json" }],
    ["without a type", {}],
  ])("reads JSON from a body %s", async (_title, headers) => {
    const body = await readBody(withHeaders(headers, '{"a":[1]}'), ["application/json"]);
    expect(body).toEqual({ a: [1] });
  });

  test.each([
    ["application/yaml", "a:\n  - 1\nb: x # words\n"],
    ["application/apply-patch+yaml", "a: [1]\nb: x"],
    ["application/apply-patch+yaml", '{"a":[1],"b":"x"}'],
  ])("reads a body of type %s: %p", async (type, text) => {
    const body = await readBody(withHeaders({ "content-type": type }, text), [type]);
    expect(body).toEqual({ a: [1], b: "x" });
  });

  test.each<[Record<string, string>, string, string, number]>([
    [{ "content-type": "application/yaml" }, "a: [", "application/yaml", 400],
    [{ "content-type": "text/plain" }, "{}", "application/json", 415],
    [{}, "{}", "application/merge-patch+json", 415],
    [{ "content-type": "application/json" }, "{", "application/json", 400],
    [{ "content-type": "application/json" }, "", "application/json", 400],
  ])("refuses %j with %p where %s may be, with %p", async (headers, text, allowed, code) => {
    const reading = readBody(withHeaders(headers, text), [allowed]);
    expect(await reading.catch((error: unknown) => error)).toMatchObject({ code });
  });
});

describe("tableOptionsOf()", () => {
  const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

  test.each([
    [TABLE, "", "Metadata"],
    [`${TABLE},application/json`, "includeObject=None", "None"],
    [TABLE, "includeObject=Object", "Object"],
    [TABLE, "includeObject=Else", "Metadata"],
    [`application/json;as=Table;v=v9, ${TABLE}`, "", "Metadata"],
  ])("of %s and %p gives rows with %s", (accept, query, includeObject) => {
    const options = tableOptionsOf(withHeaders({ accept }), new URLSearchParams(query), 5);
    expect<unknown>(options).toEqual({ includeObject, nowMs: 5 });
  });

  test.each([
    "application/json",
    "*/*",
    "application/*",
    `application/json,${TABLE}`,
    "application/vnd.kubernetes.protobuf, application/json",
    "application/json;as=Table;v=v9,application/json",
  ])("of %s gives objects", (accept) => {
    const request = withHeaders({ accept });
    expect(tableOptionsOf(request, new URLSearchParams(), 0)).toBeUndefined();
  });

  test("without a header Accept gives objects", () => {
    expect(tableOptionsOf(withHeaders({}), new URLSearchParams(), 0)).toBeUndefined();
  });

  test.each(["text/html", "application/vnd.kubernetes.protobuf", "application/json;as=Other"])(
    "refuses a client that takes only %s",
    (accept) => {
      const request = withHeaders({ accept });
      expect(() => tableOptionsOf(request, new URLSearchParams(), 0)).toThrow("only the following");
    },
  );
});
