/**
 * Reconciles one Node with its instance: reads memory, plans, writes.
 * @module
 */
import type { Presence } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import { isUninitialized, toIdentity } from "../identity.ts";
import { type NodeContext, patchNode, replaceAddresses } from "../node_context.ts";
import type { WarningThrottle } from "../../engine/throttle.ts";
import type { NodeMetrics } from "./metrics.ts";
import type { AddressIndex } from "../address_index.ts";
import { toAddressPolicy } from "../addresses.ts";
import { type NodePlan, planNode } from "./plan.ts";
import { claimsTheSame, MachineClaims } from "./rivals.ts";
import { toEvent } from "../../kube/events/words.ts";
import { EVENT_WORDS } from "./words.ts";

/** The dependencies of the reconciler. */
interface NodeReconcilerOptions extends NodeContext {
  readonly throttle: WarningThrottle;
  readonly metrics: NodeMetrics;
  /** Who else has addresses. */
  readonly uses: AddressIndex;
}

/** Landfall cannot initialise the Node now. It tries again with back-off. */
class NodeBlockedError extends Error {
  override readonly name = "NodeBlockedError";
}

/** The Event that is recorded once. */
interface Notice {
  readonly uid: string | undefined;
  /** Since when there is a reason for it, in monotonic milliseconds. */
  readonly sinceMs: number;
  readonly isSaid: boolean;
}

/** Reconciles Nodes for the loop of the controller. */
export class NodeReconciler {
  readonly #options: NodeReconcilerOptions;
  /** Nodes whose taint is removed but whose addresses are not written yet. Their Event `Synced` still has to follow. */
  readonly #unannounced = new Set<string>();
  /** Nodes that have a reason for the Event that is recorded once, by name. */
  readonly #noticed = new Map<string, Notice>();
  readonly #claims: MachineClaims;

  constructor(options: NodeReconcilerOptions) {
    this.#options = options;
    const { nodes, resolver, presences, source } = options;
    this.#claims = new MachineClaims(options.provider, (name) => {
      const node = nodes.get(name);
      return node && resolver.explain(toIdentity(node), presences.find(node));
    });
    nodes.subscribe((name, before, after) => {
      // Most changes of a Node are heartbeats.
      if (before && after && claimsTheSame(before, after)) return;
      this.#claims.note(name, after);
    });
    // With other settings, other provider IDs name machines.
    source.subscribe((changed) => {
      if (changed !== "everything") return;
      for (const node of nodes.values()) this.#claims.note(node.metadata.name, node);
    });
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#options.resolver.forget(name);
    this.#options.throttle.forget(name);
    this.#unannounced.delete(name);
    this.#noticed.delete(name);
  }

  /**
   * Reconciles a Node with its instance.
   *
   * @throws {NodeBlockedError} if the Node must wait for its cloud
   * @throws {KubeError} if Kubernetes refuses
   */
  async reconcile(node: Node, signal: AbortSignal): Promise<ReconcileResult> {
    const { nodes, resolver, presences } = this.#options;
    // Landfall asks the cloud only about a Node that is not initialised. The inventory is enough for all others.
    const presence = isUninitialized(node)
      ? await resolver.resolve(toIdentity(node), signal)
      : presences.find(node);
    if (presence.kind === "waiting") return { isPending: true };
    // The answer may have taken a while, so plan with the current Node.
    const current = nodes.get(node.metadata.name);
    if (current === undefined || current.metadata.uid !== node.metadata.uid) {
      return { isPending: true };
    }
    return await this.#apply(current, presence, signal);
  }

  async #apply(node: Node, resolved: Presence, signal: AbortSignal): Promise<ReconcileResult> {
    const options = this.#options;
    const { name } = node.metadata;
    const presence = this.#claims.refuseRival(node, resolved);
    const plan = planNode(node, presence, toAddressPolicy(options.provider), options.uses);
    this.#recordEvents(node, plan.warnings, plan.blocked === undefined);
    const leftMs = this.#recordOnce(node, plan);
    if (plan.blocked !== undefined) throw new NodeBlockedError(plan.blocked);
    using _ = options.uses.hold(name, plan.addresses ?? []);
    const patched = plan.patch ? await patchNode(options.client, node, plan.patch, signal) : node;
    if (plan.initialises) {
      options.metrics.observeTaintRemoval(node, options.clock.now());
      this.#unannounced.add(name);
    }
    if (plan.addresses) await replaceAddresses(options.client, patched, plan.addresses, signal);
    if (this.#unannounced.delete(name)) announce(options, patched, presence);
    else this.#recordEvents(node, plan.news, true);
    return leftMs > 0 ? { requeueAfterMs: leftMs } : {};
  }

  /** @returns How long the Event still has to wait, in milliseconds */
  #recordOnce(node: Node, { notice, noticeAfterMs = 0 }: NodePlan): number {
    const { name, uid } = node.metadata;
    const noted = this.#noticed.get(name);
    const last = noted?.uid === uid ? noted : undefined;
    if (last?.isSaid) return 0;
    if (notice === undefined) {
      this.#noticed.delete(name);
      return 0;
    }
    const nowMs = this.#options.clock.monotonic();
    const sinceMs = last?.sinceMs ?? nowMs;
    const leftMs = sinceMs + noticeAfterMs - nowMs;
    this.#noticed.set(name, { uid, sinceMs, isSaid: leftMs <= 0 });
    if (leftMs <= 0) this.#recordEvents(node, [notice], true);
    return leftMs;
  }

  /** @param isLogged False for a blocked Node: the log has the error already */
  #recordEvents(node: Node, options: readonly EventOptions[], isLogged: boolean): void {
    const { throttle, events, log } = this.#options;
    const { name } = node.metadata;
    for (const one of options) {
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
