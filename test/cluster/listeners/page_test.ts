/**
 * The pages for people in a real browser, as the whole controller serves them.
 * @module
 */
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { findBarriers, hasBrowser, startBrowser } from "../../support/page/browser.ts";
import { until } from "../../support/nodes/rig.ts";
import { type PageStage, startPageStage } from "../../support/page/page_stage.ts";

const EVIL = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`;
const PHONE = { width: 360, height: 740 };

/** A page, and everything about it that must not be. */
interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Dialogs, errors, what the console complained of, requests that went elsewhere. */
  readonly offences: readonly string[];
  /** Addresses that it asked for. */
  readonly requests: readonly string[];
}

describe.skipIf(!hasBrowser())("the pages in a browser", () => {
  let browser: Browser;
  let stage: PageStage;

  beforeAll(async () => {
    browser = await startBrowser();
    stage = await startPageStage();
    await setTheScene(stage);
  });
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await browser.close();
  });

  async function visit(path: string, options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const offences: string[] = [];
    const requests: string[] = [];
    page.on("dialog", (dialog) => {
      offences.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("pageerror", (error) => offences.push(`error: ${error.message}`));
    page.on("console", (message) => offences.push(`console: ${message.text()}`));
    page.on("request", (request) => {
      const url = request.url();
      requests.push(url);
      if (!url.startsWith(`${stage.url}/`) && !url.startsWith("data:")) offences.push(url);
    });
    await page.goto(new URL(path, `${stage.url}/debug/`).href);
    return { page, offences, requests, [Symbol.asyncDispose]: () => context.close() };
  }

  async function readBox(page: Page, name: string): Promise<string> {
    return await page.locator("details.box", { hasText: name }).first().innerText();
  }

  test("shows pools, hosts and Nodes within each other, and what is in trouble before them", async () => {
    await using visited = await visit("");
    const { page, offences } = visited;
    expect(await page.locator("h1").innerText()).toBe("3 of 10 Nodes need attention");
    const pool = page.locator("main > section > details.box", { hasText: "paris" });
    const host = pool.locator("details.box", { hasText: "xcp-par-3" });
    expect(await host.getByRole("link").allInnerTexts()).toEqual(["worker-uefi"]);
    expect(await readBox(page, "lyon")).toMatch(/on no host now\s+worker-4\s+stopped/);
    expect(await readBox(page, "Foreign")).toContain("ip-10-3-7-12");
    const trouble = page.locator(".trouble", { hasText: "no match" });
    expect(await trouble.innerText()).toContain("start the kubelet with --provider-id");
    const [first, second] = await page.locator("h2").allInnerTexts();
    expect([first, second]).toEqual(["Look at these first", "Where they are"]);
    expect(offences).toEqual([]);
  });

  test("leads from a Node to its machine, and from a state to its Nodes", async () => {
    await using visited = await visit("");
    const { page, offences } = visited;
    await page.getByRole("link", { name: "worker-uefi" }).click();
    expect(new URL(page.url()).pathname).toBe("/debug/nodes/worker-uefi");
    expect(await page.locator(".path").innerText()).toMatch(/worker-uefi[^]*xcp-par-3[^]*paris/);
    expect(await page.locator("tr.l-same").count()).toBeGreaterThan(10);
    await page.getByRole("link", { name: "All Nodes" }).click();
    await page.getByRole("link", { name: "1 stopped" }).click();
    expect(await page.locator("tbody tr").allInnerTexts()).toEqual([
      expect.stringContaining("worker-4"),
    ]);
    await page.getByRole("searchbox").fill("xcp-par-1");
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=xcp-par-1/);
    expect(await page.locator("tbody th").allInnerTexts()).toEqual(["cp-1", "worker-1"]);
    expect(offences).toEqual([]);
  });

  test("leads from a Node to its machine in the cloud: one that is simulated says so", async () => {
    await using visited = await visit("nodes/worker-1");
    const { page } = visited;
    await page.getByRole("link", { name: "its page in the cloud" }).click();
    expect(new URL(page.url()).origin).toBe(new URL(stage.cloud.url).origin);
    expect(await page.locator("body").innerText()).toContain("is simulated");
  });

  test("keeps the search beside a heading of any length, and below it on a phone", async () => {
    await using visited = await visit("", { viewport: { width: 1_200, height: 800 } });
    const { page } = visited;
    const long = "1 of 4 SIPClusters needs attention, and 1 host is in trouble";
    await page.evaluate(`document.querySelector("h1").textContent = ${JSON.stringify(long)}`);
    const find = async (selector: string): Promise<{ x: number; y: number; right: number }> => {
      const box = await page.locator(selector).boundingBox();
      const { x = 0, y = 0, width = 0 } = box ?? {};
      return { x, y, right: Math.round(x + width) };
    };
    const [form, bar] = [await find("form[role=search]"), await find("main > .bar")];
    expect(form.right).toBe(bar.right);
    expect(form.x).toBeGreaterThan(600);
    await page.setViewportSize(PHONE);
    expect(await find("form[role=search]")).toMatchObject({ x: (await find("h1")).x });
  });

  test("breaks no word of a table, however wide the window is", async () => {
    await using visited = await visit("nodes");
    const { page } = visited;
    for (const width of [700, 960, 1_000]) {
      await page.setViewportSize({ width, height: 800 });
      const widths = await page.evaluate<number[]>(
        `[...document.querySelectorAll("tbody td:not(.nothing)")].map((cell) => cell.clientWidth)`,
      );
      expect(Math.min(...widths)).toBeGreaterThan(100);
    }
  });

  test("breaks no name of an Event on a wide window", async () => {
    const reasons = CONTROLLERS.flatMap(({ events }) => Object.values(events)).map(
      ({ reason }) => reason,
    );
    await using visited = await visit("nodes/worker-odd");
    const { page } = visited;
    await page.setViewportSize({ width: 1_200, height: 800 });
    const rows = await page.evaluate<number[]>(
      `[...document.querySelectorAll("table.events tbody th")].slice(0, 1).flatMap((cell) =>
        ${JSON.stringify(reasons)}.map((reason) => {
          cell.textContent = reason;
          const range = document.createRange();
          range.selectNodeContents(cell);
          return range.getClientRects().length;
        }))`,
    );
    expect(rows.length).toBe(reasons.length);
    expect(new Set(rows)).toEqual(new Set([1]));
  });

  test("shows names as they are, whatever somebody called a machine, a host or a pool", async () => {
    await using visited = await visit("nodes/worker-odd");
    const { page, offences } = visited;
    expect(await page.locator(".path b").allInnerTexts()).toEqual([
      "worker-odd",
      EVIL,
      EVIL,
      "lyon",
    ]);
    await page.goto(`${stage.url}/debug/?q=${encodeURIComponent(EVIL)}`);
    expect(await page.locator("tbody th").allInnerTexts()).toEqual(["worker-odd"]);
    expect(await page.getByRole("searchbox").inputValue()).toBe(EVIL);
    await page.goto(`${stage.url}/debug/nodes/${encodeURIComponent(EVIL)}`);
    expect(await page.locator("h1").innerText()).toContain(EVIL);
    // The browser itself notes the 404.
    expect(offences.filter((one) => !one.includes("404"))).toEqual([]);
  });

  test("lets no script run but its own, not even one that got into the page", async () => {
    await using visited = await visit("");
    const { page } = visited;
    const ran: unknown = await page.evaluate(`
      const script = document.createElement("script");
      script.textContent = "window.intruder = true";
      document.body.append(script);
      "intruder" in window`);
    expect(ran).toBe(false);
  });

  test("is dark where the system is", async () => {
    await using visited = await visit("");
    const { page, offences } = visited;
    const readLightness = async (): Promise<number> => {
      const colour: unknown = await page.evaluate(
        "getComputedStyle(document.body).backgroundColor",
      );
      return Number(/\d+/.exec(String(colour))?.[0]);
    };
    await page.emulateMedia({ colorScheme: "light" });
    expect(await readLightness()).toBeGreaterThan(230);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await readLightness()).toBeLessThan(30);
    expect(offences).toEqual([]);
  });

  test.each(["", "?state=well", "nodes/worker-odd", "nodes/edge-paris"])(
    "fits on a phone without scrolling sideways: %p",
    async (path) => {
      await using visited = await visit(path, { viewport: PHONE });
      const width: unknown = await visited.page.evaluate("document.documentElement.scrollWidth");
      expect(width).toBe(PHONE.width);
    },
  );

  describe.each(["light", "dark"] as const)("in %s", (colorScheme) => {
    test.each(["", "?q=worker", "nodes/worker-1", "nodes/edge-paris"])(
      "has no barrier that axe finds: %p",
      async (path) => {
        await using visited = await visit(path, { colorScheme, bypassCSP: true });
        const { page } = visited;
        expect(await findBarriers(page)).toEqual([]);
      },
    );
  });

  test("shows a Node that is out of service, without a barrier that axe finds", async () => {
    await using other = await startPageStage(undefined, { hasOutOfService: true });
    other.cloud.state.setPower(other.world.machines.get("worker-4")?.vmId ?? "", "Halted");
    other.kubelets.silence("worker-4");
    await other.waitFor("out of service");
    for (const colorScheme of ["light", "dark"] as const) {
      for (const path of ["", "nodes/worker-4"]) {
        const url = `${other.url}/debug/${path}`;
        await using visited = await visit(url, { colorScheme, bypassCSP: true });
        const { page } = visited;
        expect(await page.locator(".mark.s-outOfService").first().innerText()).toContain(
          "out of service",
        );
        expect(await page.locator("main").innerText()).toContain("Kubernetes detaches the volumes");
        expect(await findBarriers(page)).toEqual([]);
      }
    }
  });

  test("can be used by keyboard alone", async () => {
    await using visited = await visit("");
    const { page } = visited;
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").innerText()).toBe("Skip to content");
    const box = page.locator("main > section > details.box").first();
    await box.locator("> summary").focus();
    await page.keyboard.press("Enter");
    expect(await box.getAttribute("open")).toBeNull();
  });

  test("renews itself and keeps boxes, focus and place; pauses when told to", async () => {
    await using visited = await visit("", { viewport: { width: 800, height: 300 } });
    const { page, offences } = visited;
    await page.clock.install();
    await page.reload();
    const box = page.locator("main > section > details.box", { hasText: "lyon" });
    await box.locator("> summary").click();
    await page.getByRole("link", { name: "worker-uefi" }).focus();
    // Where it is on the screen: a line more or less above it moves the page, and not what a person looks at.
    const read = (): Promise<[top: number, href: string]> =>
      page.evaluate(
        `[document.activeElement.getBoundingClientRect().top, document.activeElement.getAttribute("href")]`,
      );
    const [before, href] = await read();
    expect(href).toBe("nodes/worker-uefi");
    const readTime = (): Promise<string> => page.locator(".lead p").innerText();
    const time = await readTime();
    await until("the page has renewed itself", async () => {
      await page.clock.runFor(5_000);
      return (await readTime()) !== time;
    });
    expect(await box.getAttribute("open")).toBeNull();
    const [after, hrefAfter] = await read();
    expect(hrefAfter).toBe(href);
    // A browser scrolls by whole pixels, and lines have parts of them.
    expect(Math.abs(after - before)).toBeLessThanOrEqual(1);
    await page.getByRole("button", { name: "Pause" }).click();
    expect(await page.locator("#live").innerText()).toContain("Paused");
    const asked = visited.requests.length;
    await page.clock.runFor(60_000);
    expect(visited.requests.length).toBe(asked);
    await page.getByRole("button", { name: "Resume" }).click();
    await until("it asks again", () => visited.requests.length > asked);
    expect(offences).toEqual([]);
  });

  test("renews itself beside a search that is typed and a text that is selected", async () => {
    await using visited = await visit("");
    const { page, offences } = visited;
    await page.clock.install();
    await page.reload();
    await page.getByRole("searchbox").pressSequentially("xcp");
    await page.evaluate(`getSelection().selectAllChildren(document.querySelector("h1"))`);
    const readTime = (): Promise<string> => page.locator(".lead p").first().innerText();
    const time = await readTime();
    await until("the page has renewed itself", async () => {
      await page.clock.runFor(5_000);
      return (await readTime()) !== time;
    });
    expect(await page.getByRole("searchbox").inputValue()).toBe("xcp");
    expect(await page.evaluate("String(getSelection())")).toBe("3 of 10 Nodes need attention");
    expect(await page.locator("#live [role=status]").innerText()).toBe("Live");
    await page.getByRole("searchbox").focus();
    const focused = await readTime();
    await until("it has renewed itself again", async () => {
      await page.clock.runFor(5_000);
      return (await readTime()) !== focused;
    });
    expect(await page.evaluate("document.activeElement.tagName")).toBe("INPUT");
    expect(offences).toEqual([]);
  });

  test("says from when its data is if the browser froze the window, or no answer comes", async () => {
    await using visited = await visit("");
    const { page } = visited;
    await page.clock.install();
    await page.reload();
    const at = await page.evaluate("document.documentElement.dataset.at");
    await page.route("**", () => undefined);
    await page.clock.fastForward(60_000);
    expect(await page.locator("#live [role=status]").innerText()).toBe(
      `Out of date: data of ${String(at)}`,
    );
  });

  test("says from when its data is if the process ended", async () => {
    const ended = await startPageStage();
    await using visited = await visit(`${ended.url}/debug/`);
    const { page } = visited;
    await page.clock.install();
    await page.reload();
    await page.getByRole("searchbox").focus();
    await ended[Symbol.asyncDispose]();
    const status = page.locator("#live [role=status]");
    await until("the page says that there is no answer", async () => {
      await page.clock.runFor(5_000);
      return (await status.innerText()).startsWith("No answer: data of ");
    });
    expect(await page.locator("h1").innerText()).toContain("Nodes are in sync");
    // What is old is not green, on the page or in its tab, and says so wherever a person reads.
    expect(await page.evaluate(`getComputedStyle(document.querySelector("main")).filter`)).toBe(
      "grayscale(1)",
    );
    expect(await page.locator("link[rel=icon]").getAttribute("href")).toBe("data:,");
    await page.setViewportSize({ width: 800, height: 200 });
    await page.evaluate("scrollTo(0, 400)");
    expect(await page.evaluate("scrollY")).toBeGreaterThan(100);
    expect((await page.locator("#live").boundingBox())?.y).toBe(0);
    expect(visited.offences.filter((one) => one.includes("Content Security Policy"))).toEqual([]);
  });

  test("looks old only until the next answer", async () => {
    await using visited = await visit("", { bypassCSP: true });
    const { page } = visited;
    await page.clock.install();
    await page.reload();
    const isOld = (): Promise<boolean> => page.locator("html.old").isVisible();
    const icon = page.locator("link[rel=icon]");
    const before = await icon.getAttribute("href");
    await page.route("**", (route) => route.abort());
    await until("the page looks old", async () => {
      await page.clock.runFor(5_000);
      return await isOld();
    });
    expect(await findBarriers(page)).toEqual([]);
    await page.unroute("**");
    await until("the page looks up to date", async () => {
      await page.clock.runFor(5_000);
      return !(await isOld());
    });
    expect(await icon.getAttribute("href")).toBe(before);
  });

  test("goes on at its pace if what it shows is no longer there", async () => {
    await using visited = await visit("nodes/worker-1");
    const { page, requests } = visited;
    await page.clock.install();
    await page.reload();
    await page.evaluate(`history.replaceState(null, "", "none")`);
    const isGone = (): Promise<boolean> => page.getByText("There is no Node").isVisible();
    await until("the page says that the Node is not there", async () => {
      await page.clock.runFor(5_000);
      return await isGone();
    });
    const asked = requests.length;
    await page.clock.runFor(4_000);
    expect(requests.length - asked).toBeLessThanOrEqual(1);
    expect(await page.getByRole("button", { name: "Pause" }).isVisible()).toBe(true);
  });

  test("needs no script", async () => {
    await using visited = await visit("", { javaScriptEnabled: false });
    const { page, offences } = visited;
    expect(await page.locator("h1").innerText()).toBe("3 of 10 Nodes need attention");
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    expect(offences).toEqual([]);
  });

  test("shows 1,000 Nodes within a second", async () => {
    await using fleet = await startPageStage(1_000);
    await using visited = await visit(`${fleet.url}/debug/`);
    const { page } = visited;
    // The best of a few: what else the machine does meanwhile says nothing about the page.
    const times: number[] = [];
    for (let visits = 0; visits < 3; visits += 1) {
      const startMs = performance.now();
      await page.goto(`${fleet.url}/debug/`);
      await page.locator("footer").waitFor();
      times.push(performance.now() - startMs);
    }
    expect(await page.locator("h1").innerText()).toBe("All 1,000 Nodes are in sync");
    expect(await page.locator("a.dot").count()).toBe(1_000);
    expect(Math.min(...times)).toBeLessThan(1_000);
  });
});

/** A machine that is off, Nodes without a machine of ours, and names that somebody chose badly. */
async function setTheScene(stage: PageStage): Promise<void> {
  const { cloud, kubelets, world } = stage;
  const findVm = (name: string): string => world.machines.get(name)?.vmId ?? "";
  cloud.state.setPower(findVm("worker-4"), "Halted");
  kubelets.silence("worker-4");
  cloud.state.setVm(findVm("worker-odd"), { name_label: EVIL });
  const host = cloud.state.list("hosts").find((one) => one["name_label"] === "xcp-lyo-2");
  if (host) cloud.state.put("hosts", { ...host, name_label: EVIL });
  stage.addStranger("edge-paris", {});
  stage.addStranger("ip-10-3-7-12", { providerID: "aws:///eu-west-3a/i-0abc" });
  await stage.waitFor("3 of 10 Nodes need attention");
  await stage.waitFor("start the kubelet with --provider-id");
  await stage.waitFor("&lt;script&gt;alert(1)");
}
