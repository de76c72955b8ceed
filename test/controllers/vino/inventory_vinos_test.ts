import { expect, test } from "bun:test";
import type { InventoryListener, InventorySource } from "../../../lib/cloud/inventory/source.ts";
import { InventoryVinos } from "../../../lib/controllers/vino/inventory_vinos.ts";
import { toInventory } from "../../support/cloud/instances.ts";

class Source implements Pick<InventorySource, "current" | "lastError" | "subscribe"> {
  current: InventorySource["current"];
  lastError: Error | undefined;
  readonly listeners: Set<InventoryListener> = new Set();

  subscribe(listener: InventoryListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(changed: Parameters<InventoryListener>[0], hasRecovered = false): void {
    for (const listener of this.listeners) listener(changed, hasRecovered);
  }
}

const VINOES = { keys: () => ["metal/a", "metal/b"] };

test("InventoryVinos names all Vinos if an inventory differs or comes back, otherwise those that wait for it", () => {
  const source = new Source();
  const told: string[][] = [];
  const end = new InventoryVinos(source, VINOES, (key) => key === "metal/b").subscribe((keys) => {
    told.push([...keys]);
  });
  source.tell(new Set(["vm-1"]));
  source.tell("everything");
  source.tell(new Set(), true);
  source.tell(new Set());
  end();
  source.tell("everything");
  const all = ["metal/a", "metal/b"];
  expect(told).toEqual([all, all, all, ["metal/b"]]);
});

test("InventoryVinos names all Vinos after the two inventories that follow a read of single instances", () => {
  const source = new Source();
  const told: number[] = [];
  new InventoryVinos(source, VINOES, () => false).subscribe((keys) => {
    told.push([...keys].length);
  });
  const show = (observedAtMs: number, changed: string[]): void => {
    source.current = { ...toInventory([]), observedAtMs };
    source.tell(new Set(changed));
  };
  show(1, []);
  show(1, ["vm-1"]);
  for (const atMs of [2, 3, 4]) show(atMs, []);
  expect(told).toEqual([0, 2, 2, 2, 0]);
});

test("InventoryVinos holds Vinos back before the first inventory or its failure", async () => {
  const source = new Source();
  const { reader } = new InventoryVinos(source, VINOES, () => false);
  expect(reader.synced).toBe(false);
  const waiting = reader.untilSynced(new AbortController().signal);
  source.tell(new Set());
  source.lastError = new Error("no answer");
  source.tell(new Set());
  await waiting;
  expect(reader.synced).toBe(true);
  expect(source.listeners.size).toBe(0);
  source.lastError = undefined;
  source.current = toInventory([]);
  await reader.untilSynced(new AbortController().signal);
});

test("InventoryVinos stops waiting when the signal aborts", async () => {
  const source = new Source();
  const stop = new AbortController();
  const { reader } = new InventoryVinos(source, VINOES, () => false);
  const waiting = reader.untilSynced(stop.signal);
  stop.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
  expect(source.listeners.size).toBe(0);
});
