import { expect, test } from "bun:test";
import { createObjectRoutes } from "../../lib/http/object_pages.ts";

const WIDGETS: ReadonlyMap<string, object> = new Map([
  ["ns/b", { name: "b", note: "\u202e" }],
  ["ns/a", { name: "a" }],
]);

const routes = createObjectRoutes({
  plural: "widgets",
  // One that is gone by the time it is described is left out.
  keys: () => [...WIDGETS.keys(), "ns/gone"],
  find: (key) => WIDGETS.get(key),
});

test("/debug/<kind> gives all objects of a kind, by their keys", async () => {
  const response = await routes.request("/debug/widgets");
  expect(response.headers.get("content-type")).toBe("application/json");
  const text = await response.text();
  expect(text).not.toContain("\u202e");
  expect(JSON.parse(text)).toEqual({ widgets: [WIDGETS.get("ns/a"), WIDGETS.get("ns/b")] });
});

test("/debug/<kind>/<namespace>/<name> gives one, or says that it is not there", async () => {
  expect(await (await routes.request("/debug/widgets/ns/a")).json()).toEqual({ name: "a" });
  const missing = await routes.request("/debug/widgets/ns/c");
  expect(missing.status).toBe(404);
  expect(await missing.json()).toEqual({ error: 'there is no "ns/c" among widgets' });
});
