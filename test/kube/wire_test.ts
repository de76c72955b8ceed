/**
 * How requests are spelled and answers read.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  hasPrecondition,
  readBody,
  toListSearch,
  toPage,
  toWatchSearch,
} from "../../lib/kube/wire.ts";

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
});

describe("hasPrecondition()", () => {
  test.each([
    [{ metadata: { resourceVersion: "7" } }, true],
    [{ metadata: { resourceVersion: null } }, false],
    [{ metadata: {} }, false],
    [{ metadata: null }, false],
    [{ spec: {} }, false],
    [[{ op: "test", path: "/metadata/resourceVersion", value: "7" }], true],
    [[{ op: "test", path: "/metadata/name", value: "7" }], false],
    [[{ op: "replace", path: "/metadata/resourceVersion", value: "7" }], false],
    [[null, "x"], false],
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
    expect(toPage(list, "/x")).toEqual({ items: list.items, resourceVersion: "7", continue: "c" });
  });

  test("takes null for no items, and an empty continue for none", () => {
    const list = { items: null, metadata: { resourceVersion: "7", continue: "" } };
    expect(toPage(list, "/x")).toEqual({ items: [], resourceVersion: "7" });
  });

  test.each([null, "text", {}, { items: [] }, { metadata: { resourceVersion: "7" } }])(
    "refuses what is no list, case %#",
    (value) => {
      expect(() => toPage(value, "/x")).toThrow('Cannot list "/x": the answer is no list');
    },
  );
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
