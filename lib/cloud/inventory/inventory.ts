/**
 * An immutable snapshot of what a cloud shows, and the difference between two snapshots.
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
  /**
   * Only Nodes name this part; the cloud never showed it. It says nothing about where other instances are. Never
   * complete.
   */
  readonly isOnlyNamed?: true;
}

/** What a cloud showed at one moment. */
export interface Inventory {
  /** Time of its request in monotonic milliseconds, taken before the first request. */
  readonly observedAtMs: number;
  /** Instances by their cloud ID. The same map object as before when nothing changed. */
  readonly instances: ReadonlyMap<string, Instance>;
  /** By the identifier of the part. The cloud never showed a part that is not listed. */
  readonly coverage: ReadonlyMap<string, Coverage>;
  /** Instances that exist but that Landfall cannot read: the reason by cloud ID. */
  readonly undecodable: ReadonlyMap<string, string>;
  /**
   * Cloud IDs that Landfall asked for. The inventory says nothing about an instance that is neither shown nor among
   * these. Absent: Landfall asked for everything.
   */
  readonly lookedFor?: ReadonlySet<string>;
}

/**
 * Returns the cloud IDs of the instances that differ between two inventories: new, changed or no longer shown.
 *
 * @param before The older inventory; absent if there was none
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
 * Whether other parts of the cloud answered in full than before. An instance that is the same in both inventories may
 * then give another result for its Node: a VM counts as moved only while the pool that it left is shown.
 *
 * @param before The older inventory; absent if there was none. Then nothing is different
 */
export function hasOtherCoverage(before: Inventory | undefined, after: Inventory): boolean {
  if (before === undefined || before.coverage === after.coverage) return false;
  if (before.coverage.size !== after.coverage.size) return true;
  for (const [part, { complete }] of after.coverage) {
    if (before.coverage.get(part)?.complete !== complete) return true;
  }
  return false;
}

/**
 * Puts instances that were read one by one into an older inventory. Its time, coverage and missing instances stay the
 * same.
 *
 * @returns The inventory (the same object if nothing differs), and the cloud IDs that differ
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
