/**
 * The pages of Vinos in a real browser.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { findBarriers, hasBrowser, startBrowser } from "../../support/page/browser.ts";
import { toPages } from "../../support/page/pages.ts";
import { SHORT, toSipSource } from "../../support/page/sip_cluster_views.ts";
import { MIXED, toVinoSource, WELL } from "../../support/page/vino_views.ts";

const PATHS = ["", "/tenants/mixed", "/tenants/well?machine=vino-well-worker-1", "/tenants/none"];
const WIDTHS = [390, 1_200];

describe.skipIf(!hasBrowser())("the pages of Vinos in a browser", () => {
  let browser: Browser;
  const message = "pool paris is lost. ".repeat(20);
  const event = {
    type: "Warning",
    reason: "MachineFailure",
    message,
    count: 1,
    at: "2026-01-01T00:00:00Z",
  } as const;
  const pages = toPages({
    vinos: toVinoSource([MIXED, Object.assign({ events: [event] }, WELL)]),
    sipClusters: toSipSource([
      {
        ...SHORT,
        state: "working",
        conditions: [{ type: "Ready", status: "False", reason: "Waiting", message }],
      },
    ]),
  });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: pages.fetch });

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop(true);
  });

  async function look<T>(
    path: string,
    options: BrowserContextOptions,
    read: (page: Awaited<ReturnType<Browser["newPage"]>>) => Promise<T>,
  ): Promise<T> {
    const context = await browser.newContext({ bypassCSP: true, ...options });
    try {
      const page = await context.newPage();
      await page.goto(new URL(`/debug/vinos${path}`, server.url).href);
      return await read(page);
    } finally {
      await context.close();
    }
  }

  describe.each(["light", "dark"] as const)("in %s", (colorScheme) => {
    test.each(PATHS)("have no barrier that axe finds, and fit: %p", async (path) => {
      for (const width of WIDTHS) {
        const viewport = { width, height: 900 };
        const [barriers, shown] = await look(path, { colorScheme, viewport }, async (page) => [
          await findBarriers(page),
          await page.evaluate("document.documentElement.scrollWidth"),
        ]);
        expect([path, width, barriers, shown]).toEqual([path, width, [], width]);
      }
    });
  });

  test("give a column room for its words: states have a wide one only if one has a reason", async () => {
    const readWidths = (path: string, table: string): Promise<readonly number[]> =>
      look(path, { viewport: { width: 1_280, height: 900 } }, (page) =>
        page.evaluate(
          `[...document.querySelectorAll("table.${table} th[scope=col]")].map((cell) => cell.offsetWidth)`,
        ),
      );
    const [name = 0, state = 0, , , host = 0] = await readWidths("/tenants/well", "machines");
    expect([name > 1.5 * state, host > state]).toEqual([true, true]);
    const [, reason = 0] = await readWidths("/tenants/mixed", "machines");
    expect(reason).toBeGreaterThan(1.3 * state);
    const [type = 0, text = 0] = await readWidths("/tenants/well", "events");
    expect(text).toBeGreaterThan(2 * type);
    const list = await readWidths("/../sipclusters", "sips");
    expect(list[1]).toBeGreaterThan(0.4 * list.reduce((sum, width) => sum + width, 0));
  });

  test("lead from a machine to its parts, without a script", async () => {
    await look("", { javaScriptEnabled: false }, async (page) => {
      await page.getByRole("link", { name: "tenants/mixed worker-3" }).click();
      expect(new URL(page.url()).search).toBe("?machine=vino-mixed-worker-3");
      expect(await page.locator("tr.l-differs").innerText()).toMatch(/CPUs\s+4\s+2\s+differs/);
      await page.getByRole("link", { name: "All machines of this Vino" }).click();
      expect(await page.locator("table.machines tbody tr").count()).toBe(8);
    });
  });
});
