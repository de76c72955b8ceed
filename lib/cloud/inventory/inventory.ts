/**
 * An immutable snapshot of what a cloud shows, and the difference between two of them.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Instance } from "../instance.ts";

/** Whether one part of a cloud (a pool, a zone, a file) answered in full. */
export interface Coverage {
  readonly complete: boolean;
  /** Its name for operators. */
  readonly name?: string;
  /** Why it is not complete. */
  readonly reason?: string;
  /** The cloud never showed it, only Nodes name it: it says nothing about where other instances are. Never complete. */
  readonly isOnlyNamed?: true;
}

/** What a cloud showed at one moment. */
export interface Inventory {
  /** When it was requested: monotonic milliseconds of the clock, taken before the first request. */
  readonly observedAtMs: number;
  /** Instances by their cloud ID. The same map object as before when nothing changed. */
  readonly instances: ReadonlyMap<string, Instance>;
  /** By the identifier of the part. A part that is not listed was never seen. */
  readonly coverage: ReadonlyMap<string, Coverage>;
  /** Cloud IDs of instances that exist but could not be read, and why. */
  readonly undecodable: ReadonlyMap<string, string>;
  /**
   * Cloud IDs that were asked for. Nothing is known about an instance that is neither shown nor among these. Absent:
   * everything was asked for.
   */
  readonly lookedFor?: ReadonlySet<string>;
}

/**
 * Cloud IDs of the instances that differ between two inventories: new, changed or no longer shown.
 *
 * @param before The older inventory, absent when there was none
 * @param after The newer one
 */
export function diffInventories(before: Inventory | undefined, after: Inventory): Set<string> {
  const changed = new Set<string>();
  if (before?.instances === after.instances) return changed;
  for (const [id, instance] of after.instances) {
    const old = before?.instances.get(id);
    if (old !== instance && !isDeepStrictEqual(old, instance)) changed.add(id);
  }
  for (const id of before?.instances.keys() ?? []) if (!after.instances.has(id)) changed.add(id);
  return changed;
}

/**
 * Puts instances that were read one by one into an older inventory. Everything else stays: when it was observed, what
 * it covers, what it lacks.
 *
 * @returns The inventory (the same object when nothing differs), and the cloud IDs that differ
 */
export function mergeInstances(
  inventory: Inventory,
  shown: ReadonlyMap<string, Instance>,
): { readonly inventory: Inventory; readonly changed: ReadonlySet<string> } {
  const news = [...shown].filter(
    ([id, instance]) =>
      inventory.undecodable.has(id) || !isDeepStrictEqual(inventory.instances.get(id), instance),
  );
  const changed = new Set(news.map(([id]) => id));
  if (changed.size === 0) return { inventory, changed };
  const instances = new Map([...inventory.instances, ...news]);
  const undecodable = new Map([...inventory.undecodable].filter(([id]) => !changed.has(id)));
  return { inventory: { ...inventory, instances, undecodable }, changed };
}
