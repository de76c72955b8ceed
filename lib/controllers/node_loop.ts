/**
 * The loop of a controller of Nodes: it follows the inventory, too.
 * @module
 */
import type { InventoryListener } from "../cloud/inventory/source.ts";
import type { ChangeHint } from "../cloud/provider.ts";
import type { KeySource } from "../engine/key_sources.ts";
import { ObjectLoop, type ObjectLoopOptions } from "../engine/object_loop.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { NodeContext } from "./context.ts";

/** What makes one controller of Nodes differ from another. */
export interface NodeLoopOptions extends Omit<
  ObjectLoopOptions<Node>,
  "context" | "noun" | "objects" | "sources" | "workers" | "written"
> {
  readonly context: NodeContext;
  /** What to do after each refresh of the inventory; {@linkcode NodeLoop.enqueueTouched} is at hand. */
  readonly onRefresh: InventoryListener;
}

/** The loop of a controller of Nodes. */
export class NodeLoop extends ObjectLoop<Node> {
  readonly #context: NodeContext;

  constructor({ onRefresh, ...options }: NodeLoopOptions) {
    const { nodes, source, written, workers } = options.context;
    const subscribe: KeySource["subscribe"] = (listener) =>
      source.subscribe((changed, hasRecovered) => {
        onRefresh(changed, hasRecovered);
        listener([]);
      });
    super({ ...options, noun: "node", objects: nodes, written, workers, sources: [{ subscribe }] });
    this.#context = options.context;
  }

  /** Works on the Nodes whose instances are among `changed`, and on those that name one and report another. */
  enqueueTouched(changed: ChangeHint): void {
    if (changed === "everything") return this.enqueueAll();
    const { nodes, presences } = this.#context;
    for (const name of presences.listTouched(changed, nodes.values())) this.enqueue(name);
  }
}
