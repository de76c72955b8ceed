/**
 * The node controller: initialises Nodes and keeps their addresses up to date.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { NodeSelection } from "../../cloud/settings/sections.ts";
import type { AddressPool } from "../../cloud/pools/pool.ts";
import { LOAD_BALANCERS } from "../../cloud/pools/settings.ts";
import type { ChangeHint, Presence } from "../../cloud/provider.ts";
import { startDeadline } from "../../core/clock.ts";
import { type NodeContext, patchNode, replaceAddresses, toNodeContext } from "../node_context.ts";
import { type ControllerContext, FULL_PASS_FLAG, readFlag } from "../definition.ts";
import { AddressIndex } from "../address_index.ts";
import { isUninitialized, toIdentity } from "../identity.ts";
import { describeAddresses } from "../node_view.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import { type Service, SERVICES } from "../../kube/kinds/service.ts";
import { type LastReconcile, type ReconcileResult, toLastReconcile } from "../../engine/workers.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import { WarningThrottle } from "../../engine/throttle.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { claimsTheSame, MachineClaims, type NodePlan, planNode } from "./plan.ts";
import { EVENT_WORDS, NAME } from "./words.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import { toAddressPolicy } from "../addresses.ts";
import { toEvent } from "../../kube/events/words.ts";
import type { MetricsRegistry } from "../../core/metrics.ts";

/** The dependencies of the node controller. */
interface NodeControllerOptions {
  readonly context: NodeContext;
  readonly metrics: NodeMetrics;
  /** The addresses of Services. */
  readonly services: StoreReader<Service>;
  /** The address pools of Landfall; the same list while none changes. */
  readonly findPools: () => readonly AddressPool[];
  /** How often Landfall checks every Node even without a change, in milliseconds. */
  readonly fullPassIntervalMs: number;
}

/** The last reconcile of one Node. */
interface NodeReport extends ReturnType<typeof describeAddresses> {
  readonly lastReconcile: LastReconcile | null;
  readonly nextReconcileAt?: string;
}

/** Creates the controller for the registry. */
export function create(context: ControllerContext<NodeSelection>): NodeController {
  return new NodeController({
    context: toNodeContext(context),
    metrics: registerMetrics(context.metrics),
    fullPassIntervalMs: readFlag(context.flags, FULL_PASS_FLAG),
    services: context.caches.optionalReader(SERVICES),
    findPools: () => context.findSettings(LOAD_BALANCERS).pools,
  });
}

/** How long Nodes wait for the list of Services. Without the right to read it, it never comes. */
const SERVICES_WAIT_MS = 5_000;

/** The node controller. */
export class NodeController {
  readonly #context: NodeContext;
  readonly #services: NodeControllerOptions["services"];
  readonly #addresses: AddressIndex;
  readonly #loop: ObjectLoop<Node>;
  readonly #findPools: NodeControllerOptions["findPools"];
  /** Those that the last plans of all Nodes knew. */
  #pools: readonly AddressPool[];
  /** Enqueues Nodes whose addresses may depend on a change of something else. */
  #enqueue: (names: readonly string[]) => void = () => {};

  constructor(options: NodeControllerOptions) {
    const { context, metrics, services, findPools, fullPassIntervalMs } = options;
    this.#context = context;
    this.#services = services;
    const { nodes, source, presences, workers } = context;
    this.#addresses = new AddressIndex({
      getNode: (name) => nodes.get(name),
      findPresence: (node) => presences.find(node),
      findPools,
      hasServices: () => services.synced,
    });
    this.#findPools = findPools;
    this.#pools = findPools();
    this.#followAddresses();
    const reconciler = new NodeReconciler({ ...context, metrics, uses: this.#addresses });
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: "Nodes",
      noun: "node",
      objects: nodes,
      workers,
      inputs: toInputs,
      reconcile: (node, signal) => reconciler.reconcile(node, signal),
      forget: (name) => reconciler.forget(name),
      sources: [
        {
          subscribe: (listener) =>
            source.subscribe((...change) => listener(this.#listDue(...change))),
        },
        {
          subscribe: (listener) => {
            this.#enqueue = listener;
            return () => (this.#enqueue = () => {});
          },
        },
      ],
      prepare: (signal) => this.#waitForServices(signal),
      tickIntervalMs: fullPassIntervalMs,
    });
  }

  /** Runs until the signal aborts and all reconciles have ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Looks at every Node at once if address pools changed: a pool takes addresses from Nodes, or gives them back. */
  noteSettings(): void {
    const pools = this.#findPools();
    if (isDeepStrictEqual(pools, this.#pools)) return;
    this.#pools = pools;
    this.#enqueue([...this.#context.nodes.keys()]);
  }

  /** Describes the last reconcile of a Node, for the debug pages. */
  describe(node: Node): NodeReport {
    const last = this.#loop.outcomes.get(node.metadata.name);
    const { resolver, presences, provider } = this.#context;
    const presence = resolver.explain(toIdentity(node), presences.find(node));
    return {
      ...describeAddresses(node, presence, provider, this.#addresses),
      lastReconcile: toLastReconcile(last),
      ...(last?.nextAt === undefined
        ? {}
        : { nextReconcileAt: new Date(last.nextAt).toISOString() }),
    };
  }

  /** Keeps the index of addresses up to date, on a standby, too. */
  #followAddresses(): void {
    const { nodes, source, presences } = this.#context;
    const index = this.#addresses;
    nodes.subscribe((name, before, after) => {
      // Most changes of a Node are heartbeats.
      if (before && after && hasSameAddresses(before, after)) return;
      this.#enqueue(index.noteNode(name, after));
    });
    source.subscribe((changed) => {
      for (const name of presences.listAffected(changed, nodes.values())) {
        this.#enqueue(index.noteNode(name, nodes.get(name)));
      }
    });
    this.#services.subscribe((key, _before, after) => {
      this.#enqueue(index.noteService(key, after));
    });
  }

  /** Ends by itself, at the latest after {@linkcode SERVICES_WAIT_MS}. */
  async #waitForServices(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    using deadline = startDeadline(signal, SERVICES_WAIT_MS, clock);
    await this.#services.untilSynced(deadline.signal).catch(() => undefined);
    if (!this.#services.synced && !signal.aborted) {
      const advice = "allow Landfall to list and watch services";
      log.warn("Addresses of Services may become addresses of Nodes: Services are not listed", {
        advice,
      });
    }
  }

  /** Lists the Nodes that waited for a refresh or for the cloud's recovery, and those whose instance changed. */
  #listDue(changed: ChangeHint, hasRecovered: boolean): readonly string[] {
    const { nodes, resolver, presences } = this.#context;
    const due = [...resolver.waiting, ...presences.listAffected(changed, nodes.values())];
    if (!hasRecovered) return due;
    const waiting = [...nodes.values()].filter(isUninitialized);
    return [...due, ...waiting.map(({ metadata }) => metadata.name)];
  }
}

/** Whether a Node still has the same machine and the same addresses. */
function hasSameAddresses(before: Node, after: Node): boolean {
  return (
    claimsTheSame(before, after) &&
    isDeepStrictEqual(before.status?.addresses, after.status?.addresses)
  );
}

/** Lists the fields of a Node that a plan reads. */
function toInputs({ metadata, spec, status }: Node): readonly unknown[] {
  return [
    metadata.labels,
    metadata.annotations,
    spec?.providerID,
    spec?.taints,
    status?.addresses,
    status?.nodeInfo?.systemUUID,
  ];
}

/** The dependencies of the reconciler. */
interface NodeReconcilerOptions extends NodeContext {
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
class NodeReconciler {
  readonly #options: NodeReconcilerOptions;
  /** Nodes whose taint is removed but whose addresses are not written yet. Their Event `Synced` still has to follow. */
  readonly #unannounced = new Set<string>();
  /** Nodes that have a reason for the Event that is recorded once, by name. */
  readonly #noticed = new Map<string, Notice>();
  readonly #claims: MachineClaims;
  readonly #throttle: WarningThrottle;

  constructor(options: NodeReconcilerOptions) {
    this.#options = options;
    this.#throttle = new WarningThrottle(options.clock);
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
    this.#throttle.forget(name);
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
    const { events, log } = this.#options;
    const { name } = node.metadata;
    for (const one of options) {
      if (!this.#throttle.passes(name, one)) continue;
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

/** Those that upstream has keep their upstream names. */
interface NodeMetrics {
  /** @param nowMs Wall-clock time of the write that removed the taint */
  observeTaintRemoval(node: Node, nowMs: number): void;
  /** @param nowMs Wall-clock time when the Node was initialised, including its addresses */
  observeInitialSync(node: Node, nowMs: number): void;
}

const BUCKETS_SECONDS = [1, 4, 16, 64, 256, 1024];

/** Registers its metrics. */
export function registerMetrics(registry: MetricsRegistry): NodeMetrics {
  const taintRemoval = registry.histogram({
    name: "node_controller_cloud_provider_taint_removal_delay_seconds",
    help: "Seconds from the creation of a Node to the removal of its uninitialized taint.",
    buckets: BUCKETS_SECONDS,
  });
  const initialSync = registry.histogram({
    name: "node_controller_initial_node_sync_delay_seconds",
    help: "Seconds from the creation of a Node to the end of its initialisation.",
    buckets: BUCKETS_SECONDS,
  });
  return {
    observeTaintRemoval: (node, nowMs) => taintRemoval.observe(toAgeSeconds(node, nowMs)),
    observeInitialSync: (node, nowMs) => initialSync.observe(toAgeSeconds(node, nowMs)),
  };
}

function toAgeSeconds(node: Node, nowMs: number): number {
  const createdMs = Date.parse(node.metadata.creationTimestamp ?? "");
  return Number.isNaN(createdMs) ? 0 : Math.max(0, (nowMs - createdMs) / 1_000);
}
