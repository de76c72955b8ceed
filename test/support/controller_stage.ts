/**
 * A whole controller on a simulated API server, for resources of one kind that have BareMetalHosts.
 * @module
 */
import { runApp } from "../../lib/app/app.ts";
import type { Provider } from "../../lib/cloud/provider.ts";
import {
  type ControllerDefinition,
  type FlagValues,
  loadControllers,
} from "../../lib/controllers/definition.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { BARE_METAL_HOSTS } from "../../lib/kube/kinds/bare_metal_host.ts";
import type { Condition } from "../../lib/controllers/kinds/conditions.ts";
import {
  type ApiObject,
  type JsonObject,
  type KubernetesSimulator,
  type ObjectAccess,
  startKubernetesSimulator,
} from "../../lib/simulator/kubernetes/mod.ts";
import { until } from "./nodes/rig.ts";
import { connect } from "./kube/connect.ts";
import { toMemoryTransport } from "./kube/memory_transport.ts";
import type { PacedClock } from "./paced_clock.ts";

/** What a {@linkcode ControllerStage} is of. */
interface StageOptions {
  readonly controller: ControllerDefinition;
  /** Kinds that there are besides hosts, that of the resources first. */
  readonly kinds: readonly [Kind, ...Kind[]];
  /** The namespaces of the resources and of the hosts. */
  readonly namespace: string;
  readonly hosts: string;
  readonly clock: PacedClock;
  readonly provider?: Provider;
  /** @default {those that the flags have} */
  readonly flags?: FlagValues;
  /** What the controllers of Kubernetes do after a change. */
  readonly step: (objects: ObjectAccess) => void;
}

type Kind = Parameters<KubernetesSimulator["installKind"]>[0];

/** A resource, as far as every stage reads it. */
interface Resource {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const STEP_MS = 20;
/** Longer than every pause of the controller and the steps beside it. */
const QUIET_MS = 150;
/** A verb and a resource. */
const WRITE = /^(create|update|patch|delete) (?!events$)/;

/** A running controller and its world. */
export class ControllerStage<Spec extends object, One extends Resource> implements AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  readonly clock: PacedClock;
  /** Of the process that runs now. */
  metrics: MetricsRegistry = new MetricsRegistry();
  readonly #options: StageOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  /** Versions of resources as tests read them. */
  readonly #read = new WeakMap<ApiObject, One>();
  #flags: FlagValues;
  #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: StageOptions) {
    const { clock, kinds, namespace, hosts, step } = options;
    this.#options = options;
    this.clock = clock;
    this.#flags = options.flags ?? {};
    this.kubernetes = startKubernetesSimulator({ clock });
    const { objects } = this.kubernetes;
    for (const kind of [BARE_METAL_HOSTS, ...kinds]) this.kubernetes.installKind(kind);
    for (const name of new Set([namespace, hosts]))
      objects.create("namespaces", { metadata: { name } });
    let seen = -1;
    this.#timer = setInterval(() => {
      if (objects.version === seen) return;
      seen = objects.version;
      step(objects);
    }, STEP_MS);
  }

  /** Creates a resource. */
  create(name: string, spec: Spec, metadata: JsonObject = {}): void {
    this.kubernetes.objects.create(this.#plural, {
      metadata: { ...this.#toPath(name), generation: 1, ...metadata },
      spec: toJson(spec),
    });
  }

  /** Changes the spec of a resource by a merge patch. */
  change(name: string, spec: object): void {
    this.kubernetes.objects.patch(this.#plural, this.#toPath(name), { spec: toJson(spec) });
  }

  /** Deletes a resource, as `kubectl delete` does. */
  delete(name: string): void {
    this.kubernetes.objects.delete(this.#plural, this.#toPath(name));
  }

  /** Sets annotations of a resource. */
  annotate(name: string, annotations: JsonObject): void {
    this.kubernetes.objects.patch(this.#plural, this.#toPath(name), { metadata: { annotations } });
  }

  /** A resource as it is now. */
  read(name: string): One | undefined {
    const found = this.kubernetes.objects.get(this.#plural, this.#toPath(name));
    if (found === undefined) return undefined;
    // Who waits reads it again and again.
    const one = this.#read.get(found) ?? JSON.parse(JSON.stringify(found));
    this.#read.set(found, one);
    return one;
  }

  /** Uses a host, as Cluster API does, or uses it no more. */
  consume(name: string, isUsed: boolean = true): void {
    const { hosts: namespace } = this.#options;
    const consumerRef = isUsed ? { kind: "Metal3Machine", name: `for-${name}`, namespace } : null;
    const path = { namespace, name };
    this.kubernetes.objects.patch(BARE_METAL_HOSTS.plural, path, { spec: { consumerRef } });
  }

  /** All BareMetalHosts. */
  get hosts(): readonly ApiObject[] {
    return this.kubernetes.objects.list(BARE_METAL_HOSTS.plural);
  }

  /** Waits until the condition of a resource has a status and a reason, and returns its message. */
  async untilCondition(name: string, type: string, wanted: string, ms?: number): Promise<string> {
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

  /** Events about a resource: `Reason message`. */
  listEvents(name: string): string[] {
    return this.kubernetes.objects
      .list("events", this.#options.namespace)
      .filter((event) => JSON.stringify(event).includes(`"name":"${name}"`))
      .map((event) => `${String(event["reason"])} ${String(event["message"])}`);
  }

  /** How many requests of the controller would change something, Events apart. */
  countWrites(): number {
    let writes = 0;
    for (const [what, count] of this.kubernetes.requests.counts)
      if (WRITE.test(what)) writes += count;
    return writes;
  }

  /** How many reconciles ended since the last start. */
  countReconciles(): number {
    const lines = this.metrics.render().split("\n");
    const values = lines.filter((line) => line.startsWith("landfall_reconciles_total{"));
    return values.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  /** Waits until nothing was done for some time. */
  async untilQuiet(): Promise<void> {
    for (let before = -1; ;) {
      const now = this.countWork();
      if (now === before) return;
      before = now;
      await Bun.sleep(QUIET_MS);
    }
  }

  /** What grows for as long as it works. */
  protected countWork(): number {
    return this.countWrites();
  }

  /** Starts the next process with other flags. */
  setFlags(flags: FlagValues): void {
    this.#flags = flags;
  }

  /** Starts the controller, also again after {@linkcode stop}. */
  async run(): Promise<void> {
    const { clock, provider, controller } = this.#options;
    this.#stopping = new AbortController();
    this.metrics = new MetricsRegistry();
    const { metrics } = this;
    const transport = toMemoryTransport(this.kubernetes);
    const options = {
      ...(provider && { provider }),
      client: await connect({ master: this.kubernetes.url }, { clock, metrics, transport }),
      clock,
      log: silentLogger,
      metrics,
      host: "test",
      controllers: await loadControllers([controller]),
      flags: this.#flags,
      sections: new Map(),
      concurrentNodeSyncs: 1,
    };
    this.#running = runApp(options, this.#stopping.signal);
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

  get #plural(): string {
    return this.#options.kinds[0].plural;
  }

  #toPath(name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#options.namespace, name };
  }
}

function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}
