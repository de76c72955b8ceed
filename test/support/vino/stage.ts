/**
 * The whole Vino controller on a simulated API server and a cloud in memory, on a fast clock.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { type IpPool, IP_POOLS } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { type Vino, VINOES, type VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { loadControllers } from "../../../lib/controllers/load.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { collectGarbage } from "../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import {
  type ApiObject,
  type JsonObject,
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { PacedClock } from "../paced_clock.ts";
import { until } from "../nodes/rig.ts";

/** The namespace of Vinos and hosts. */
export const METAL = "metal";
const PACE = 25;
const STEP_MS = 20;
/** Longer than every pause of the controller and the steps beside it. */
const QUIET_MS = 150;

/** A running controller and its world. */
export class VinoStage<P extends Provider> implements AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  readonly clock: PacedClock;
  readonly provider: P;
  /** Of the process that runs now. */
  metrics: MetricsRegistry = new MetricsRegistry();
  #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setInterval> | undefined;

  private constructor(clock: PacedClock, provider: P) {
    this.kubernetes = startKubernetesSimulator({ clock });
    this.clock = clock;
    this.provider = provider;
  }

  /** Starts it with a cloud that has its clock. */
  static async start<P extends Provider>(
    create: (clock: PacedClock) => P | Promise<P>,
  ): Promise<VinoStage<P>> {
    const clock = new PacedClock(PACE);
    const stage = new VinoStage(clock, await create(clock));
    const { kubernetes } = stage;
    for (const kind of [BARE_METAL_HOSTS, VINOES, IP_POOLS]) kubernetes.installKind(kind);
    for (const name of [METAL, "kube-system"]) {
      if (!kubernetes.objects.get("namespaces", { name })) {
        kubernetes.objects.create("namespaces", { metadata: { name } });
      }
    }
    stage.#timer = setInterval(() => collectGarbage(kubernetes.objects), STEP_MS);
    await stage.run();
    return stage;
  }

  /** Creates a Vino. */
  create(name: string, spec: VinoSpec, metadata: JsonObject = {}): void {
    this.kubernetes.objects.create(VINOES.plural, {
      metadata: { name, namespace: METAL, generation: 1, ...metadata },
      spec: JSON.parse(JSON.stringify(spec)),
    });
  }

  /** Changes the spec of a Vino by a merge patch. */
  change(name: string, spec: object): void {
    const body = { spec: JSON.parse(JSON.stringify(spec)) };
    this.kubernetes.objects.patch(VINOES.plural, { namespace: METAL, name }, body);
  }

  /** Deletes a Vino, as `kubectl delete` does. */
  delete(name: string): void {
    this.kubernetes.objects.delete(VINOES.plural, { namespace: METAL, name });
  }

  /** Sets annotations of a Vino. */
  annotate(name: string, annotations: JsonObject): void {
    const path = { namespace: METAL, name };
    this.kubernetes.objects.patch(VINOES.plural, path, { metadata: { annotations } });
  }

  /** Uses a host, as Cluster API does, or uses it no more. */
  consume(host: string, isUsed: boolean = true): void {
    const consumerRef = isUsed
      ? { kind: "Metal3Machine", name: `for-${host}`, namespace: METAL }
      : null;
    const path = { namespace: METAL, name: host };
    this.kubernetes.objects.patch(BARE_METAL_HOSTS.plural, path, { spec: { consumerRef } });
  }

  /** A Vino as it is now. */
  read(name: string): Vino | undefined {
    const found = this.kubernetes.objects.get(VINOES.plural, { namespace: METAL, name });
    return found && JSON.parse(JSON.stringify(found));
  }

  /** Machines of the status: `worker-0 Ready`. */
  listMachines(name: string): string[] {
    const { machines = [] } = this.read(name)?.status ?? {};
    return machines.map(({ role, index, state }) => `${role}-${index} ${state}`);
  }

  /** Names of the BareMetalHosts. */
  listHosts(): string[] {
    return this.kubernetes.objects
      .list(BARE_METAL_HOSTS.plural)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  }

  /** A BareMetalHost. */
  host(name: string): ApiObject | undefined {
    return this.kubernetes.objects.get(BARE_METAL_HOSTS.plural, { namespace: METAL, name });
  }

  /** Waits until the condition of a Vino has a status and a reason, and returns its message. */
  async untilCondition(
    name: string,
    type: string,
    wanted: string,
    ms: number = 15_000,
  ): Promise<string> {
    const find = (): { text: string; message: string } => {
      const { metadata, status } = this.read(name) ?? {};
      const one = status?.conditions?.find((condition) => condition.type === type);
      const isNew = one?.observedGeneration === metadata?.generation;
      return { text: isNew ? `${one?.status} ${one?.reason}` : "", message: one?.message ?? "" };
    };
    await until(`${type} of ${name} is ${wanted}`, () => find().text === wanted, ms).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}; it is ${JSON.stringify(this.read(name), null, 1)}`);
      },
    );
    return find().message;
  }

  /** Owners of addresses in all pools. */
  listPoolOwners(): string[] {
    const pools: readonly IpPool[] = JSON.parse(
      JSON.stringify(this.kubernetes.objects.list(IP_POOLS.plural)),
    );
    return pools.flatMap(({ spec }) => spec?.allocatedIPs ?? []).map((one) => one.allocatedTo);
  }

  /** Events about a Vino: `Reason message`. */
  listEvents(name: string): string[] {
    return this.kubernetes.objects
      .list("events", METAL)
      .filter((event) => JSON.stringify(event).includes(`"name":"${name}"`))
      .map((event) => `${String(event["reason"])} ${String(event["message"])}`);
  }

  /** How many requests of the controller would change something, Events apart. */
  countWrites(): number {
    const { requests } = this.kubernetes;
    const verbs = ["create", "update", "patch", "delete"] as const;
    return verbs.reduce((sum, verb) => {
      return sum + requests.count({ verb }) - requests.count({ verb, resource: "events" });
    }, 0);
  }

  /** How many reconciles ended since the last start. */
  countReconciles(): number {
    const lines = this.metrics.render().split("\n");
    const values = lines.filter((line) => line.startsWith("landfall_reconciles_total{"));
    return values.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  /** Waits until nothing was written for some time. */
  async untilQuiet(): Promise<void> {
    for (let before = -1; ;) {
      const now = this.countWrites();
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

  /** Starts the controller, also again after {@linkcode stop}. */
  async run(): Promise<void> {
    this.#stopping = new AbortController();
    this.metrics = new MetricsRegistry();
    const { clock, metrics, provider } = this;
    const credentials = await loadCredentials({ master: this.kubernetes.url, env: {}, clock });
    const client = createKubeClient({ credentials, clock, metrics, version: "test" });
    const controllers = await loadControllers([vinoController]);
    const options = {
      provider,
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
}
