/**
 * All pages of one listener.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createLogger, silentLogger } from "../../lib/core/log.ts";
import { createPages } from "../../lib/http/pages.ts";
import type { ProcessView } from "../../lib/http/views.ts";

const probes = { checks: [], renderMetrics: () => "" };
const debug = {
  listNodes: () => {
    throw new Error("bug");
  },
  findNode: () => undefined,
  readInventory: () => ({ ageSeconds: null, coverage: [], counts: {} }),
  now: () => 0,
};

describe("createPages()", () => {
  test("createPages() has probes only, when not asked for more", async () => {
    const pages = createPages({ probes, log: silentLogger });
    expect((await pages.request("/readyz")).status).toBe(200);
    expect((await pages.request("/debug/nodes")).status).toBe(404);
    expect((await pages.request("/debug/")).status).toBe(404);
    expect(await (await pages.request("/")).text()).toBe("/healthz\n/livez\n/readyz\n/metrics\n");
  });

  test("createPages() lists every page it has", async () => {
    const readProcess = (): ProcessView => ({
      host: "h",
      elections: [],
      controllers: [],
      kinds: [],
    });
    const widgets = { plural: "widgets", keys: () => [], find: () => undefined };
    const objects = [widgets];
    const pages = createPages({ probes, debug, readProcess, objects, log: silentLogger });
    const forms = await (await pages.request("/debug/")).text();
    expect(forms.split("\n")).toEqual([
      "/debug/nodes",
      "/debug/nodes?format=text",
      "/debug/nodes/<name>",
      "/debug/inventory",
      "/debug/inventory?format=text",
      "/debug/process",
      "/debug/process?format=text",
      "/debug/widgets",
      "/debug/widgets/<key>",
      "",
    ]);
    const paths = (await (await pages.request("/")).text()).trimEnd().split("\n");
    expect(paths).toContain("/debug/inventory");
    expect(paths).toContain("/debug/process");
    for (const path of paths.filter((path) => path !== "/debug/nodes")) {
      expect((await pages.request(path)).status).toBe(200);
    }
  });

  test("createPages() logs a page that throws and answers 500 without the reason", async () => {
    const lines: string[] = [];
    const log = createLogger({ format: "json", write: (line) => lines.push(line), now: () => 0 });
    const response = await createPages({ probes, debug, log }).request("/debug/nodes");
    expect([response.status, await response.text()]).toEqual([500, "internal server error\n"]);
    expect(JSON.parse(lines.join(""))).toMatchObject({ path: "/debug/nodes", error: "bug" });
  });
});
