/**
 * Where this process saw each VM last. A VM that it never saw may have been anywhere before.
 * @module
 */
import type { Inventory } from "../../cloud/inventory.ts";
import { remember } from "../../core/remember.ts";

/** A list of VMs and for which of them it was asked. */
export type Listed = Pick<Inventory, "instances" | "lookedFor">;

const NOTHING: Listed = { instances: new Map(), lookedFor: new Set() };

/**
 * Remembers the VMs of Nodes. Only memory: no clock.
 *
 * What the last list shows is read from that list, which is kept anyway. Only the VMs that it lacks cost memory, at
 * most so many; the longest unseen goes first. Nothing is known of a VM that was listed before any Node asked for it.
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
    return (
      this.#apart.get(vmId) ?? (lookedFor?.has(vmId) ? instances.get(vmId)?.region : undefined)
    );
  }

  /** Takes in a VM that was read by itself. */
  note(vmId: string, poolId: string): void {
    remember(this.#apart, vmId, poolId, this.#sizeMax);
  }

  /** Takes in a list. */
  noteList(listed: Listed): void {
    const { instances, lookedFor = NONE } = listed;
    // The very same instances: nothing left.
    if (instances !== this.#listed.instances) {
      for (const id of lookedFor) {
        const poolId = instances.has(id) ? undefined : this.findPool(id);
        if (poolId !== undefined) this.note(id, poolId);
      }
    }
    for (const id of this.#apart.keys()) {
      if (lookedFor.has(id) && instances.has(id)) this.#apart.delete(id);
    }
    this.#listed = { instances, lookedFor };
  }
}

const NONE: ReadonlySet<string> = new Set();
