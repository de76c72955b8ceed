import { expect, test } from "bun:test";
import {
  toForbidden,
  toHtml,
  toJson,
  toNotFound,
  toStatus,
  toUnknownRoute,
} from "../../../lib/simulator/xenorchestra/replies.ts";

test("toJson() indents by two, and gives the length in bytes and an ETag", async () => {
  const response = toJson({ é: 1 });
  expect(response.headers.get("content-length")).toBe("13");
  expect(response.headers.get("etag")).toMatch(/^W\/"d-.{27}"$/);
  expect(await response.text()).toBe('{\n  "é": 1\n}');
});

test("toJson() says how to sign in with 401 only", () => {
  expect(toJson({}, 401).headers.get("www-authenticate")).toBe('Basic realm="xo"');
  expect(toJson({}, 403).headers.has("www-authenticate")).toBe(false);
});

test.each<[string, (etag: string) => Record<string, string>, number]>([
  ["unasked", () => ({}), 200],
  ["asked for anything but this", (etag) => ({ "if-none-match": etag }), 304],
  ["so, by a strong name", (etag) => ({ "if-none-match": etag.slice(2) }), 304],
  ["so, by one of several", (etag) => ({ "if-none-match": `"a", ${etag}` }), 304],
  ["asked for nothing at all", () => ({ "if-none-match": "*" }), 304],
  ["asked for anything but another", () => ({ "if-none-match": 'W/"a"' }), 200],
  [
    "asked through every cache",
    (etag) => ({ "if-none-match": etag, "cache-control": "no-cache" }),
    200,
  ],
  [
    "asked through stale caches",
    (etag) => ({ "if-none-match": etag, "cache-control": "max-age=0" }),
    304,
  ],
])("toJson() %s answers as Express does", (_title, toHeaders, expected) => {
  const headers = toHeaders(toJson([1]).headers.get("etag") ?? "");
  const request = new Request("http://127.0.0.1/", { headers });
  expect(toJson([1], 200, request).status).toBe(expected);
  expect(toJson([1], 404, request).status).toBe(404);
});

test("toNotFound() and toForbidden() name the object", async () => {
  expect(await toNotFound("x", "VM").json()).toEqual({
    error: "no such VM x",
    data: { id: "x", type: "VM" },
  });
  const missing = { missingPrivileges: [{ objectId: "x", action: "read", resource: "vm" }] };
  expect(await toForbidden("x", "vm").json()).toMatchObject({ data: missing });
});

test("toHtml() and toUnknownRoute() are pages", async () => {
  expect(await toHtml(502, "Bad", "gateway").text()).toContain("<pre>gateway</pre>");
  const page = toUnknownRoute("GET", "/x");
  expect(page.status).toBe(404);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(await page.text()).toContain("<pre>Cannot GET /x</pre>");
});

test("toStatus() has an error for any status", async () => {
  expect(await toStatus(418).json()).toEqual({ error: "status 418" });
  expect(toStatus(429, 3).headers.get("retry-after")).toBe("3");
});
