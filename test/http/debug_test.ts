/**
 * The debug pages.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createDebugRoutes, type DebugOptions, NODES_PLACE } from "../../lib/http/debug.ts";
import type { PagesContext } from "../../lib/http/kind_routes.ts";
import type { InventoryView, NodeView } from "../../lib/http/views.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");

const PRESENT: NodeView = {
  name: "b-node",
  providerId: "static://1",
  ready: "True",
  matchedBy: "systemUuid",
  presence: { kind: "present" },
  instance: { id: "1", name: "vm one", state: "running", details: { pool: "p" } },
  labels: { wanted: { a: "1" }, actual: {} },
  addresses: { wanted: [], actual: [{ type: "InternalIP", address: "10.0.0.1" }] },
  lastReconcile: { at: "2026-01-01T00:09:15Z", outcome: "changed" },
  nextReconcileAt: "2026-01-01T00:15:00Z",
};
const UNKNOWN: NodeView = {
  name: "a-node",
  ready: "Unknown",
  deletion: { state: "blocked", reason: "fleetLimit", message: "too many" },
  presence: { kind: "unknown", reason: "notFound", message: "no machine fits" },
  instance: null,
  labels: { actual: {} },
  addresses: { actual: [] },
  lastReconcile: { at: "2025-12-31T00:10:00Z", outcome: "failed", error: "no\nanswer" },
};
const INVENTORY: InventoryView = {
  ageSeconds: 12.4,
  coverage: [
    { id: "p1", name: "Pool", complete: true },
    { id: "p2", complete: false, reason: "lost" },
  ],
  counts: { instances: 3 },
  lastError: "timeout",
  lastRefreshDurationMs: 40,
};

const SHARED: PagesContext = { now: () => NOW, version: "1.2.3", places: [NODES_PLACE] };
const OPTIONS: DebugOptions = {
  listNodes: () => [UNKNOWN, PRESENT],
  findNode: (name) => [PRESENT, UNKNOWN].find((node) => node.name === name),
  readInventory: () => INVENTORY,
};
const routes = createDebugRoutes(OPTIONS, SHARED);

async function readText(path: string): Promise<string> {
  return (await routes.request(path)).text();
}

describe("createDebugRoutes()", () => {
  test("createDebugRoutes() lists all Nodes by name", async () => {
    const response = await routes.request("/debug/nodes");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ nodes: [UNKNOWN, PRESENT] });
  });

  test("createDebugRoutes() indents the list of Nodes as JSON.stringify() does", async () => {
    expect(await readText("/debug/nodes")).toBe(
      `${JSON.stringify({ nodes: [UNKNOWN, PRESENT] }, undefined, 2)}\n`,
    );
    const empty = createDebugRoutes({ ...OPTIONS, listNodes: () => [] }, SHARED);
    const nobody = await empty.request("/debug/nodes");
    expect(await nobody.text()).toBe(`${JSON.stringify({ nodes: [] }, undefined, 2)}\n`);
  });

  test("createDebugRoutes() describes thousands of Nodes a few at a time, as they are read", async () => {
    let described = 0;
    function* listNodes(): Generator<NodeView> {
      for (; described < 5_000; described += 1) yield { ...PRESENT, name: `n${described}` };
    }
    const large = createDebugRoutes({ ...OPTIONS, listNodes }, SHARED);
    const response = await large.request("/debug/nodes");
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.read();
    expect(described).toBeLessThan(500);
    await reader?.cancel();
    expect(described).toBeLessThan(500);
  });

  test("createDebugRoutes() shows Nodes as an aligned table", async () => {
    const lines = (await readText("/debug/nodes?format=text")).trimEnd().split("\n");
    const cells = lines.map((line) => line.split(/ {2,}/));
    const titles =
      "NAME READY PRESENCE REASON MATCHED-BY INSTANCE STATE ADDRESS HOST ZONE PROVIDER-ID DELETION LAST AGO NEXT ERROR";
    expect(cells.map((row) => row.join("|"))).toEqual([
      titles.replaceAll(" ", "|"),
      "a-node|Unknown|unknown|no machine matches|-|-|-|-|-|-|-|" +
        "blocked: too many Nodes have no machine|failed|24h|-|no answer",
      "b-node|True|present|-|system UUID|vm one|running|10.0.0.1|-|-|static://1|-|changed|45s|5m|-",
    ]);
    const starts = lines.map((line, row) => line.indexOf(cells[row]?.[2] ?? "?"));
    expect(new Set(starts).size).toBe(1);
  });

  test("createDebugRoutes() shows one Node, as JSON and as text", async () => {
    expect(await (await routes.request("/debug/nodes/b-node")).json()).toEqual(PRESENT);
    const lines = (await readText("/debug/nodes/b-node?format=text")).trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toStartWith("b-node  True   present");
  });

  test("createDebugRoutes() answers 404 for a Node that is not there", async () => {
    const response = await routes.request("/debug/nodes/nope");
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: 'there is no Node "nope"' });
    const text = await routes.request("/debug/nodes/nope?format=text");
    expect([text.status, await text.text()]).toEqual([404, 'there is no Node "nope"\n']);
  });

  test("createDebugRoutes() refuses a format that it does not know", async () => {
    expect((await routes.request("/debug/nodes?format=yaml")).status).toBe(400);
  });

  test("createDebugRoutes() shows the inventory, as JSON and as text", async () => {
    expect(await (await routes.request("/debug/inventory")).json()).toEqual(INVENTORY);
    expect(await readText("/debug/inventory?format=text")).toBe(
      [
        "FACT          VALUE",
        "age           12s",
        "observed at   -",
        "last error    timeout",
        "last refresh  40 ms",
        "instances     3",
        "",
        "PART  ID  ANSWER",
        "Pool  p1  complete",
        "p2    -   not complete: lost",
        "",
      ].join("\n"),
    );
  });
});
