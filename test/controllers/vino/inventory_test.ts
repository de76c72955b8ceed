import { expect, test } from "bun:test";
import type { MachinesQuestion } from "../../../lib/cloud/capabilities/machines.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { InventoryListener, InventorySource } from "../../../lib/cloud/inventory/source.ts";
import { InventoryKeySource, readLastView } from "../../../lib/controllers/vino/inventory.ts";
import { toInventory } from "../../support/cloud/instances.ts";
import { toView } from "../../support/vino/known.ts";

const { signal } = new AbortController();

class Source implements Pick<InventorySource, "current" | "lastError" | "subscribe"> {
  current: InventorySource["current"];
  lastError: Error | undefined;
  readonly listeners: Set<InventoryListener> = new Set();

  subscribe(listener: InventoryListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(changed: Parameters<InventoryListener>[0]): void {
    for (const listener of this.listeners) listener(changed, false);
  }
}

const VINOES = { keys: () => ["metal/a", "metal/b"] };

test("InventoryKeySource names all Vinos after each inventory and each read of single VMs", () => {
  const source = new Source();
  const told: string[][] = [];
  const end = new InventoryKeySource(source, VINOES).subscribe((keys) => {
    told.push([...keys]);
  });
  const show = (observedAtMs: number, changed: Parameters<Source["tell"]>[0]): string[] => {
    told.length = 0;
    source.current = { ...toInventory([]), observedAtMs };
    source.tell(changed);
    return told.flat();
  };
  const all = ["metal/a", "metal/b"];
  expect(show(1, new Set())).toEqual(all);
  expect(show(1, new Set(["vm-1"]))).toEqual(all);
  expect(show(1, "everything")).toEqual(all);
  // A refresh that failed shows nothing new.
  expect(show(1, new Set())).toEqual([]);
  expect(show(2, new Set())).toEqual(all);
  end();
  expect(show(3, "everything")).toEqual([]);
});

test("InventoryKeySource holds Vinos back before the first inventory or its failure", async () => {
  const source = new Source();
  const { reader } = new InventoryKeySource(source, VINOES);
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

test("InventoryKeySource stops waiting when the signal aborts", async () => {
  const source = new Source();
  const stop = new AbortController();
  const { reader } = new InventoryKeySource(source, VINOES);
  const waiting = reader.untilSynced(stop.signal);
  stop.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
  expect(source.listeners.size).toBe(0);
});

test("readLastView() asks for no look at the cloud", async () => {
  const asked: MachinesQuestion[] = [];
  const view = toView([]);
  const observe = async (question: MachinesQuestion) => {
    asked.push(question);
    return view;
  };
  expect(await readLastView({ observe }, signal)).toBe(view);
  expect(asked).toEqual([{ isForChange: false }]);
});

test("readLastView() has nothing before the first inventory, and hides no bug", async () => {
  const failing = (error: Error) => ({
    observe: async () => {
      throw error;
    },
  });
  const early = failing(new CloudError("unreachable", "Waiting for the first inventory"));
  expect(await readLastView(early, signal)).toBeUndefined();
  await expect(readLastView(failing(new TypeError("bug")), signal)).rejects.toThrow("bug");
});
