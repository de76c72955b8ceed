/**
 * Remembers where this process last saw each instance. An instance that it never saw may have been anywhere.
 * @module
 */
import { remember } from "../../core/remember.ts";
import type { Instance } from "../instance.ts";
import type { Inventory } from "./inventory.ts";

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
