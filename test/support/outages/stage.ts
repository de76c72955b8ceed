/**
 * The whole controller between a simulated Kubernetes and a simulated cloud, in time that the test moves.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import type { Configuration } from "../../../lib/app/reload.ts";
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/off_streaks.ts";
import { OUT_OF_SERVICE } from "../../../lib/cloud/deletion/out_of_service_settings.ts";
import { DELETION } from "../../../lib/cloud/deletion/settings.ts";
import type { ProviderDefinition } from "../../../lib/cloud/provider_definition.ts";
import { parseProviderConfig } from "../../../lib/config/provider_config.ts";
import { loadControllers } from "../../../lib/controllers/load.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import {
  type KubernetesSimulator,
  type ObjectInput,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { ManualClock } from "../manual_clock.ts";
import { toRegistration } from "../nodes/nodes.ts";
import { type CloudTraffic, Traffic } from "./traffic.ts";

const LOADED = await loadControllers(CONTROLLERS.filter(({ kind }) => kind === NODES));

/** How often the cloud is asked when nothing is wrong, in milliseconds. */
export const REFRESH_MS = 30_000;
/** Longer than a process needs from its start until it has nothing left to do, in milliseconds. */
const START_MS = 35_000;

/** Time and the cluster, before there is a cloud. */
export interface Ground {
  readonly clock: ManualClock;
  readonly kubernetes: KubernetesSimulator;
  readonly traffic: Traffic;
  readonly versions: Node[];
  /** Tells what is under way in the cloud, once there is one. */
  setCloud(cloud: CloudTraffic): void;
}

/** Prepares the time and the cluster. */
export function prepareGround(): Ground {
  const versions: Node[] = [];
  const traffic = new Traffic((node) => versions.push(node));
  let cloud: CloudTraffic = { hanging: new Set() };
  const clock = new ManualClock(undefined, () => traffic.rest({ kubernetes, cloud }));
  const kubernetes = startKubernetesSimulator({ clock });
  return { clock, kubernetes, traffic, versions, setCloud: (next) => void (cloud = next) };
}

/** What an {@linkcode OutageStage} needs. */
export interface StageOptions<S> {
  readonly ground: Ground;
  readonly definition: ProviderDefinition<S>;
  readonly deletion: DeletionSettings;
  /** How careful the out-of-service controller is; absent: it does not run. */
  readonly outOfService?: OutOfServiceSettings | undefined;
}

/** Cluster and controller. A subclass adds a cloud. @typeParam S Settings of the cloud */
export abstract class OutageStage<S = unknown> implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly kubernetes: KubernetesSimulator;
  /** Every version of a Node that the API server had since the Nodes were initialised. */
  readonly versions: Node[];
  /** Run when this ends, in order. */
  protected readonly disposals: (() => unknown)[] = [];
  readonly #options: StageOptions<S>;
  #configText = "";
  #app: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;
  /** Of the controller that runs, or ran last. */
  metrics: MetricsRegistry = new MetricsRegistry();

  constructor(options: StageOptions<S>) {
    const { clock, kubernetes, versions } = options.ground;
    this.#options = options;
    this.clock = clock;
    this.kubernetes = kubernetes;
    this.versions = versions;
  }

  /** Settings that the provider needs to reach the cloud, as its file has them. */
  protected abstract get connection(): object;

  /** Registers Nodes, and lets a process initialise them. Resolves with what a cluster would keep of them. */
  async initialise(names: readonly string[]): Promise<readonly ObjectInput[]> {
    const { objects } = this.kubernetes;
    for (const name of names) {
      const labels = { "kubernetes.io/hostname": name };
      objects.createNode(toRegistration(name, { systemUuid: this.toVmId(name), labels }));
      this.setReady(name, true);
    }
    await this.startApp();
    await this.clock.advance(START_MS);
    return objects.list("nodes").map((node) => {
      const {
        resourceVersion: _version,
        uid: _uid,
        creationTimestamp: _at,
        ...metadata
      } = node.metadata;
      return { ...node, metadata };
    });
  }

  /** Starts a process with Nodes that are initialised; resolves when all is at rest. */
  async begin(nodes: readonly ObjectInput[]): Promise<void> {
    for (const node of nodes) this.kubernetes.objects.createNode(node);
    // A process that found its Nodes initialised: the fleet limit goes by how many there were at its start.
    await this.startApp();
    await this.clock.advance(START_MS);
    this.versions.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopApp();
    for (const dispose of this.disposals) await dispose();
  }

  /**
   * Starts the controller, as a process that remembers nothing.
   *
   * @param more Settings beside those that it needs, in a file that it follows: see {@linkcode setSettings}
   */
  async startApp(more?: object): Promise<void> {
    const { clock, kubernetes } = this;
    const { definition, ground, deletion, outOfService } = this.#options;
    const stop = new AbortController();
    const metrics = new MetricsRegistry();
    this.setSettings(more ?? {});
    const path = "config.yaml";
    const followed: ProviderDefinition<S> = {
      ...definition,
      // The app has a provider that is watched.
      reconfigure: (_watched, next) => definition.reconfigure?.(provider, next) ?? "sameCloud",
    };
    const where = { path, env: {}, definition: followed, sections: [DELETION] };
    const current = await parseProviderConfig(this.#configText, where);
    const read = async (): Promise<string> => this.#configText;
    const configuration: Configuration = { ...where, read, current };
    const fence = new Fence();
    const deps = { clock, metrics, log: silentLogger, signal: stop.signal, fence };
    const provider = definition.create(current.settings, deps);
    const credentials = await loadCredentials({ master: kubernetes.url, env: {}, clock });
    const client = createKubeClient({ credentials, clock, metrics, version: "test" });
    const options: AppOptions = {
      provider: ground.traffic.watchProvider(provider),
      fence,
      client: ground.traffic.watchClient(client),
      clock,
      log: silentLogger,
      metrics,
      host: "test",
      // All but the one that would change no other: it is chosen where it is looked at.
      controllers: outOfService
        ? LOADED
        : LOADED.filter((one) => one.definition.isOffByDefault !== true),
      concurrentNodeSyncs: 16,
      flags: {},
      sections: new Map<string, unknown>([
        [DELETION.key, deletion],
        ...(outOfService ? [[OUT_OF_SERVICE.key, outOfService] as const] : []),
      ]),
      ...(more && { configuration }),
    };
    this.metrics = metrics;
    this.#app = { stop, ended: runApp(options, stop.signal) };
    await this.clock.advance(0);
  }

  /** Changes the settings beside those that it needs. A controller that follows its file uses them within 20 s. */
  setSettings(more: object): void {
    const settings = { ...this.connection, refreshInterval: `${REFRESH_MS}ms`, ...more };
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
    return this.kubernetes.objects.getNode(name) as Node | undefined;
  }

  /** Names of all Nodes. */
  listNodes(): string[] {
    return this.kubernetes.objects.list("nodes").map(({ metadata }) => String(metadata["name"]));
  }

  /** Reasons of the Events about a Node. */
  listEvents(name: string): string[] {
    const events = this.kubernetes.objects.list("events", "default");
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
    this.kubernetes.objects.patchNodeStatus(name, { conditions });
  }

  /** How often the controller wrote to Nodes. */
  countWrites(): number {
    const { requests } = this.kubernetes;
    let count = 0;
    for (const verb of ["patch", "delete"]) {
      count += requests.count({ verb, resource: "nodes" });
      count += requests.count({ verb, resource: "nodes/status" });
    }
    return count;
  }
}
