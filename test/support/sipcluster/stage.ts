/**
 * The whole SIPCluster controller on a simulated API server, with hosts in racks and Pods that start by themselves.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import {
  type SipCluster,
  SIP_CLUSTERS,
  type SipClusterSpec,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { loadControllers } from "../../../lib/controllers/load.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { collectGarbage } from "../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import { rollOutDeployments } from "../../../lib/simulator/kubernetes/controllers/deployments.ts";
import {
  type ApiObject,
  type JsonObject,
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { createHost, planHosts, type RackPlan } from "../../../lib/simulator/metal3/hosts.ts";
import { until } from "../nodes/rig.ts";

/** The namespace of the hosts. */
export const HOSTS = "metal3";
/** The namespace of the clusters, unless a test says otherwise. */
export const TENANT = "tenant";

const STEP_MS = 20;
/** Longer than every pause of the controller and the steps beside it. */
const QUIET_MS = 150;

/** A running controller and its world. */
export class SipStage implements AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  /** Of the process that runs now. */
  metrics: MetricsRegistry = new MetricsRegistry();
  #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setInterval> | undefined;

  private constructor() {
    this.kubernetes = startKubernetesSimulator({ clock: systemClock });
  }

  /** Starts it with hosts in racks. */
  static async start(racks: readonly RackPlan[]): Promise<SipStage> {
    const stage = new SipStage();
    const { kubernetes } = stage;
    kubernetes.installKind(BARE_METAL_HOSTS);
    kubernetes.installKind(SIP_CLUSTERS);
    for (const name of [HOSTS, TENANT]) {
      kubernetes.objects.create("namespaces", { metadata: { name } });
    }
    for (const plan of planHosts(HOSTS, racks)) createHost(kubernetes.objects, plan);
    stage.#timer = setInterval(() => stage.#step(), STEP_MS);
    await stage.run();
    return stage;
  }

  /** Creates a cluster. */
  create(name: string, spec: SipClusterSpec, namespace: string = TENANT): void {
    this.kubernetes.objects.create(SIP_CLUSTERS.plural, {
      metadata: { name, namespace, generation: 1 },
      spec: structuredClone(spec) as unknown as JsonObject,
    });
  }

  /** Changes the spec of a cluster by a merge patch. */
  change(name: string, spec: JsonObject): void {
    this.kubernetes.objects.patch(SIP_CLUSTERS.plural, { namespace: TENANT, name }, { spec });
  }

  /** Deletes a cluster, as `kubectl delete` does. */
  delete(name: string): void {
    this.kubernetes.objects.delete(SIP_CLUSTERS.plural, { namespace: TENANT, name });
  }

  /** Sets annotations of a cluster. */
  annotate(name: string, annotations: JsonObject): void {
    const path = { namespace: TENANT, name };
    this.kubernetes.objects.patch(SIP_CLUSTERS.plural, path, { metadata: { annotations } });
  }

  /** Uses a host, as Cluster API does. */
  consume(name: string): void {
    this.#setConsumer(name, { kind: "Metal3Machine", name: `machine-${name}`, namespace: HOSTS });
  }

  /** Uses a host no more. */
  free(name: string): void {
    this.#setConsumer(name, null);
  }

  /** Names of the hosts that any cluster has. */
  listTaken(): string[] {
    return this.kubernetes.objects
      .list(BARE_METAL_HOSTS.plural)
      .filter(({ metadata }) => labelsOf(metadata)["sip.airshipit.org/cluster-name"] !== undefined)
      .map(({ metadata }) => metadata.name);
  }

  /** A cluster as it is now. */
  read(name: string): SipCluster | undefined {
    return this.kubernetes.objects.get(SIP_CLUSTERS.plural, { namespace: TENANT, name }) as
      SipCluster | undefined;
  }

  /** Names of the hosts of a cluster, sorted, with role and `*` for standby: `r1-worker-1 Worker*`. */
  listHosts(cluster: string): string[] {
    return this.kubernetes.objects
      .list(BARE_METAL_HOSTS.plural)
      .filter(({ metadata }) => labelsOf(metadata)["sip.airshipit.org/cluster-name"] === cluster)
      .map(({ metadata }) => {
        const labels = labelsOf(metadata);
        const mark = labels["sip.airshipit.org/standby"] === "true" ? "*" : "";
        return `${metadata.name} ${labels["sip.airshipit.org/node-type"]}${mark}`;
      })
      .toSorted();
  }

  /** Waits until the condition of a cluster has a status and a reason, and returns its message. */
  async untilCondition(name: string, type: string, wanted: string): Promise<string> {
    const find = (): { text: string; message: string } => {
      const { metadata, status } = this.read(name) ?? {};
      const one = status?.conditions?.find((condition) => condition.type === type);
      const isNew = one?.observedGeneration === metadata?.generation;
      return { text: isNew ? `${one?.status} ${one?.reason}` : "", message: one?.message ?? "" };
    };
    await until(`${type} of ${name} is ${wanted}`, () => find().text === wanted).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}; it is ${JSON.stringify(this.read(name)?.status)}`);
      },
    );
    return find().message;
  }

  /** Objects of a kind that belong to a cluster. */
  listOwned(plural: string): readonly ApiObject[] {
    return this.kubernetes.objects.list(plural, TENANT);
  }

  /** Events about a cluster: `Reason message`. */
  listEvents(name: string): string[] {
    return this.kubernetes.objects
      .list("events", TENANT)
      .filter((event) => JSON.stringify(event).includes(`"name":"${name}"`))
      .map((event) => `${String(event["reason"])} ${String(event["message"])}`);
  }

  /** How many requests of the controller would change something, Leases and Events apart. */
  countWrites(): number {
    const { requests } = this.kubernetes;
    const verbs = ["create", "update", "patch", "delete"] as const;
    const all = verbs.reduce((sum, verb) => sum + requests.count({ verb }), 0);
    const apart = verbs.reduce(
      (sum, verb) => sum + requests.count({ verb, resource: "events" }),
      0,
    );
    return all - apart;
  }

  /** How many reconciles ended since the last start. */
  countReconciles(): number {
    const lines = this.metrics.render().split("\n");
    const values = lines.filter((line) => line.startsWith("landfall_reconciles_total{"));
    return values.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  /** Waits until nothing was asked for some time. */
  async untilQuiet(): Promise<void> {
    let before = -1;
    for (;;) {
      const now = this.countWrites() + this.countReconciles();
      if (now === before) return;
      before = now;
      await Bun.sleep(QUIET_MS);
    }
  }

  /** Stops the controller. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the test is over"));
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.stop();
    await this.kubernetes.stop();
  }

  /** Starts the controller again after {@linkcode stop}. */
  async run(): Promise<void> {
    this.#stopping = new AbortController();
    this.metrics = new MetricsRegistry();
    const clock = systemClock;
    const credentials = await loadCredentials({ master: this.kubernetes.url, env: {}, clock });
    const { metrics } = this;
    const client = createKubeClient({ credentials, clock, metrics, version: "test" });
    const controllers = await loadControllers([sipClusterController]);
    const options = {
      client,
      clock,
      log: silentLogger,
      metrics,
      host: "test",
      controllers,
      flags: {},
      sections: new Map(),
      concurrentNodeSyncs: 1,
    };
    this.#running = runApp(options, this.#stopping.signal);
  }

  #setConsumer(name: string, consumerRef: JsonObject | null): void {
    const path = { namespace: HOSTS, name };
    this.kubernetes.objects.patch(BARE_METAL_HOSTS.plural, path, { spec: { consumerRef } });
  }

  /** What kube-controller-manager would do. */
  #step(): void {
    const { objects } = this.kubernetes;
    rollOutDeployments(objects, { now: new Date().toISOString() });
    collectGarbage(objects);
  }
}

function labelsOf(metadata: object): Readonly<Record<string, unknown>> {
  const { labels = {} } = metadata as { labels?: Readonly<Record<string, unknown>> };
  return labels;
}
