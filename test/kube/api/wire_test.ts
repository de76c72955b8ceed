/**
 * How requests are spelled and answers read.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { LEASES } from "../../../lib/kube/kinds/lease.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import {
  type Call,
  checkDeleted,
  GET,
  hasPrecondition,
  readBody,
  toCollection,
  toDeletion,
  toListSearch,
  toObject,
  toPage,
  toRequest,
  toUserAgent,
  toWatchSearch,
  toWhat,
} from "../../../lib/kube/api/wire.ts";

describe("toListSearch()", () => {
  test.each([
    [{}, ""],
    [{ namespace: "n" }, ""],
    [{ limit: 500, resourceVersion: "0" }, "?limit=500&resourceVersion=0"],
    [{ continue: "a=b", resourceVersion: "7" }, "?continue=a%3Db"],
    [
      { labelSelector: "a in (b)", fieldSelector: "x=y" },
      "?labelSelector=a+in+%28b%29&fieldSelector=x%3Dy",
    ],
  ])("spells a query, case %#", (query, expected) => {
    expect(toListSearch(query)).toBe(expected);
  });
});

describe("toWatchSearch()", () => {
  test("asks for bookmarks, and keeps a version of 0", () => {
    expect(toWatchSearch({ resourceVersion: "0", timeoutSeconds: 300 })).toBe(
      "?watch=1&allowWatchBookmarks=true&resourceVersion=0&timeoutSeconds=300",
    );
  });

  test("asks for what is selected alone", () => {
    const selection = { labelSelector: "a=b", fieldSelector: "x=y" };
    expect(toWatchSearch({ resourceVersion: "7", timeoutSeconds: 30, ...selection })).toBe(
      "?watch=1&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=30&labelSelector=a%3Db&fieldSelector=x%3Dy",
    );
  });
});

describe("hasPrecondition()", () => {
  test.each([
    [{ metadata: { resourceVersion: "7" } }, true],
    [{ metadata: { resourceVersion: null } }, false],
    [{ metadata: {} }, false],
    [{ metadata: null }, false],
    [{ spec: {} }, false],
    [[], false],
  ])("finds a version that the patch insists on, case %#", (body, expected) => {
    expect(hasPrecondition(body)).toBe(expected);
  });
});

describe("toPage()", () => {
  test("reads items, version and the next page", () => {
    const list = {
      items: [{ metadata: { name: "a" } }],
      metadata: { resourceVersion: "7", continue: "c" },
    };
    expect(toPage(list, NODES, "/x")).toEqual({
      items: list.items,
      resourceVersion: "7",
      continue: "c",
    });
  });

  test("takes null for no items, and an empty continue for none", () => {
    const list = { items: null, metadata: { resourceVersion: "7", continue: "" } };
    expect(toPage(list, NODES, "/x")).toEqual({ items: [], resourceVersion: "7" });
  });

  test.each([null, "text", {}, { items: [] }, { metadata: { resourceVersion: "7" } }])(
    "refuses what is no list, case %#",
    (value) => {
      expect(() => toPage(value, NODES, "/x")).toThrow(
        'Cannot list "/x": the answer is not a list',
      );
    },
  );
});

test("toPage() takes no list of another kind, and none of which an object is damaged", () => {
  const metadata = { resourceVersion: "7" };
  const node = { metadata: { name: "a", labels: { a: "b" } } };
  expect(toPage({ kind: "NodeList", metadata, items: [node] }, NODES, "/x").items).toHaveLength(1);
  expect(() => toPage({ kind: "PodList", metadata, items: [node] }, NODES, "/x")).toThrow(
    "the answer is not a list",
  );
  for (const [damaged, why] of [
    [null, "it is not an object"],
    [{ metadata: { name: "" } }, "it has no name"],
    [{ metadata: { name: "a", labels: { a: 1 } } }, "metadata.labels has a wrong type"],
  ] as const) {
    expect(() => toPage({ metadata, items: [node, damaged] }, NODES, "/x")).toThrow(
      `Cannot list "/x": object 1 is damaged: ${why}`,
    );
  }
});

describe("toObject()", () => {
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a" } };

  test("takes the object of that name; a review has none", () => {
    expect<object>(toObject(lease, LEASES, { what: "read", name: "a" })).toBe(lease);
    const { metadata: _metadata, ...review } = lease;
    expect<object>(toObject(review, LEASES, { what: "create" })).toBe(review);
  });

  test.each<[unknown]>([
    [null],
    ["<html>signed in</html>"],
    [""],
    [[]],
    [{}],
    [{ kind: "Status", apiVersion: "v1", status: "Success" }],
    [{ ...lease, kind: "Node" }],
    [{ ...lease, apiVersion: "v1" }],
    [{ ...lease, metadata: { name: "b" } }],
    [{ ...lease, metadata: "a" }],
  ])("takes nothing else for it, as %j", (value) => {
    const error = 'Cannot read "/x": the answer is not a Lease';
    expect(() => toObject(value, LEASES, { what: 'read "/x"', name: "a" })).toThrow(error);
  });
});

test("checkDeleted() takes a Status or the object, and no page of a proxy", () => {
  expect(() => checkDeleted({ kind: "Status", status: "Success" }, NODES, "delete")).not.toThrow();
  expect(() => checkDeleted({ kind: "Node" }, NODES, "delete")).not.toThrow();
  for (const value of [
    "<html>",
    "",
    null,
    {},
    { kind: "Pod" },
    { kind: "Status", status: "Failure" },
  ]) {
    expect(() => checkDeleted(value, NODES, "delete")).toThrow("does not come from Kubernetes");
  }
});

test("toDeletion() is repeatable with a precondition", () => {
  expect(toDeletion({ uid: "u" })).toMatchObject({
    body: { preconditions: { uid: "u" } },
    repeatable: true,
  });
  expect(toDeletion({ propagationPolicy: "Foreground" })).toEqual({
    body: { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Foreground" },
    repeatable: false,
  });
  expect(toDeletion({})).toEqual({
    body: { apiVersion: "v1", kind: "DeleteOptions" },
    repeatable: false,
  });
});

test("toUserAgent() names version, platform and purpose", () => {
  expect(toUserAgent("1.2", undefined)).toMatch(/^landfall\/1\.2 \(\w+\/\w+\) kubernetes$/);
  expect(toUserAgent("1.2", "leader-election")).toEndWith("kubernetes/leader-election");
});

describe("readBody()", () => {
  const json = { headers: { "content-type": "application/json; charset=utf-8" } };

  test("reads JSON as a value and all else as text", async () => {
    expect(await readBody(new Response('{"a":1}', json), "read")).toEqual({ a: 1 });
    expect(await readBody(new Response("ok"), "read")).toBe("ok");
  });

  test("refuses broken JSON", async () => {
    const reading = readBody(new Response('{"a":', json), 'read "/x"');
    await expect(reading).rejects.toMatchObject({
      kind: "unavailable",
      message: 'Cannot read "/x": the answer is not JSON',
    });
  });
});

test("readBody() reads to a bound", async () => {
  const create = (mebibytes: number): Response => {
    let left = mebibytes;
    const body = new ReadableStream({
      pull(controller) {
        if (left === 0) controller.close();
        else controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
        left -= 1;
      },
    });
    return new Response(body);
  };
  await expect(readBody(create(17), 'read "/x"')).rejects.toThrow(
    'Cannot read "/x": the answer is longer than 16Mi',
  );
});

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
