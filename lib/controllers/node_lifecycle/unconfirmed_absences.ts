/**
 * Remembers the answers of the cloud that did not confirm that a machine is gone.
 * @module
 */
import type { Node } from "../../kube/kinds/node.ts";
import { isReady } from "../identity.ts";
import type { NodeContext } from "../context.ts";

interface UnconfirmedAbsence {
  /** A new Node with the same name has another UID. */
  readonly uid: string | undefined;
  readonly message: string;
}

/** Holds at most one answer for each Node, until the machine or the kubelet is back. */
export class UnconfirmedAbsences {
  readonly #context: Pick<NodeContext, "nodes" | "presences">;
  readonly #byName = new Map<string, UnconfirmedAbsence>();

  constructor(context: Pick<NodeContext, "nodes" | "presences">) {
    this.#context = context;
  }

  /** Returns the answer for a Node, if there is one. */
  find(name: string): string | undefined {
    return this.#byName.get(name)?.message;
  }

  /** Records that the cloud did not confirm it. @param message The answer in words */
  note({ metadata: { name, uid } }: Node, message: string): void {
    this.#byName.set(name, { uid, message });
  }

  /** Forgets the answer for a Node. */
  drop(name: string): void {
    this.#byName.delete(name);
  }

  /** Forgets answers that no longer matter. */
  dropResolved(): void {
    const { nodes, presences } = this.#context;
    for (const [name, { uid }] of this.#byName) {
      const node = nodes.get(name);
      const isCurrent =
        node !== undefined &&
        node.metadata.uid === uid &&
        !isReady(node) &&
        presences.find(node).kind !== "present";
      if (!isCurrent) this.#byName.delete(name);
    }
  }
}
