/**
 * Probes and metrics.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { Hono } from "hono";
import { createPages } from "../../lib/http/pages.ts";
import { type Check, createProbeRoutes } from "../../lib/http/probes.ts";

const CHECKS: readonly Check[] = [
  { name: "inventory", probes: ["readyz"], isOk: () => false },
  { name: "stores", probes: ["readyz"], isOk: () => true, note: () => undefined },
  { name: "loop", probes: ["livez", "healthz"], isOk: () => true },
];
const THROWING: readonly Check[] = [
  {
    name: "broken",
    probes: ["livez"],
    isOk: () => {
      throw new Error("s3cret");
    },
  },
];

function toRoutes(changes: Partial<Parameters<typeof createProbeRoutes>[0]> = {}): Hono {
  return createProbeRoutes({
    checks: CHECKS,
    renderMetrics: () => "up 1\n",
    loadPages: async () => new Hono(),
    ...changes,
  });
}

async function ask(path: string, checks = CHECKS): Promise<[number, string]> {
  const response = await toRoutes({ checks }).request(path);
  return [response.status, await response.text()];
}

const FAILED = [
  "[+]ping ok",
  "[-]inventory failed: reason withheld",
  "[+]stores ok",
  "readyz check failed",
];
const cases: readonly [string, number, string][] = [
  ["/healthz", 200, "ok"],
  ["/livez", 200, "ok"],
  ["/livez?verbose", 200, "[+]ping ok\n[+]loop ok\nlivez check passed\n"],
  ["/healthz?verbose=1", 200, "[+]ping ok\n[+]loop ok\nhealthz check passed\n"],
  ["/readyz", 500, `${FAILED.join("\n")}\n`],
  ["/readyz?verbose", 500, `${FAILED.join("\n")}\n`],
  ["/readyz?exclude=inventory", 200, "ok"],
  [
    "/readyz?exclude=inventory&exclude=nope&verbose",
    200,
    "[+]ping ok\n[+]inventory excluded: ok\n[+]stores ok\n" +
      'warn: some health checks cannot be excluded: no matches for "nope"\nreadyz check passed\n',
  ],
  ["/readyz/stores", 200, "ok"],
  ["/readyz/ping", 200, "ok"],
  ["/readyz/inventory", 500, "internal server error: reason withheld\n"],
  ["/livez/inventory", 404, "404 page not found\n"],
  ["/metrics", 200, "up 1\n"],
];

describe("createProbeRoutes()", () => {
  test("createProbeRoutes() shows what is worth knowing of a check that passes", async () => {
    const state = { isOk: true };
    const note = (): string => "it waits";
    const check: Check = { name: "kind", probes: ["readyz"], isOk: () => state.isOk, note };
    expect(await ask("/readyz?verbose", [check])).toEqual([
      200,
      "[+]ping ok\n[+]kind ok: it waits\nreadyz check passed\n",
    ]);
    expect(await ask("/readyz", [check])).toEqual([200, "ok"]);
    state.isOk = false;
    expect((await ask("/readyz?verbose", [check]))[1]).not.toContain("waits");
  });

  test.each(cases)("createProbeRoutes() answers %s with %d", async (path, status, text) => {
    expect(await ask(path)).toEqual([status, text]);
  });

  test("createProbeRoutes() takes a check that throws as failed, and does not say why", async () => {
    expect(await ask("/livez", THROWING)).toEqual([
      500,
      "[+]ping ok\n[-]broken failed: reason withheld\nlivez check failed\n",
    ]);
    expect(await ask("/livez/broken", THROWING)).toEqual([
      500,
      "internal server error: reason withheld\n",
    ]);
  });

  test("createProbeRoutes() says what the metrics are written in", async () => {
    const response = await toRoutes().request("/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  });

  test("createProbeRoutes() loads other pages once, when a request asks for one", async () => {
    let loads = 0;
    const loadPages = async (): Promise<Hono> => {
      loads += 1;
      if (loads === 1) throw new Error("interrupted");
      return new Hono().get("/debug/:name", (context) => context.text(context.req.param("name")));
    };
    const routes = toRoutes({ loadPages });
    expect((await routes.request("/readyz/stores")).status).toBe(200);
    expect(loads).toBe(0);
    await expect(routes.request("/debug/a")).rejects.toThrow("interrupted");
    expect(await (await routes.request("/debug/b")).text()).toBe("b");
    expect((await routes.request("/other")).status).toBe(404);
    expect(loads).toBe(2);
  });

  test("createProbeRoutes() throws what a page throws", async () => {
    const readProcess = (): never => {
      throw new Error("bug");
    };
    const routes = toRoutes({
      loadPages: async () => createPages({ now: () => 0, version: "1.2.3", readProcess }),
    });
    for (const method of ["GET", "HEAD"]) {
      await expect(routes.request("/debug/process", { method })).rejects.toThrow("bug");
    }
  });
});
