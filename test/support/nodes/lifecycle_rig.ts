/**
 * The lifecycle controller and what it lives on, in memory and on a manual clock.
 * @module
 */
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import type { InstanceState } from "../../../lib/cloud/instance.ts";
import { createLifecycleMetrics } from "../../../lib/controllers/node_lifecycle/metrics.ts";
import { NodeLifecycleController } from "../../../lib/controllers/node_lifecycle/mod.ts";
import type { LifecycleReport } from "../../../lib/controllers/node_lifecycle/mod.ts";
import type { NodeContext } from "../../../lib/controllers/node_context.ts";
import { createLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { EventOptions } from "../../../lib/kube/events/events.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { type FakeProvider, HintingProvider, toInstance } from "../cloud/instances.ts";
import { ManualClock } from "../manual_clock.ts";
import { NodeServer } from "../kube/node_server.ts";
import { createNodeContext } from "./context.ts";
import { type NodeOptions, toNode } from "./nodes.ts";

/** An Event, and the Node that it is about. */
export interface SaidEvent extends EventOptions {
  readonly node: string;
}

/** Everything that a controller of Nodes lives on; nothing runs yet. */
export interface NodeWorld<P extends FakeProvider = FakeProvider> {
  readonly clock: ManualClock;
  readonly provider: P;
  readonly server: NodeServer;
  readonly nodes: Store<Node>;
  readonly source: InventorySource;
  readonly events: SaidEvent[];
  /** Lines of the log. */
  readonly lines: string[];
  readonly metrics: MetricsRegistry;
  readonly context: NodeContext;
  /** Creates a machine, and its Node of the same name; Ready unless said otherwise. */
  add(name: string, options?: NodeOptions & { state?: InstanceState }): Node;
  /** Takes machines away; what their Nodes say of themselves is another matter. */
  loseMachines(...names: readonly string[]): void;
}

/** Creates a world with nothing in it. */
export function createNodeWorld<P extends FakeProvider>(provider: P): NodeWorld<P> {
  const clock = new ManualClock();
  provider.clock = () => clock.monotonic();
  const lines: string[] = [];
  const log = createLogger({
    format: "json",
    write: (line) => lines.push(line),
    now: () => clock.now(),
  });
  const metrics = new MetricsRegistry();
  const nodes = new Store<Node>({ resource: NODES, log });
  const server = new NodeServer(clock, nodes);
  const events: SaidEvent[] = [];
  const context = createNodeContext({
    client: server,
    nodes,
    provider,
    events: {
      record: (object, event) => events.push({ node: object.metadata.name ?? "", ...event }),
    },
    clock,
    log,
    metrics,
    workers: 16,
  });
  return {
    clock,
    provider,
    server,
    nodes,
    source: context.source,
    events,
    lines,
    metrics,
    context,
    add(name, { state = "running", ...options } = {}) {
      provider.instances.set(name, toInstance(name, { state }));
      const usual = { providerId: `test://${name}`, uninitialized: false, ready: "True" };
      return server.put(toNode(name, { ...usual, ...options }));
    },
    loseMachines(...names) {
      for (const name of names) provider.instances.delete(name);
    },
  };
}

export type LifecycleWorld = NodeWorld<HintingProvider>;

/** Creates a world whose cloud hints at changes, with nothing in it. */
export function createLifecycleWorld(): LifecycleWorld {
  return createNodeWorld(new HintingProvider());
}

/** Runs a controller and the inventory that it lives on; the first inventory is taken when this returns. */
export async function runController(
  { clock, source }: NodeWorld,
  controller: { run(signal: AbortSignal): Promise<unknown> },
  standbyMs: number = 0,
): Promise<AsyncDisposable & { stop(): void }> {
  const stopping = new AbortController();
  const background = new AbortController();
  const standby = standbyMs > 0 ? source.run(background.signal) : undefined;
  await clock.advance(standbyMs);
  const running = controller.run(stopping.signal);
  const refreshing = standby ?? source.run(background.signal);
  await clock.advance(0);
  const stop = (): void => stopping.abort(new Error("the test is over"));
  return {
    stop,
    async [Symbol.asyncDispose]() {
      stop();
      await clock.advance(5_000);
      background.abort(new Error("the test is over"));
      await clock.advance(0);
      await Promise.all([running, refreshing]);
    },
  };
}

/** What a test may choose. */
interface LifecycleRigOptions {
  /** What differs from the default. */
  readonly deletion?: Partial<DeletionSettings>;
  /** @default {5_000} */
  readonly monitorPeriodMs?: number;
  /** How long it stands by before it leads, with an inventory, in milliseconds. @default {0} */
  readonly standbyMs?: number;
  /** Puts the world in order before anything runs. */
  readonly prepare?: (world: LifecycleWorld) => void;
}

/** A running controller and its world. */
interface LifecycleRig extends LifecycleWorld, AsyncDisposable {
  /** Moves time on in steps of a second, until `holds` or so many milliseconds went by; returns how many did. */
  advanceUntil(holds: () => boolean, msMax: number): Promise<number>;
  describe(name: string): LifecycleReport | undefined;
  /** Events about a Node, by reason. */
  listEvents(node: string, reason: string): SaidEvent[];
  /** Keys of the shutdown taints and all others, in order; `undefined` when there is no such Node. */
  listTaints(name: string): string[] | undefined;
  /** A value from the metrics page, by everything before it; `undefined` when it is not there. */
  readMetric(name: string): number | undefined;
  /** Stops the controller, as SIGTERM would, and does not wait. */
  stop(): void;
}

/** Starts the controller, and the inventory that it lives on; the first inventory is taken when this returns. */
async function startLifecycle(options: LifecycleRigOptions = {}): Promise<LifecycleRig> {
  const world = createLifecycleWorld();
  const { clock, server, context, metrics, events } = world;
  options.prepare?.(world);
  const controller = new NodeLifecycleController({
    context,
    deletion: { ...DEFAULT_DELETION, ...options.deletion },
    metrics: createLifecycleMetrics(metrics),
    monitorPeriodMs: options.monitorPeriodMs ?? 5_000,
  });
  const running = await runController(world, controller, options.standbyMs);
  return {
    ...world,
    ...running,
    async advanceUntil(holds, msMax) {
      const startMs = clock.monotonic();
      while (!holds() && clock.monotonic() - startMs < msMax) await clock.advance(1_000);
      return clock.monotonic() - startMs;
    },
    describe: (name) => {
      const node = world.nodes.get(name);
      return node && controller.describe(node);
    },
    listEvents: (node, reason) =>
      events.filter((event) => event.node === node && event.reason === reason),
    listTaints: (name) => {
      const node = server.find(name);
      return node && (node.spec?.taints ?? []).map(({ key }) => key);
    },
    readMetric: (name) => {
      const line = metrics
        .render()
        .split("\n")
        .find((text) => text.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(name.length + 1));
    },
  };
}

/** Starts with Nodes `n0`, `n1` … that are Ready and run. */
export function startFleet(size: number, options: LifecycleRigOptions = {}): Promise<LifecycleRig> {
  return startLifecycle({
    ...options,
    prepare: (world) => {
      for (let at = 0; at < size; at += 1) world.add(`n${at}`);
      options.prepare?.(world);
    },
  });
}

/** The machines go, and their kubelets fall silent. */
export function lose(
  rig: Pick<LifecycleWorld, "loseMachines" | "server">,
  ...names: readonly string[]
): void {
  rig.loseMachines(...names);
  for (const name of names) rig.server.setReady(name, "Unknown");
}

/** Whether a Node is deleted. */
export function isGone(rig: LifecycleRig, name: string): boolean {
  return rig.server.find(name) === undefined;
}
