/**
 * Where this process last saw each instance. An instance that it never saw may have been anywhere before.
 * @module
 */
import { remember } from "../../core/remember.ts";
import type { Instance } from "../instance.ts";
import type { Inventory } from "./inventory.ts";

/** A list of instances. */
export interface Listed {
  readonly instances: Inventory["instances"];
  /** The IDs that Nodes may be known by. */
  readonly lookedFor: ReadonlySet<string>;
  /** Those of the instances that may be copies of the Nodes' own: they do not count as seen. */
  readonly copies: ReadonlySet<string>;
}

const NOTHING: Listed = { instances: new Map(), lookedFor: new Set(), copies: new Set() };

/**
 * Remembers the instances of Nodes. Only memory: no clock.
 *
 * What the last list shows is read from that list, which is kept anyway. Only instances that it lacks cost memory. They
 * are limited in number, and are dropped after two lists in a row that no Node of theirs asked for; the longest unseen
 * goes first. Nothing is known of an instance that was listed before any Node asked for it.
 */
export class LastSeen {
  readonly #sizeMax: number;
  readonly #toPlace: (instance: Instance) => string | undefined;
  #listed: Listed = NOTHING;
  /** Places of the instances that the last list lacks, or that were read by themselves since. */
  readonly #apart = new Map<string, string>();

  /**
   * @param sizeMax Most instances to remember, not counting those that the last list shows
   * @param toPlace Where an instance is: its pool, its account
   */
  constructor(sizeMax: number, toPlace: (instance: Instance) => string | undefined) {
    this.#sizeMax = sizeMax;
    this.#toPlace = toPlace;
  }

  /** The place where an instance was last seen; `undefined` if this process never saw it. */
  findPlace(id: string): string | undefined {
    const { instances, lookedFor } = this.#listed;
    const apart = this.#apart.get(id);
    if (apart !== undefined || !lookedFor.has(id) || this.#listed.copies.has(id)) return apart;
    const instance = instances.get(id);
    return instance && this.#toPlace(instance);
  }

  /** Records an instance that was read by itself. */
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
    // A kubelet that was restarted may register its Node again soon.
    for (const id of before) if (!lookedFor.has(id)) keep(id);
    for (const id of this.#apart.keys()) {
      const isAskedFor = lookedFor.has(id) || before.has(id);
      if (!isAskedFor || isShown(id)) this.#apart.delete(id);
    }
    this.#listed = listed;
  }
}
