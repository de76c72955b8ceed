import { expect, test } from "bun:test";
import { Hono } from "hono";
import { passOn, wantsPage } from "../../../lib/http/page/wants_page.ts";

const ROUTES = new Hono()
  .get("/", async (context, next) =>
    wantsPage(context) ? context.text("page") : await passOn(context, next),
  )
  .get("/", (context) => context.text("data"));

test.each([
  ["/", "text/html", "page"],
  ["/?format=json", "text/html", "data"],
  ["/", "application/json", "data"],
])("wantsPage() of %s with %s gives the %s", async (path, accept, expected) => {
  const response = await ROUTES.request(path, { headers: { accept } });
  expect(await response.text()).toBe(expected);
});

test("passOn() tells caches that the answer depends on the header", async () => {
  const response = await ROUTES.request("/", { headers: { accept: "application/json" } });
  expect(response.headers.get("vary")).toBe("Accept");
});
