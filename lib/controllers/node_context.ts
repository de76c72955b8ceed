/**
 * What the controllers of Nodes share: their dependencies, what the cloud says about each Node, and how Nodes are
 * written.
 * @module
 */
import type { InstanceResolver } from "../cloud/inventory/resolver.ts";
import type { InventorySource } from "../cloud/inventory/source.ts";
import type { ChangeHint, Presence, Provider } from "../cloud/provider.ts";
import { assert } from "../core/errors.ts";
import type { LoopContext } from "../engine/object_loop.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import { type Node, NODES } from "../kube/kinds/node.ts";
import { isUninitialized, toIdentity } from "./identity.ts";
import type { InstanceAddress } from "../cloud/instance.ts";

/** The dependencies of every controller of Nodes. */
export interface NodeContext extends LoopContext {
  readonly client: KubeClient;
  readonly nodes: StoreReader<Node>;
  readonly provider: Provider;
  readonly source: InventorySource;
  readonly resolver: InstanceResolver;
  readonly presences: NodePresences;
  readonly events: EventRecorder;
  /** How many Nodes each controller works on at once. */
  readonly workers: number;
  /** Why Nodes may not be deleted yet. @default {no reasons are collected} */
  readonly holds?: DeletionHolds;
}

/** The Nodes and their cloud. All controllers of a process share them. */
export type NodeCloud = Pick<
  NodeContext,
  "nodes" | "provider" | "source" | "resolver" | "presences" | "workers" | "holds"
>;

/** The dependencies of any controller. `cloud` is there if its definition has `needsCloud`. */
type GivenContext = Omit<NodeContext, keyof NodeCloud> & { readonly cloud?: NodeCloud };

/** Returns the dependencies of a controller of Nodes. */
export function toNodeContext(context: GivenContext): NodeContext {
  return { ...context, ...requireCloud(context) };
}

/** Returns the cloud of a controller whose definition has `needsCloud`. */
export function requireCloud({ cloud }: Pick<GivenContext, "cloud">): NodeCloud {
  assert(cloud !== undefined, "a controller that uses a cloud must set needsCloud");
  return cloud;
}

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

/** The taints of a Node, as in the API. */
export type Taints = NonNullable<NonNullable<Node["spec"]>["taints"]>;

/** A merge patch for a Node, without its resourceVersion. */
export interface NodePatch {
  readonly metadata?: {
    /** `null` removes one. */
    readonly labels?: Readonly<Record<string, string | null>>;
    /** `null` removes one. */
    readonly annotations?: Readonly<Record<string, string | null>>;
  };
  readonly spec?: {
    /** All taints that stay; `null` for none. */
    readonly taints: Taints | null;
    readonly providerID?: string;
  };
}

/**
 * Changes labels, annotations, taints or the provider ID in one write. It succeeds only if the Node has not changed
 * since the plan, so it never overwrites another program's change.
 *
 * @returns The Node as it is then
 * @throws {KubeError} if Kubernetes refuses; `conflict` if the Node has changed since
 */
export function patchNode(
  client: Pick<KubeClient, "patch">,
  { metadata: { name, resourceVersion } }: Node,
  { metadata, ...patch }: NodePatch,
  signal: AbortSignal,
): Promise<Node> {
  const body = { metadata: { ...metadata, resourceVersion }, ...patch };
  return client.patch(NODES, { name }, { type: "merge", body }, signal);
}

/**
 * Replaces all addresses, with the same guarantee. A merge would lose addresses, because its key is the type, and a
 * Node may have two of a type.
 *
 * @returns The Node as it is then
 * @throws {KubeError} if Kubernetes refuses; `conflict` if the Node has changed since
 */
export function replaceAddresses(
  client: Pick<KubeClient, "patch">,
  { metadata: { name, resourceVersion } }: Node,
  addresses: readonly InstanceAddress[],
  signal: AbortSignal,
): Promise<Node> {
  const status = { addresses: [...addresses, { $patch: "replace" }] };
  const body = { metadata: { resourceVersion }, status };
  const path = { name, subresource: "status" };
  return client.patch(NODES, path, { type: "strategic", body }, signal);
}

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
