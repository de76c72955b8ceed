/**
 * Reasons of other controllers why a Node may not be deleted yet, although its machine is gone.
 * @module
 */
import type { Node } from "../kube/kinds/node.ts";

/** Says why a Node must wait, without full stop; nothing when it need not. Reads memory only, and ends by itself. */
export type DeletionHold = (node: Node) => string | undefined;

/** What the controllers of a process ask of the one that deletes Nodes. */
export class DeletionHolds {
  readonly #holds: DeletionHold[] = [];

  /** Asks from now on. Called when a controller is created. */
  add(hold: DeletionHold): void {
    this.#holds.push(hold);
  }

  /** The first reason why a Node must wait. */
  find(node: Node): string | undefined {
    for (const hold of this.#holds) {
      const why = hold(node);
      if (why !== undefined) return why;
    }
    return undefined;
  }
}
