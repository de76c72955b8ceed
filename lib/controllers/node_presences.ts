/**
 * Finds the instances of Nodes in memory, for controllers that look at thousands of Nodes every few seconds.
 * @module
 */
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { Inventory } from "../cloud/inventory/inventory.ts";
import type { InventorySource } from "../cloud/inventory/source.ts";
import type { Presence } from "../cloud/provider.ts";
import type { Node } from "../kube/kinds/node.ts";
import { toIdentity } from "./identity.ts";

/**
 * Remembers which instance was found for a Node, as long as neither the Node nor the instances change: at rest, a look
 * at every Node costs next to nothing. That an instance was not found is never remembered, for it may depend on more.
 */
export class NodePresences {
  readonly #resolver: InstanceResolver;
  readonly #source: InventorySource;
  #instances: Inventory["instances"] | undefined;
  #found = new WeakMap<Node, Presence>();

  constructor(resolver: InstanceResolver, source: InventorySource) {
    this.#resolver = resolver;
    this.#source = source;
  }

  /** What the inventory says of a Node: never `absent`. */
  find(node: Node): Presence {
    const instances = this.#source.current?.instances;
    if (instances !== this.#instances) {
      this.#instances = instances;
      this.#found = new WeakMap();
    }
    const known = this.#found.get(node);
    if (known) return known;
    const presence = this.#resolver.find(toIdentity(node));
    if (presence.kind === "present") this.#found.set(node, presence);
    return presence;
  }
}
