/**
 * Remembers what the cloud said of Nodes instead of confirming that their machines are gone.
 * @module
 */
import type { Node } from "../../kube/kinds/node.ts";
import { isReady } from "../identity.ts";
import type { NodeContext } from "../context.ts";

interface Disagreement {
  /** A Node that comes again under its name is another one. */
  readonly uid: string | undefined;
  readonly message: string;
}

/** One for each Node at most. Each stands until the machine or the kubelet is back. */
export class Disagreements {
  readonly #context: Pick<NodeContext, "nodes" | "presences">;
  readonly #byName = new Map<string, Disagreement>();

  constructor(context: Pick<NodeContext, "nodes" | "presences">) {
    this.#context = context;
  }

  /** What the cloud said of a Node; absent when nothing stands. */
  find(name: string): string | undefined {
    return this.#byName.get(name)?.message;
  }

  /** The cloud, asked directly, did not agree. @param message What it said */
  note({ metadata: { name, uid } }: Node, message: string): void {
    this.#byName.set(name, { uid, message });
  }

  /** Drops what was said of a Node. */
  drop(name: string): void {
    this.#byName.delete(name);
  }

  /** Drops what is over. */
  dropSettled(): void {
    const { nodes, presences } = this.#context;
    for (const [name, { uid }] of this.#byName) {
      const node = nodes.get(name);
      const isStanding =
        node !== undefined &&
        node.metadata.uid === uid &&
        !isReady(node) &&
        presences.find(node).kind !== "present";
      if (!isStanding) this.#byName.delete(name);
    }
  }
}
