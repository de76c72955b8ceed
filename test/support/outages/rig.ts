/**
 * The whole controller between two simulated servers on real sockets, in time that the test moves: ten Nodes in two
 * pools of one Xen Orchestra, and one more in each whose machine will be deleted.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import type { Configuration } from "../../../lib/app/reload.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/off_streaks.ts";
import { OUT_OF_SERVICE } from "../../../lib/cloud/deletion/out_of_service_settings.ts";
import { DELETION } from "../../../lib/cloud/deletion/settings.ts";
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import { parseProviderConfig } from "../../../lib/config/provider_config.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { loadControllers } from "../../../lib/controllers/load.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  type ObjectInput,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { startXenOrchestraSimulator } from "../../../lib/simulator/xenorchestra/mod.ts";
import { toHost, toNetwork, toPool } from "../../../lib/simulator/xenorchestra/records.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { ManualClock } from "../manual_clock.ts";
import { toRegistration } from "../nodes/nodes.ts";
import { type Servers, Traffic } from "./traffic.ts";

const LOADED = await loadControllers(CONTROLLERS);

/** One of the two pools. */
export type PoolName = "alpha" | "beta";

/** A pool, and its two hosts: the master and another one. */
export interface PoolPlace {
  readonly id: string;
  readonly hostIds: readonly [string, string];
}

/** How often the cloud is asked when nothing is wrong, in milliseconds. */
export const REFRESH_MS = 30_000;
const EVENT_PERIOD_MS = 5_000;
/** Longer than a process needs from its start until it has nothing left to do, in milliseconds. */
const START_MS = 35_000;
/** Of the machines of a pool. */
const SUFFIXES = ["1", "2", "3", "4", "5", "gone"];

function toPlace(name: PoolName): PoolPlace {
  const hostIds = [toUuid(`host/${name}-1`), toUuid(`host/${name}-2`)] as const;
  return { id: toUuid(`pool/${name}`), hostIds };
}

interface Manner {
  readonly deletion: DeletionSettings;
  readonly hasEvents: boolean;
  readonly eventPeriodMs: number;
}

/** Cluster, cloud, and the controller between them. */
export class OutageRig implements AsyncDisposable {
  /** Nodes as the first process leaves them, whatever its settings. Made once, because nothing else takes as long. */
  static #initialised: Promise<readonly ObjectInput[]> | undefined;
  readonly clock: ManualClock;
  readonly servers: Servers;
  readonly pools: Readonly<Record<PoolName, PoolPlace>> = {
    alpha: toPlace("alpha"),
    beta: toPlace("beta"),
  };
  readonly #deletion: DeletionSettings;
  readonly #traffic: Traffic;
  readonly #disposals: (() => unknown)[] = [];
  /** Every version of a Node that the API server had since the Nodes were initialised. */
  readonly versions: Node[];
  /** How careful the out-of-service controller is; absent: it does not run. */
  #outOfService: OutOfServiceSettings | undefined;
  #configText = "";
  #app: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;
  /** Of the controller that runs, or ran last. */
  metrics: MetricsRegistry = new MetricsRegistry();

  private constructor(
    clock: ManualClock,
    parts: {
      servers: Servers;
      traffic: Traffic;
      deletion: DeletionSettings;
      versions: Node[];
    },
  ) {
    this.clock = clock;
    this.servers = parts.servers;
    this.#traffic = parts.traffic;
    this.#deletion = parts.deletion;
    this.versions = parts.versions;
  }

  /**
   * Starts everything; resolves when all Nodes are initialised, Ready and at rest.
   *
   * @param hasEvents Whether the cloud tells of changes as they happen
   * @param options.eventPeriodMs How soon it does, in milliseconds. The more rarely, the faster the test
   * @param options.outOfService Lets the out-of-service controller run, too, as careful as this says
   */
  static async start(
    deletion: DeletionSettings,
    hasEvents: boolean,
    {
      eventPeriodMs = EVENT_PERIOD_MS,
      outOfService,
    }: { readonly eventPeriodMs?: number; readonly outOfService?: OutOfServiceSettings } = {},
  ): Promise<OutageRig> {
    OutageRig.#initialised ??= OutageRig.#initialise(deletion);
    const nodes = await OutageRig.#initialised;
    const rig = await OutageRig.#build({ deletion, hasEvents, eventPeriodMs });
    rig.#outOfService = outOfService;
    for (const node of nodes) rig.servers.kubernetes.objects.createNode(node);
    // A process that found its Nodes initialised: the fleet limit goes by how many there were at its start.
    await rig.startApp();
    await rig.clock.advance(START_MS);
    rig.versions.length = 0;
    return rig;
  }

  /** Registers Nodes, and lets a process initialise them. Resolves with what a cluster would keep of them. */
  static async #initialise(deletion: DeletionSettings): Promise<readonly ObjectInput[]> {
    await using rig = await OutageRig.#build({
      deletion,
      hasEvents: true,
      eventPeriodMs: EVENT_PERIOD_MS,
    });
    rig.#register();
    await rig.startApp();
    await rig.clock.advance(START_MS);
    return rig.servers.kubernetes.objects.list("nodes").map((node) => {
      const {
        resourceVersion: _version,
        uid: _uid,
        creationTimestamp: _at,
        ...metadata
      } = node.metadata;
      return { ...node, metadata };
    });
  }

  /** Both servers, and the machines. Nodes there are none yet. */
  static async #build({ deletion, hasEvents, eventPeriodMs }: Manner): Promise<OutageRig> {
    const versions: Node[] = [];
    const traffic = new Traffic((node) => versions.push(node));
    const clock = new ManualClock(undefined, () => traffic.rest(servers));
    const kubernetes = startKubernetesSimulator({ clock });
    const cloud = await startXenOrchestraSimulator({ clock, eventPeriodMs });
    cloud.events.isOffered = hasEvents;
    const servers: Servers = { kubernetes, cloud };
    const rig = new OutageRig(clock, { servers, traffic, deletion, versions });
    rig.#disposals.push(
      traffic.watchFetch(),
      () => kubernetes.stop(),
      () => cloud.stop(),
    );
    rig.#fill();
    return rig;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopApp();
    for (const dispose of this.#disposals) await dispose();
  }

  /**
   * Starts the controller, as a process that remembers nothing.
   *
   * @param more Settings beside those that it needs, in a file that it follows: see {@linkcode setSettings}
   */
  async startApp(more?: object): Promise<void> {
    const { clock } = this;
    const { kubernetes } = this.servers;
    const stop = new AbortController();
    const metrics = new MetricsRegistry();
    this.setSettings(more ?? {});
    const path = "config.yaml";
    const definition: typeof xenOrchestra = {
      ...xenOrchestra,
      // The app has a provider that is watched.
      reconfigure: (_watched, next) => xenOrchestra.reconfigure?.(provider, next) ?? "sameCloud",
    };
    const where = { path, env: {}, definition, sections: [DELETION] };
    const current = await parseProviderConfig(this.#configText, where);
    const read = async (): Promise<string> => this.#configText;
    const configuration: Configuration = { ...where, read, current };
    const fence = new Fence();
    const deps = { clock, metrics, log: silentLogger, signal: stop.signal, fence };
    const provider = xenOrchestra.create(current.settings, deps);
    const credentials = await loadCredentials({ master: kubernetes.url, env: {}, clock });
    const client = createKubeClient({ credentials, clock, metrics, version: "test" });
    const options: AppOptions = {
      provider: this.#traffic.watchProvider(provider),
      fence,
      client: this.#traffic.watchClient(client),
      clock,
      log: silentLogger,
      metrics,
      host: "test",
      // All but the one that would change no other: it is chosen where it is looked at.
      controllers: this.#outOfService
        ? LOADED
        : LOADED.filter(({ definition }) => definition.isOffByDefault !== true),
      concurrentNodeSyncs: 16,
      flags: {},
      sections: new Map<string, unknown>([
        [DELETION.key, this.#deletion],
        ...(this.#outOfService ? [[OUT_OF_SERVICE.key, this.#outOfService] as const] : []),
      ]),
      ...(more && { configuration }),
    };
    this.metrics = metrics;
    this.#app = { stop, ended: runApp(options, stop.signal) };
    await this.#traffic.rest(this.servers);
  }

  /** Changes the settings beside those that it needs. A controller that follows its file uses them within 20 s. */
  setSettings(more: object): void {
    const { url, token } = this.servers.cloud;
    const settings = { url, token, refreshInterval: `${REFRESH_MS}ms`, ...more };
    this.#configText = JSON.stringify(settings);
  }

  /** Stops the controller. Time goes on as far as it takes. */
  async stopApp(): Promise<void> {
    if (this.#app === undefined) return;
    const { stop, ended } = this.#app;
    this.#app = undefined;
    stop.abort(new Error("the test stops the controller"));
    const progress = { isOver: false };
    const over = ended.finally(() => (progress.isOver = true));
    while (!progress.isOver) await this.clock.advance(100);
    await over;
  }

  /** A Node as the API server has it. */
  readNode(name: string): Node | undefined {
    return this.servers.kubernetes.objects.getNode(name) as Node | undefined;
  }

  /** Names of all Nodes. */
  listNodes(): string[] {
    return this.servers.kubernetes.objects
      .list("nodes")
      .map(({ metadata }) => String(metadata["name"]));
  }

  /** Reasons of the Events about a Node. */
  listEvents(name: string): string[] {
    const events = this.servers.kubernetes.objects.list("events", "default");
    return (events as unknown as KubeEvent[])
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason }) => reason ?? "");
  }

  /** The UUID of a Node's machine. */
  toVmId(name: string): string {
    return toUuid(`vm/${name}`);
  }

  /** Says of a Node what its kubelet, or the node monitor of Kubernetes, says of it. */
  setReady(name: string, isReady: boolean): void {
    const status = isReady ? "True" : "Unknown";
    const conditions = [{ type: "Ready", status }];
    this.servers.kubernetes.objects.patchNodeStatus(name, { conditions });
  }

  /** How often the controller wrote to Nodes. */
  countWrites(): number {
    const { requests } = this.servers.kubernetes;
    let count = 0;
    for (const verb of ["patch", "delete"]) {
      count += requests.count({ verb, resource: "nodes" });
      count += requests.count({ verb, resource: "nodes/status" });
    }
    return count;
  }

  #fill(): void {
    for (const name of ["alpha", "beta"] as const) {
      const { state } = this.servers.cloud;
      const { id: poolId, hostIds } = this.pools[name];
      state.addPool(toPool({ name, id: poolId, masterId: hostIds[0] }));
      hostIds.forEach((id, at) => {
        const address = `10.0.0.${at + 1}`;
        state.addHost(toHost({ name: `${name}-${at + 1}`, id, poolId, address }));
      });
      state.put("networks", toNetwork("eth0", poolId));
      const network = name === "alpha" ? "10.1.0" : "10.2.0";
      for (const [at, suffix] of SUFFIXES.entries()) {
        const addresses = { "0/ipv4/0": `${network}.${at + 1}` };
        state.addVm({ name: `${name}-${suffix}`, poolId, hostId: hostIds[0], addresses });
      }
    }
  }

  #register(): void {
    const { objects } = this.servers.kubernetes;
    for (const name of Object.keys(this.pools).flatMap((pool) =>
      SUFFIXES.map((suffix) => `${pool}-${suffix}`),
    )) {
      const labels = { "kubernetes.io/hostname": name };
      objects.createNode(toRegistration(name, { systemUuid: this.toVmId(name), labels }));
      this.setReady(name, true);
    }
  }
}
