/**
 * How requests are spelled and answers read.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { LEASES } from "../../../lib/kube/kinds/lease.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import {
  readBody,
  toDeleted,
  toListSearch,
  toObject,
  toPage,
  toWatchSearch,
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
  test("asks for what is selected alone", () => {
    const selection = { labelSelector: "a=b", fieldSelector: "x=y" };
    expect(toWatchSearch({ resourceVersion: "7", timeoutSeconds: 30, ...selection })).toBe(
      "?watch=1&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=30&labelSelector=a%3Db&fieldSelector=x%3Dy",
    );
  });
});

describe("toPage()", () => {
  test("takes null for no items, and an empty continue for none", () => {
    const list = { items: null, metadata: { resourceVersion: "7", continue: "" } };
    expect(toPage(list, NODES)).toEqual({ items: [], resourceVersion: "7" });
  });

  test.each([null, "text", {}, { items: [] }, { metadata: { resourceVersion: "7" } }])(
    "refuses what is no list, case %#",
    (value) => {
      expect(() => toPage(value, NODES)).toThrow("the answer is not a list");
    },
  );
});

test("toPage() takes no list of another kind, and none of which an object is damaged", () => {
  const metadata = { resourceVersion: "7" };
  const node = { metadata: { name: "a", labels: { a: "b" } } };
  expect(toPage({ kind: "NodeList", metadata, items: [node] }, NODES).items).toHaveLength(1);
  expect(() => toPage({ kind: "PodList", metadata, items: [node] }, NODES)).toThrow(
    "the answer is not a list",
  );
  for (const [damaged, why] of [
    [null, "it is not an object"],
    [{ metadata: { name: "" } }, "it has no name"],
    [{ metadata: { name: "a", labels: { a: 1 } } }, "metadata.labels has a wrong type"],
  ] as const) {
    expect(() => toPage({ metadata, items: [node, damaged] }, NODES)).toThrow(
      `object 1 is damaged: ${why}`,
    );
  }
});

describe("toObject()", () => {
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a" } };

  test("takes the object of that name; a review has none", () => {
    expect<object>(toObject(lease, LEASES, "a")).toBe(lease);
    const { metadata: _metadata, ...review } = lease;
    expect<object>(toObject(review, LEASES)).toBe(review);
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
    expect(() => toObject(value, LEASES, "a")).toThrow("the answer is not a Lease of that name");
  });
});

test("toDeleted() takes a Status or the object, and no page of a proxy", () => {
  const read = (value: unknown) => toDeleted(value, NODES);
  const last = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };
  expect(read({ kind: "Status", status: "Success" })).toBeUndefined();
  // Some kinds answer with the last state of what is gone.
  expect(read(last)).toBeUndefined();
  const held = { ...last, metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  expect(read(held)).toBe(held as never);
  for (const value of [
    "<html>",
    "",
    null,
    {},
    { kind: "Pod" },
    { kind: "Status", status: "Failure" },
  ]) {
    expect(() => read(value)).toThrow("does not come from Kubernetes");
  }
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
  await expect(readBody(create(17))).rejects.toThrow("the answer is longer than 16Mi");
});
