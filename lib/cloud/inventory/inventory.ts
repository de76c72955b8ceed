/**
 * An immutable snapshot of what a cloud shows, and the difference between two of them.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Instance } from "../instance.ts";

/** Whether one part of a cloud (a pool, a zone, a file) answered in full. */
export interface Coverage {
  readonly complete: boolean;
  /** Name that people know the part by. */
  readonly name?: string;
  /** Why it is not complete. */
  readonly reason?: string;
  /** The cloud never showed it, Nodes alone name it: it says nothing of where other instances are. Never complete. */
  readonly isOnlyNamed?: true;
}

/** What a cloud showed at one moment. */
export interface Inventory {
  /** When it was asked for: monotonic milliseconds of the clock, taken before the first request. */
  readonly observedAtMs: number;
  /** Instances by their cloud ID. The very same map as before when nothing changed. */
  readonly instances: ReadonlyMap<string, Instance>;
  /** By the identifier of the part. A part that is not listed was never seen. */
  readonly coverage: ReadonlyMap<string, Coverage>;
  /** Cloud IDs of instances that are there but could not be read, and why. */
  readonly undecodable: ReadonlyMap<string, string>;
  /**
   * Cloud IDs that were looked for. Of an instance that is neither shown nor among these, nothing is known. Absent:
   * everything was looked for.
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
 * Puts instances that were read by themselves into an older inventory. What was not read stays as it was: when it was
 * observed, what it covers, what it lacks.
 *
 * @returns The inventory (the very same when nothing differs), and the cloud IDs of what differs
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
