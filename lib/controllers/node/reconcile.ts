/**
 * Brings one Node to what its instance says: reads memory, plans, applies.
 * @module
 */
import type { InstanceAddress, Presence, Provider } from "../../cloud/provider.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events.ts";
import { NODES, type Node } from "../../kube/resource.ts";
import type { StoreReader } from "../../kube/store.ts";
import type { ReconcileResult } from "../controller.ts";
import { isUninitialized, toIdentity } from "./identity.ts";
import type { NodeMetrics } from "./metrics.ts";
import { planNode } from "./plan.ts";
import type { InstanceResolver } from "./resolver.ts";
import { findRival, toRivalPresence } from "./rivals.ts";
import type { SupersededVersions } from "./superseded_versions.ts";
import type { WarningThrottle } from "./warning_throttle.ts";
import { REASONS } from "./words.ts";

/** What a reconcile works with. */
export interface NodeReconcilerOptions {
  readonly client: KubeClient;
  readonly nodes: StoreReader<Node>;
  readonly provider: Provider;
  readonly resolver: InstanceResolver;
  readonly events: EventRecorder;
  readonly throttle: WarningThrottle;
  readonly superseded: SupersededVersions;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: NodeMetrics;
}

/** A Node that cannot be initialised now; it is tried again with back-off. */
export class NodeBlockedError extends Error {
  override readonly name = "NodeBlockedError";
}

/**
 * Creates the reconcile function of the node controller.
 *
 * It throws {@linkcode NodeBlockedError} when the Node has to wait for its cloud, `KubeError` when Kubernetes refuses.
 */
export function createNodeReconciler(
  options: NodeReconcilerOptions,
): (key: string, signal: AbortSignal) => Promise<ReconcileResult> {
  const { nodes, resolver, throttle, superseded } = options;
  const unannounced = new Set<string>();
  return async (key, signal) => {
    const node = nodes.get(key);
    if (node === undefined) {
      resolver.forget(key);
      throttle.forget(key);
      superseded.forget(key);
      unannounced.delete(key);
      return {};
    }
    if (superseded.isStale(node)) return { isPending: true };
    const identity = toIdentity(node);
    // Only a Node that waits for its cloud is worth asking about; the others live on the inventory.
    const presence = isUninitialized(node)
      ? await resolver.resolve(identity, signal)
      : resolver.find(identity);
    if (presence.kind === "waiting") return { isPending: true };
    // The answer may have taken a while: plan on the Node as it is now.
    const current = nodes.get(key);
    if (current === undefined || current.metadata.uid !== node.metadata.uid) {
      return { isPending: true };
    }
    await reconcileNode({ ...options, unannounced }, current, presence, signal);
    return {};
  };
}

interface NodeReconciler extends NodeReconcilerOptions {
  /** Nodes whose taint is gone but whose addresses were not written yet: their end has still to be told. */
  readonly unannounced: Set<string>;
}

async function reconcileNode(
  options: NodeReconciler,
  node: Node,
  resolved: Presence,
  signal: AbortSignal,
): Promise<void> {
  const presence = isUninitialized(node) ? refuseRival(options, node, resolved) : resolved;
  const plan = planNode(node, presence, options.provider.providedNodeIps);
  for (const warning of plan.warnings) {
    if (options.throttle.passes(node.metadata.name, warning)) options.events.record(node, warning);
  }
  if (plan.blocked !== undefined) throw new NodeBlockedError(plan.blocked);
  const patched = plan.patch ? await patchNode(options, node, plan.patch, signal) : node;
  if (plan.initialises) {
    options.metrics.observeTaintRemoval(node, options.clock.now());
    options.unannounced.add(node.metadata.name);
  }
  if (plan.addresses) await patchAddresses(options, patched, plan.addresses, signal);
  if (options.unannounced.delete(node.metadata.name)) announce(options, patched, presence);
}

/** A machine that two Nodes claim is nobody's until a person decides. */
function refuseRival({ nodes }: NodeReconciler, node: Node, presence: Presence): Presence {
  if (presence.kind !== "present") return presence;
  const rival = findRival(node, presence.instance, nodes.values());
  return rival === undefined ? presence : toRivalPresence(presence.instance, rival);
}

async function patchNode(
  { client, superseded }: NodeReconcilerOptions,
  node: Node,
  patch: { readonly metadata?: object; readonly spec?: object },
  signal: AbortSignal,
): Promise<Node> {
  const metadata = { ...patch.metadata, resourceVersion: node.metadata.resourceVersion };
  const body = { ...patch, metadata };
  const path = { name: node.metadata.name };
  const patched = await client.patch(NODES, path, { type: "merge", body }, signal);
  superseded.note(node, patched);
  return patched;
}

/** The list is replaced whole: its merge key is the type, which would lose one of two addresses of a type. */
async function patchAddresses(
  { client, superseded }: NodeReconcilerOptions,
  node: Node,
  addresses: readonly InstanceAddress[],
  signal: AbortSignal,
): Promise<void> {
  const body = {
    metadata: { resourceVersion: node.metadata.resourceVersion },
    status: { addresses: [...addresses, { $patch: "replace" }] },
  };
  const path = { name: node.metadata.name, subresource: "status" };
  const patched = await client.patch(NODES, path, { type: "strategic", body }, signal);
  superseded.note(node, patched);
}

function announce(
  { events, log, metrics, clock }: NodeReconcilerOptions,
  node: Node,
  presence: Presence,
): void {
  events.record(node, {
    type: "Normal",
    reason: REASONS.synced,
    message: "Node synced successfully",
  });
  metrics.observeInitialSync(node, clock.now());
  log.info("Node initialised", {
    node: node.metadata.name,
    providerId: node.spec?.providerID,
    matchedBy: presence.kind === "present" ? presence.matchedBy : undefined,
  });
}
