/**
 * The pages of Vinos in a real browser.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { findBarriers, hasBrowser, startBrowser } from "../../support/page/browser.ts";
import { toPages } from "../../support/page/pages.ts";
import { toVinoSource } from "../../support/page/vino_views.ts";

const PATHS = ["", "/tenants/mixed", "/tenants/well?machine=vino-well-worker-1", "/tenants/none"];
const WIDTHS = [390, 1_200];

describe.skipIf(!hasBrowser())("the pages of Vinos in a browser", () => {
  let browser: Browser;
  const pages = toPages({ vinos: toVinoSource() });
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
