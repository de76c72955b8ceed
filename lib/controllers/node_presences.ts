/**
 * Finds the instances of Nodes in memory, for controllers that check thousands of Nodes every few seconds.
 * @module
 */
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { InventorySource } from "../cloud/inventory/source.ts";
import type { ChangeHint, Presence } from "../cloud/provider.ts";
import type { Node } from "../kube/kinds/node.ts";
import { isUninitialized, toIdentity } from "./identity.ts";

/**
 * Remembers the instance of a Node as long as neither of them changes and no other instance appears. So a look at every
 * Node takes almost no time if nothing or only a few instances changed. It does not remember that an instance was not
 * found, because that result may depend on other things.
 */
export class NodePresences {
  readonly #resolver: InstanceResolver;
  readonly #source: InventorySource;
  /** The revision of the inventory and the number of instances for which the remembered results are valid. */
  #of = { revision: -1, size: 0 };
  #found = new WeakMap<Node, Presence & { kind: "present" }>();
  /** The last answer of {@linkcode listAffected}. */
  #touched:
    { readonly changed: ReadonlySet<string>; readonly names: readonly string[] } | undefined;

  constructor(resolver: InstanceResolver, source: InventorySource) {
    this.#resolver = resolver;
    this.#source = source;
  }

  /** Finds the instance of a Node in the inventory; never returns `absent`. */
  find(node: Node): Presence {
    const { current, revision } = this.#source;
    const instances = current?.instances;
    const size = instances?.size ?? 0;
    if (revision !== this.#of.revision || size !== this.#of.size) {
      this.#of = { revision, size };
      this.#found = new WeakMap();
    }
    const known = this.#found.get(node);
    if (known && instances?.get(known.instance.id) === known.instance) return known;
    const presence = this.#resolver.find(toIdentity(node));
    if (presence.kind === "present") this.#found.set(node, presence);
    return presence;
  }

  /**
   * Lists the names of the Nodes whose instances are among `changed`; for `everything`, the names of all Nodes. Also
   * lists Nodes that may run on another instance than that of their provider ID, because either may have changed. Every
   * controller calls this when a listener of the inventory gets `changed`; one pass over the Nodes serves all of them.
   */
  listAffected(changed: ChangeHint, nodes: Iterable<Node>): readonly string[] {
    if (changed === "everything") return Array.from(nodes, ({ metadata }) => metadata.name);
    if (this.#touched?.changed === changed) return this.#touched.names;
    const names: string[] = [];
    if (changed.size > 0) {
      for (const node of nodes) if (this.#isTouched(node, changed)) names.push(node.metadata.name);
    }
    this.#touched = { changed, names };
    return names;
  }

  #isTouched(node: Node, changed: ReadonlySet<string>): boolean {
    const presence = this.find(node);
    if (presence.kind === "present") return changed.has(presence.instance.id);
    const isAmbiguous = presence.kind === "unknown" && presence.reason === "ambiguous";
    return (isAmbiguous || presence.otherMachine !== undefined) && !isUninitialized(node);
  }
}
