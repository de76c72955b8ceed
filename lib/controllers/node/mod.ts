/**
 * The node controller: initialises Nodes and keeps their addresses up to date.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { NodeSelection } from "../../cloud/settings/sections.ts";
import type { AddressPool } from "../../cloud/pools/pool.ts";
import { LOAD_BALANCERS } from "../../cloud/pools/settings.ts";
import type { ChangeHint } from "../../cloud/provider.ts";
import { startDeadline } from "../../core/clock.ts";
import { type NodeContext, toNodeContext } from "../node_context.ts";
import { type ControllerContext, FULL_PASS_FLAG, readFlag } from "../definition.ts";
import { AddressIndex } from "../address_index.ts";
import { isUninitialized, toIdentity } from "../identity.ts";
import { describeAddresses } from "../node_view.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import { type Service, SERVICES } from "../../kube/kinds/service.ts";
import { type LastReconcile, toLastReconcile } from "../../engine/workers.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import { WarningThrottle } from "../../engine/throttle.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { createNodeMetrics, type NodeMetrics } from "./metrics.ts";
import { NodeReconciler } from "./reconcile.ts";
import { claimsTheSame } from "./rivals.ts";
import { NAME } from "./words.ts";

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
    metrics: createNodeMetrics(context.metrics),
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
    });
    this.#followAddresses();
    const throttle = new WarningThrottle(context.clock);
    const uses = this.#addresses;
    const reconciler = new NodeReconciler({ ...context, metrics, throttle, uses });
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
