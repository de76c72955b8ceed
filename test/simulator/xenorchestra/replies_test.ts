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
