/**
 * Brings one Node to what its instance says: reads memory, plans, applies.
 * @module
 */
import type { Presence } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import { isUninitialized, toIdentity } from "../identity.ts";
import type { NodeContext } from "../context.ts";
import { NodeWriter } from "../node_writer.ts";
import type { WarningThrottle } from "../../engine/warning_throttle.ts";
import type { NodeMetrics } from "./metrics.ts";
import { toAddressPolicy } from "../addresses.ts";
import { planNode } from "./plan.ts";
import { Claims } from "./rivals.ts";
import { toEvent } from "../../kube/events/words.ts";
import { EVENT_WORDS } from "./words.ts";

/** What a reconcile works with. */
export interface NodeReconcilerOptions extends NodeContext {
  readonly throttle: WarningThrottle;
  readonly metrics: NodeMetrics;
}

/** A Node that cannot be initialised now; it is tried again with back-off. */
export class NodeBlockedError extends Error {
  override readonly name = "NodeBlockedError";
}

/** Reconciles one Node at a time for the loop of the controller. */
export class NodeReconciler {
  readonly #options: NodeReconcilerOptions;
  /** Nodes whose taint is gone but whose addresses were not written yet: their end has still to be told. */
  readonly #unannounced = new Set<string>();
  readonly #claims: Claims;
  readonly #writer: NodeWriter;

  constructor(options: NodeReconcilerOptions) {
    this.#options = options;
    this.#writer = new NodeWriter(options);
    const { nodes, resolver, presences } = options;
    this.#claims = new Claims(options.provider, (name) => {
      const node = nodes.get(name);
      return node && resolver.explain(toIdentity(node), presences.find(node));
    });
    nodes.subscribe((name, _before, after) => this.#claims.note(name, after));
  }

  /** Drops what is remembered of a Node. */
  forget(name: string): void {
    this.#options.resolver.forget(name);
    this.#options.throttle.forget(name);
    this.#unannounced.delete(name);
  }

  /**
   * Brings a Node to what its instance says.
   *
   * @throws {NodeBlockedError} when the Node has to wait for its cloud
   * @throws {KubeError} when Kubernetes refuses
   */
  async reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { nodes, resolver, presences } = this.#options;
    // Only a Node that waits for its cloud is worth asking about; the others live on the inventory.
    const presence = isUninitialized(node)
      ? await resolver.resolve(toIdentity(node), signal)
      : presences.find(node);
    if (presence.kind === "waiting") return { isPending: true };
    // The answer may have taken a while: plan on the Node as it is now.
    const current = nodes.get(node.metadata.name);
    if (current === undefined || current.metadata.uid !== node.metadata.uid) {
      return { isPending: true };
    }
    await this.#apply(current, presence, signal);
    return {};
  }

  async #apply(node: Node, resolved: Presence, signal: AbortSignal): Promise<void> {
    const options = this.#options;
    const presence = this.#claims.refuseRival(node, resolved);
    const plan = planNode(node, presence, toAddressPolicy(options.provider));
    this.#tell(node, plan.warnings, plan.blocked === undefined);
    if (plan.blocked !== undefined) throw new NodeBlockedError(plan.blocked);
    const patched = plan.patch ? await this.#writer.patch(node, plan.patch, signal) : node;
    if (plan.initialises) {
      options.metrics.observeTaintRemoval(node, options.clock.now());
      this.#unannounced.add(node.metadata.name);
    }
    if (plan.addresses) await this.#writer.replaceAddresses(patched, plan.addresses, signal);
    if (this.#unannounced.delete(node.metadata.name)) announce(options, patched, presence);
    else this.#tell(node, plan.news, true);
  }

  /** @param isLogged Not for a Node that is blocked: that is an error, which is logged already */
  #tell(node: Node, said: readonly EventOptions[], isLogged: boolean): void {
    const { throttle, events, log } = this.#options;
    const { name } = node.metadata;
    for (const one of said) {
      if (!throttle.passes(name, one)) continue;
      events.record(node, one);
      if (!isLogged) continue;
      const level = one.type === "Warning" ? "warn" : "info";
      log[level]("Event on a Node", { node: name, reason: one.reason, said: one.message });
    }
  }
}

function announce(
  { events, log, metrics, clock }: NodeReconcilerOptions,
  node: Node,
  presence: Presence,
): void {
  events.record(node, toEvent(EVENT_WORDS.synced, "Node synced successfully"));
  metrics.observeInitialSync(node, clock.now());
  log.info("Node initialised", {
    node: node.metadata.name,
    providerId: node.spec?.providerID,
    matchedBy: presence.kind === "present" ? presence.matchedBy : undefined,
  });
}
