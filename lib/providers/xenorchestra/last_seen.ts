/**
 * Where this process saw each VM last. A VM that it never saw may have been anywhere before.
 * @module
 */
import type { Inventory } from "../../cloud/inventory.ts";
import { remember } from "../../core/remember.ts";

/** A list of VMs. */
export interface Listed {
  readonly instances: Inventory["instances"];
  /** The IDs that Nodes may be known by. */
  readonly lookedFor: ReadonlySet<string>;
  /** Those of the VMs that may be copies of the Nodes' own: they do not count as seen. */
  readonly copies: ReadonlySet<string>;
}

const NOTHING: Listed = { instances: new Map(), lookedFor: new Set(), copies: new Set() };

/**
 * Remembers the VMs of Nodes. Only memory: no clock.
 *
 * What the last list shows is read from that list, which is kept anyway. Only the VMs that it lacks cost memory, at
 * most so many, until their Nodes are gone; the longest unseen goes first. Nothing is known of a VM that was listed
 * before any Node asked for it.
 */
export class LastSeen {
  readonly #sizeMax: number;
  #listed: Listed = NOTHING;
  /** Pools of the VMs that the last list lacks, or that were read by themselves since. */
  readonly #apart = new Map<string, string>();

  /** @param sizeMax Most VMs to remember beside those that the last list shows */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** The pool that a VM was last seen in; `undefined` if this process never saw it. */
  findPool(vmId: string): string | undefined {
    const { instances, lookedFor } = this.#listed;
    const apart = this.#apart.get(vmId);
    if (apart !== undefined || !lookedFor.has(vmId) || this.#listed.copies.has(vmId)) return apart;
    return instances.get(vmId)?.region;
  }

  /** Takes in a VM that was read by itself. */
  note(vmId: string, poolId: string): void {
    remember(this.#apart, vmId, poolId, this.#sizeMax);
  }

  /** Takes in a list. */
  noteList(listed: Listed): void {
    const { instances, lookedFor, copies } = listed;
    const isShown = (id: string): boolean => instances.has(id) && !copies.has(id);
    // The very same instances: nothing left.
    if (instances !== this.#listed.instances) {
      for (const id of lookedFor) {
        const poolId = isShown(id) ? undefined : this.findPool(id);
        if (poolId !== undefined) this.note(id, poolId);
      }
    }
    for (const id of this.#apart.keys()) {
      if (!lookedFor.has(id) || isShown(id)) this.#apart.delete(id);
    }
    this.#listed = listed;
  }
}
