/**
 * Keeps the list of Nodes that may get traffic of load balancers, the same for all Services.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { LoadBalancerBackend } from "../../../cloud/capabilities/load_balancers.ts";
import type { NodeCloud } from "../../node_context.ts";
import { changesBackends, isBackendNode, listExcluded, toBackends } from "../spec/node_set.ts";

/** The backends of all load balancers. Computes them only after a change. */
export class Backends {
  readonly #cloud: NodeCloud;
  #isStale = true;
  #current: readonly LoadBalancerBackend[] = [];
  #excludedIds: ReadonlySet<string> = new Set();
  #instanceIds: { readonly of: readonly LoadBalancerBackend[]; readonly ids: ReadonlySet<string> } =
    { of: this.#current, ids: new Set() };

  constructor(cloud: NodeCloud) {
    this.#cloud = cloud;
  }

  /** The backends now. The same array as long as nothing of them changes. */
  get current(): readonly LoadBalancerBackend[] {
    if (this.#isStale) {
      const { nodes, provider, presences } = this.#cloud;
      const { toInstanceId } = provider;
      const toId = toInstanceId?.bind(provider);
      this.#excludedIds = listExcluded(nodes.values(), toId);
      const next = toBackends(nodes.values(), {
        toInstanceId: toId,
        findPresence: (node) => presences.find(node),
      });
      if (!isDeepStrictEqual(next, this.#current)) this.#current = next;
      this.#isStale = false;
    }
    return this.#current;
  }

  /** The IDs of the instances of Nodes that must get no traffic. */
  get excludedIds(): ReadonlySet<string> {
    void this.current;
    return this.#excludedIds;
  }

  /** The IDs of their instances, as far as they are known. The same set as long as nothing of them changes. */
  get instanceIds(): ReadonlySet<string> {
    const of = this.current;
    if (this.#instanceIds.of !== of) {
      const ids = new Set(of.flatMap(({ instanceId }) => instanceId ?? []));
      this.#instanceIds = { of, ids };
    }
    return this.#instanceIds.ids;
  }

  /**
   * Follows Nodes and the inventory from now on.
   *
   * @param onChange Called when load balancers may need other backends
   * @returns The function that ends this
   */
  follow(onChange: () => void): () => void {
    const { nodes, source, provider } = this.#cloud;
    let isStarted = false;
    const endNodes = nodes.subscribe((_key, before, after) => {
      const isChanged = changesBackends(before, after);
      const wasBackend = before !== undefined && isBackendNode(before);
      // What leaves without a reason for a pass is left out by the next plan.
      if (isChanged || wasBackend !== (after !== undefined && isBackendNode(after))) {
        this.#isStale = true;
      }
      if (isChanged && isStarted) onChange();
    });
    isStarted = true;
    const endSource = source.subscribe(() => {
      const isKnown = ({ instanceId }: LoadBalancerBackend): boolean => instanceId !== undefined;
      // With provider IDs, an inventory changes nothing.
      if (provider.toInstanceId && this.#current.every(isKnown)) return;
      const before = this.#current;
      this.#isStale = true;
      if (this.current !== before) onChange();
    });
    return () => {
      endNodes();
      endSource();
    };
  }
}
