/**
 * The controller of Services and what it lives on, in memory and on a manual clock.
 * @module
 */
import { type LoadBalancerSettings, LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { create, type ServiceController } from "../../../lib/controllers/service/mod.ts";
import { ALONE, Fence, LeadershipLostError } from "../../../lib/core/fence.ts";
import { createLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { ControllerContext, FlagValues } from "../../../lib/controllers/definition.ts";
import { type Key, Store, toKey } from "../../../lib/kube/cache/store.ts";
import type { EventOptions } from "../../../lib/kube/events/events.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { type Service, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { HintingProvider, toInstance } from "../cloud/instances.ts";
import { LoadBalancersDouble } from "../cloud/load_balancers_double.ts";
import { NodeServer } from "../kube/node_server.ts";
import { type ServiceInput, ServiceServer } from "../kube/service_server.ts";
import { ManualClock } from "../manual_clock.ts";
import { createNodeContext } from "../nodes/context.ts";
import { toNode } from "../nodes/nodes.ts";

/** What a test may choose. */
interface ServiceRigOptions {
  /** Values of the flags. */
  readonly flags?: FlagValues;
  /** How many Nodes there are: `n1`, `n2`. @default {2} */
  readonly nodes?: number;
  /** Load balancers that exist already. */
  readonly cloud?: LoadBalancersDouble;
  /** Puts the cluster in order before the controller runs. */
  readonly prepare?: (server: ServiceServer) => void;
  /** Address pools, for a cloud without load balancers. @default {the cloud has load balancers} */
  readonly pools?: LoadBalancerSettings;
  /** Whether the controller waits for {@linkcode ServiceRig.lead}. @default {false} */
  readonly isStandby?: boolean;
}

/** A running controller and its world. */
export interface ServiceRig extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly server: ServiceServer;
  readonly nodes: NodeServer;
  readonly cloud: LoadBalancersDouble;
  readonly provider: HintingProvider;
  readonly metrics: MetricsRegistry;
  readonly controller: ServiceController;
  /** Lines of the log. */
  readonly lines: string[];
  /** Events so far: key, reason and message. */
  readonly events: ({ readonly key: Key } & EventOptions)[];
  /** Creates a Service; what can be done at once is done when this returns, as of the next two. */
  add(name: string, input?: ServiceInput): Promise<void>;
  change(key: Key, patch: JsonObject): Promise<void>;
  remove(key: Key): Promise<void>;
  /** Begins to lead. */
  lead(): Promise<void>;
  /** Reasons of the Events of a Service, in order. */
  listReasons(key: Key): string[];
  /** Creates or replaces a Node with its instance. */
  addNode(name: string, change?: (node: Node) => Node): Promise<void>;
  /** The address in the status. */
  readAddress(key: Key): string | undefined;
  /** Stops the controller; without leadership if `isLost`. Resolves after the controller has ended. */
  stop(isLost?: boolean): Promise<void>;
  /** Whether the controller has ended. */
  readonly isEnded: boolean;
}

/** Starts the controller; what can be done at once is done when this returns. */
export async function startServices(options: ServiceRigOptions = {}): Promise<ServiceRig> {
  const clock = new ManualClock();
  const lines: string[] = [];
  const now = (): number => clock.now();
  const log = createLogger({ format: "json", write: (line) => lines.push(line), now });
  const metrics = new MetricsRegistry();
  const cloud = options.cloud ?? new LoadBalancersDouble();
  cloud.now = () => clock.monotonic();
  const provider = Object.assign(new HintingProvider(), {
    ...(options.pools === undefined && { loadBalancers: cloud }),
    toInstanceId: (id: string) => (id.startsWith("test://") ? id.slice(7) : undefined),
  });
  provider.clock = () => clock.monotonic();
  const nodeStore = new Store<Node>({ resource: NODES, log });
  const nodes = new NodeServer(clock, nodeStore);
  const readVersion = async (): Promise<string> => (await server.list()).resourceVersion;
  const services = new Store<Service>({ resource: SERVICES, log, clock, readVersion });
  const server = new ServiceServer(clock, services);
  // Asked for before this process leads.
  services.replace([], "1", -1);
  server.add("kubernetes", {
    metadata: { namespace: "default", uid: "cluster-2" },
    spec: { type: "ClusterIP" },
  });
  const events: ServiceRig["events"] = [];
  const recorder = {
    record: (object: { metadata: { name: string } }, event: EventOptions): void => {
      events.push({ key: toKey(object), ...event });
    },
  };
  const node = createNodeContext({
    client: nodes,
    nodes: nodeStore,
    provider,
    events: recorder,
    clock,
    log,
    metrics,
    workers: 1,
  });
  const addNode = async (name: string, change = (one: Node): Node => one): Promise<void> => {
    provider.instances.set(name, toInstance(name));
    nodes.put(change(toNode(name, { providerId: `test://${name}`, uninitialized: false })));
    await clock.advance(0);
  };
  for (let at = 1; at <= (options.nodes ?? 2); at += 1) await addNode(`n${at}`);
  options.prepare?.(server);
  const context: ControllerContext<LoadBalancerSettings> = {
    ...node,
    client: server,
    fence: new Fence(ALONE),
    events: recorder,
    flags: options.flags ?? {},
    settings: options.pools ?? LOAD_BALANCERS.standard,
    findSettings: (section) => section.standard,
    caches: { reader: () => services as never, optionalReader: () => services as never },
    metrics,
    cloud: node,
  };
  const controller = create(context);
  const stopping = new AbortController();
  const background = new AbortController();
  const refreshing = node.source.run(background.signal);
  let running: Promise<void> | undefined;
  const state = { isEnded: false };
  const lead = async (): Promise<void> => {
    running = controller.run(stopping.signal).finally(() => {
      state.isEnded = true;
    });
    await clock.advance(0);
  };
  const stop = async (isLost = false): Promise<void> => {
    const why = "the test is over";
    stopping.abort(isLost ? new LeadershipLostError(why) : new Error(why));
    await clock.advance(5_000);
    background.abort(new Error(why));
    await clock.advance(0);
    await Promise.all([running, refreshing]);
  };
  if (options.isStandby !== true) await lead();
  return {
    clock,
    server,
    nodes,
    cloud,
    provider,
    metrics,
    controller,
    lines,
    events,
    async add(name, input) {
      server.add(name, input);
      await clock.advance(0);
    },
    async change(key, patch) {
      server.change(key, patch);
      await clock.advance(0);
    },
    async remove(key) {
      server.remove(key);
      await clock.advance(0);
    },
    lead,
    listReasons: (key) => events.filter((one) => one.key === key).map(({ reason }) => reason),
    addNode,
    readAddress(key) {
      const [first] = server.find(key)?.status?.loadBalancer?.ingress ?? [];
      return first?.ip ?? first?.hostname;
    },
    stop,
    get isEnded() {
      return state.isEnded;
    },
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** Starts with a Service `web/shop`, for which everything was done. */
export async function startShop(options: ServiceRigOptions = {}): Promise<ServiceRig> {
  const rig = await startServices(options);
  await rig.add("shop");
  return rig;
}
