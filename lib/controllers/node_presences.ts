/**
 * Finds the instances of Nodes in memory, for controllers that look at thousands of Nodes every few seconds.
 * @module
 */
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { InventorySource } from "../cloud/inventory/source.ts";
import type { ChangeHint, Presence } from "../cloud/provider.ts";
import type { Node } from "../kube/kinds/node.ts";
import { isUninitialized, toIdentity } from "./identity.ts";

/**
 * Remembers which instance was found for a Node, as long as neither the Node nor the instance changes and no other
 * appears: a look at every Node then costs next to nothing, at rest and when a few instances were read by themselves.
 * That an instance was not found is never remembered, for it may depend on more.
 */
export class NodePresences {
  readonly #resolver: InstanceResolver;
  readonly #source: InventorySource;
  /** What is remembered is of this revision of the inventory, and of so many instances. */
  #of = { revision: -1, size: 0 };
  #found = new WeakMap<Node, Presence & { kind: "present" }>();
  /** The last answer of {@linkcode listTouched}. */
  #touched:
    { readonly changed: ReadonlySet<string>; readonly names: readonly string[] } | undefined;

  constructor(resolver: InstanceResolver, source: InventorySource) {
    this.#resolver = resolver;
    this.#source = source;
  }

  /** What the inventory says of a Node: never `absent`. */
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
   * Names of the Nodes whose instances are among `changed`, and of those that name one and report another: which of the
   * two may have changed is not known. Every controller asks for them when a listener of the inventory gets
   * `changed`, and one pass over the Nodes answers all. Of everything: the names of all Nodes.
   */
  listTouched(changed: ChangeHint, nodes: Iterable<Node>): readonly string[] {
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
    const isMismatched = presence.kind === "unknown" && presence.reason === "ambiguous";
    return isMismatched && !isUninitialized(node);
  }
}
