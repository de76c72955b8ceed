/**
 * Headless Chromium, as Debian packages it.
 * @module
 */
import { existsSync } from "node:fs";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { saySkipped } from "../skip.ts";

/** Where Debian's package `chromium` puts it. */
const PROGRAM = "/usr/bin/chromium";

/** Whether there is a browser to test with; without one, says so loudly, and fails where one must be. */
export function hasBrowser(): boolean {
  if (existsSync(PROGRAM)) return true;
  saySkipped(`tests of the pages: ${PROGRAM} is missing. Install the package chromium`);
  return false;
}

/** Starts it. It asks nobody for updates, and nothing of it is kept. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** What axe finds on a page. A page refuses every script but its own, so its policy must be bypassed. */
export async function findBarriers(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return await page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`);
}
