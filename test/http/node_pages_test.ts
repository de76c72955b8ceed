/**
 * The pages for people, as requests see them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { DebugOptions } from "../../lib/http/debug.ts";
import type { NodeView } from "../../lib/http/views.ts";
import { takeApart, toInventoryView, toNodeView } from "../support/page/node_views.ts";
import { toPages } from "../support/page/pages.ts";

const HTML = { headers: { accept: "text/html" } };
const EVIL =
  `</style></script><script>alert(1)</script><img src=x onerror=alert(2)>"'` +
  " onload=alert(3) \u0000javascript:alert(4)//";

function toOptions(nodes: readonly NodeView[], over: Partial<DebugOptions> = {}): DebugOptions {
  return {
    listNodes: () => nodes,
    findNode: (name) => nodes.find((node) => node.name === name),
    readInventory: () => toInventoryView(),
    readStatus: () => ({ provider: "test", host: "cp-1" }),
    ...over,
  };
}

const pages = toPages({ debug: toOptions([toNodeView("a"), toNodeView("b")]) });

describe("createDebugRoutes()", () => {
  test.each(["/debug", "/debug/"])("createDebugRoutes() shows the page at %s", async (path) => {
    const response = await pages.request(path, HTML);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=UTF-8");
    expect(response.headers.get("vary")).toBe("Accept");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const html = await response.text();
    expect(html).toContain("All 2 Nodes are in sync");
    const [, link = ""] = /href="([^"]*nodes\/a)"/.exec(html) ?? [];
    expect(new URL(link, `http://x${path}`).pathname).toBe("/debug/nodes/a");
    const [, home = ""] = /class="brand" href="([^"]*)"/.exec(html) ?? [];
    expect(new URL(home, `http://x${path}`).pathname).toBe("/debug/");
  });

  test("createDebugRoutes() lists the paths for whoever does not ask for HTML", async () => {
    const response = await pages.request("/debug/", { headers: { accept: "*/*" } });
    expect(response.headers.get("content-type")).toStartWith("text/plain");
    expect((await response.text()).split("\n")).toContain("/debug/nodes/<name>");
  });

  test("createDebugRoutes() shows a Node to people, and its data to everybody else", async () => {
    const page = await pages.request("/debug/nodes/a", HTML);
    expect(page.headers.get("content-type")).toStartWith("text/html");
    expect(await page.text()).toContain('href="../"');
    for (const [path, init] of [
      ["/debug/nodes/a", {}],
      ["/debug/nodes/a?format=json", HTML],
      ["/debug/nodes?format=json", HTML],
    ] as const) {
      const data = await pages.request(path, init);
      expect(data.headers.get("content-type"), path).toBe("application/json");
    }
  });

  test("createDebugRoutes() answers 404 for a Node that is not there, as page and as data", async () => {
    const page = await pages.request("/debug/nodes/nope", HTML);
    expect(page.status).toBe(404);
    expect(await page.text()).toContain("There is no Node “nope”");
    const data = await pages.request("/debug/nodes/nope");
    expect([data.status, data.headers.get("vary")]).toEqual([404, "Accept"]);
  });

  test.each(["/debug/", "/debug/nodes/a"])(
    "createDebugRoutes() answers HEAD at %s",
    async (path) => {
      const response = await pages.request(path, { method: "HEAD", ...HTML });
      expect([response.status, await response.text()]).toEqual([200, ""]);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    },
  );

  test("createDebugRoutes() takes a filter from the query, and ignores what is none", async () => {
    const found = await (await pages.request("/debug/?q=vm-a", HTML)).text();
    expect(found).toContain("1 Node with “vm-a”");
    const all = await (await pages.request("/debug/?state=__proto__&q=%20", HTML)).text();
    expect(all).toContain("Where they are");
    const long = await pages.request(`/debug/?q=${"x".repeat(5_000)}`, HTML);
    expect((await long.text()).match(/x{200,}/g)?.every((text) => text.length === 200)).toBe(true);
  });

  test("createDebugRoutes() lets nothing that anybody wrote become markup", async () => {
    const options = toOptions([toEvilNode("missing"), toEvilNode("present")], {
      readInventory: () => ({
        ...toInventoryView(),
        lastError: EVIL,
        coverage: [{ id: EVIL, name: EVIL, complete: false, reason: EVIL }],
      }),
      readStatus: () => ({
        provider: EVIL,
        host: EVIL,
        election: { lease: EVIL, identity: EVIL, holder: EVIL, isLeading: false },
      }),
    });
    const evil = toPages({ debug: options });
    const name = encodeURIComponent(`${EVIL}present`);
    const query = encodeURIComponent(EVIL);
    const paths = ["", "?state=unseen", `?q=${query}`, `nodes/${name}`, "nodes/%3Cscript%3E"];
    for (const path of paths) {
      const response = await evil.request(`/debug/${path}`, HTML);
      const { elements, attributes } = takeApart(await response.text());
      expect(
        elements.filter((one) => one === "script"),
        path,
      ).toHaveLength(response.status === 404 ? 0 : 1);
      expect(elements, path).not.toContain("img");
      expect(
        attributes.filter((one) => /^(on\w+|src|style)=/.test(one)),
        path,
      ).toEqual([]);
      const links = attributes.filter((one) => /^(href|action)=/.test(one)).map(toTarget);
      for (const link of links) {
        if (link.startsWith("data:image/svg+xml,")) continue;
        expect(new URL(link, "http://h/debug/nodes/").origin, link).toBe("http://h");
      }
    }
  });
});

function toTarget(attribute: string): string {
  return attribute.slice(attribute.indexOf("=") + 1);
}

/** Everything that somebody else than us may have written is hostile. */
function toEvilNode(kind: "missing" | "present"): NodeView {
  const isPresent = kind === "present";
  return {
    name: `${EVIL}${kind}`,
    providerId: EVIL,
    wantedProviderId: `${EVIL}!`,
    matchedBy: EVIL,
    places: [
      { kind: EVIL, id: EVIL, name: EVIL },
      { kind: EVIL, id: `${EVIL}2` },
    ],
    presence: isPresent ? { kind: "present" } : { kind: "unknown", reason: EVIL, message: EVIL },
    instance: isPresent ? { id: EVIL, name: EVIL, state: EVIL, details: { [EVIL]: EVIL } } : null,
    labels: { wanted: { [EVIL]: EVIL }, actual: { [EVIL]: `${EVIL}!` } },
    addresses: { wanted: [{ type: EVIL, address: EVIL }], actual: [{ type: EVIL, address: "" }] },
    ready: EVIL,
    deletion: { state: EVIL, reason: EVIL, message: EVIL },
    lastReconcile: { at: EVIL, outcome: EVIL, error: EVIL },
    nextReconcileAt: EVIL,
  };
}
