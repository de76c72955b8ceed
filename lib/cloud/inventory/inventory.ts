/**
 * An immutable snapshot of what a cloud shows, the difference between two snapshots, and where this process last saw
 * each instance.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Instance } from "../instance.ts";
import { remember } from "../../core/maps.ts";

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

/** A list of instances. */
export interface Listed {
  readonly instances: Inventory["instances"];
  /** IDs of the instances that may belong to Nodes. */
  readonly lookedFor: ReadonlySet<string>;
  /** Instances that may be copies of the Nodes' own instances. They do not count as seen. */
  readonly copies: ReadonlySet<string>;
}

const NOTHING: Listed = { instances: new Map(), lookedFor: new Set(), copies: new Set() };

/**
 * Remembers the instances of Nodes. Only memory: no clock.
 *
 * The last list is in memory anyway, so only instances that it lacks need more memory, up to a maximum. Beyond it, the
 * instance not seen for the longest time is forgotten. It also forgets an instance after two lists in a row that no
 * Node of the instance asked for. An instance that was listed before a Node asked for it does not count.
 */
export class LastSeen {
  readonly #sizeMax: number;
  readonly #toPlace: (instance: Instance) => string | undefined;
  #listed: Listed = NOTHING;
  /** Places of instances that the last list lacks, and of instances from single reads since. */
  readonly #apart = new Map<string, string>();

  /**
   * @param sizeMax Maximum number of instances to remember besides those in the last list
   * @param toPlace Returns the place of an instance: its pool, its account
   */
  constructor(sizeMax: number, toPlace: (instance: Instance) => string | undefined) {
    this.#sizeMax = sizeMax;
    this.#toPlace = toPlace;
  }

  /** Finds the place where an instance was last seen; `undefined` if this process never saw it. */
  findPlace(id: string): string | undefined {
    const { instances, lookedFor } = this.#listed;
    const apart = this.#apart.get(id);
    if (apart !== undefined || !lookedFor.has(id) || this.#listed.copies.has(id)) return apart;
    const instance = instances.get(id);
    return instance && this.#toPlace(instance);
  }

  /** Records an instance from a single read. */
  note(id: string, place: string): void {
    remember(this.#apart, id, place, this.#sizeMax);
  }

  /** Records a list. */
  noteList(listed: Listed): void {
    const { instances, lookedFor, copies } = listed;
    const before = this.#listed.lookedFor;
    const isShown = (id: string): boolean =>
      lookedFor.has(id) && instances.has(id) && !copies.has(id);
    const keep = (id: string): void => {
      const place = isShown(id) ? undefined : this.findPlace(id);
      if (place !== undefined) this.note(id, place);
    };
    for (const id of lookedFor) keep(id);
    // A kubelet that restarts may soon register its Node again.
    for (const id of before) if (!lookedFor.has(id)) keep(id);
    for (const id of this.#apart.keys()) {
      const isAskedFor = lookedFor.has(id) || before.has(id);
      if (!isAskedFor || isShown(id)) this.#apart.delete(id);
    }
    this.#listed = listed;
  }
}
