/**
 * Where this process last saw each VM. A VM that it never saw may have been anywhere before.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { remember } from "../../../core/remember.ts";

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
 * What the last list shows is read from that list, which is kept anyway. Only VMs that it lacks cost memory. They are
 * limited in number, and are dropped after two lists in a row that no Node of theirs asked for; the longest unseen goes
 * first. Nothing is known of a VM that was listed before any Node asked for it.
 */
export class LastSeen {
  readonly #sizeMax: number;
  #listed: Listed = NOTHING;
  /** Pools of the VMs that the last list lacks, or that were read by themselves since. */
  readonly #apart = new Map<string, string>();

  /** @param sizeMax Most VMs to remember, not counting those that the last list shows */
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

  /** Records a VM that was read by itself. */
  note(vmId: string, poolId: string): void {
    remember(this.#apart, vmId, poolId, this.#sizeMax);
  }

  /** Records a list. */
  noteList(listed: Listed): void {
    const { instances, lookedFor, copies } = listed;
    const before = this.#listed.lookedFor;
    const isShown = (id: string): boolean =>
      lookedFor.has(id) && instances.has(id) && !copies.has(id);
    const keep = (id: string): void => {
      const poolId = isShown(id) ? undefined : this.findPool(id);
      if (poolId !== undefined) this.note(id, poolId);
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
