/**
 * What all controllers of Nodes have in common: what they work with, and a loop that follows the inventory, too.
 * @module
 */
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { InventoryListener, InventorySource } from "../cloud/inventory/source.ts";
import type { ChangeHint, Provider } from "../cloud/provider.ts";
import type { KeySource } from "../engine/key_sources.ts";
import { type LoopContext, ObjectLoop, type ObjectLoopOptions } from "../engine/object_loop.ts";
import type { WrittenVersions } from "../engine/written_versions.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import type { Node } from "../kube/kinds/node.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { NodePresences } from "./node_presences.ts";

/** What every controller of Nodes works with. */
export interface NodeContext extends LoopContext {
  readonly client: KubeClient;
  readonly nodes: StoreReader<Node>;
  readonly provider: Provider;
  readonly source: InventorySource;
  readonly resolver: InstanceResolver;
  readonly presences: NodePresences;
  readonly events: EventRecorder;
  /** Shared by all that write Nodes. */
  readonly written: WrittenVersions;
  /** How many Nodes each controller works on at once. */
  readonly workers: number;
}

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
