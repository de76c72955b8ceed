/**
 * Lets other controllers delay the deletion of a Node whose machine is gone.
 * @module
 */
import type { Node } from "../kube/kinds/node.ts";

/**
 * Says why a Node must not be deleted yet, without full stop; `undefined` if it may be. Reads only memory. Every reason
 * must end by itself.
 */
type DeletionHold = (node: Node) => string | undefined;

/** All reasons of the controllers of a process. */
export class DeletionHolds {
  readonly #holds: DeletionHold[] = [];

  /** Adds a source of reasons. Called in `create` of a controller. */
  add(hold: DeletionHold): void {
    this.#holds.push(hold);
  }

  /** Returns the first reason why a Node must wait. */
  find(node: Node): string | undefined {
    for (const hold of this.#holds) {
      const why = hold(node);
      if (why !== undefined) return why;
    }
    return undefined;
  }
}
