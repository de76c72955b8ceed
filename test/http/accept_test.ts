import { expect, test } from "bun:test";
import { wantsHtml } from "../../lib/http/accept.ts";

const CHROME =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

test.each([
  [CHROME, true],
  ["text/html", true],
  ["Text/HTML ; q=0.5", true],
  ["application/json;q=0.5, text/html", true],
  ["application/json, text/html;q=0.9", false],
  ["text/plain, text/html;q=0.9", false],
  ["text/html;q=0, */*", false],
  ["text/html;q=soon", false],
  ["*/*", false],
  ["text/*", false],
  ["application/json", false],
  ["", false],
  [undefined, false],
])("wantsHtml() takes %p as %p", (accept, expected) => {
  expect(wantsHtml(accept)).toBe(expected);
});
