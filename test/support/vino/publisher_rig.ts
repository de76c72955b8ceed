/**
 * The publisher of hosts on a simulated API server, with a real watch and its own clock.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import {
  HostPublisher,
  type HostRequest,
  type Published,
} from "../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import type { HostOutcome, WantedHost } from "../../../lib/controllers/vino/hosts/types.ts";
import type { Vino } from "../../../lib/controllers/vino/resource/vino.ts";
import { type Clock, systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import {
  createRequestMetrics,
  createTransport,
  type Transport,
  type TransportRequest,
} from "../../../lib/kube/api/request.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import type { StoreReader } from "../../../lib/kube/cache/store.ts";
import { createWatcherMetrics } from "../../../lib/kube/cache/watcher.ts";
import type { Credentials } from "../../../lib/kube/credentials/credentials.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import {
  type ApiObject,
  type JsonObject,
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { loseAnswer, type LostAnswer } from "../kube/transports.ts";
import { ManualClock } from "../manual_clock.ts";
import { until } from "../nodes/rig.ts";
import { OWNER } from "./wanted_hosts.ts";

/** What must become of several hosts. */
export interface PublishRequest extends Omit<HostRequest, "name" | "wasPaused"> {
  readonly hosts: readonly WantedHost[];
  /** Names of hosts to take back. */
  readonly unwanted: readonly string[];
  /** Names of hosts that were paused or moved before. */
  readonly paused: ReadonlySet<string>;
}

/** How far several hosts are. */
export interface PublishedHosts {
  readonly hosts: readonly HostOutcome[];
  readonly unwanted: readonly HostOutcome[];
  readonly againMs: number;
}

/** Takes hosts back, and publishes others. */
export async function publishEach(
  publisher: Pick<HostPublisher, "publish" | "remove">,
  { hosts, unwanted, paused, owner, publishesMoved }: PublishRequest,
  signal: AbortSignal,
): Promise<PublishedHosts> {
  const toRequest = (name: string): HostRequest => ({
    owner,
    name,
    wasPaused: paused.has(name),
    publishesMoved,
  });
  const gone = await Promise.all(unwanted.map((one) => publisher.remove(toRequest(one), signal)));
  const made = await Promise.all(
    hosts.map((one) => publisher.publish(toRequest(one.name), one, signal)),
  );
  const toOutcomes = (all: readonly Published[]): HostOutcome[] =>
    all.map(({ outcome }) => outcome);
  const againMs = Math.min(...[...gone, ...made].map((one) => one.againMs));
  return { hosts: toOutcomes(made), unwanted: toOutcomes(gone), againMs };
}

/** Answers of a call, shortened. */
interface PublishReport {
  /** `edge-worker-0 Published`. */
  readonly states: readonly string[];
  /** Messages and notices. */
  readonly texts: readonly string[];
  /** What it asked the API server for: `create secrets/a`. */
  readonly requests: readonly string[];
  readonly published: PublishedHosts;
}

/** A publisher, and what it works on. Stop it after use. */
export interface PublisherRig extends AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  /** The time of the publisher. */
  readonly clock: ManualClock;
  /** Keys of Vinos that changes of hosts named, oldest first. */
  readonly woken: string[];
  readonly publisher: HostPublisher;
  /** All requests of publishers, oldest first; not those of their watches. */
  readonly sent: readonly TransportRequest[];
  /** Waits until the view shows what the API server has. */
  settle(): Promise<void>;
  /** Publishes once the view shows everything. */
  publish(request: Partial<PublishRequest>): Promise<PublishReport>;
  /** Publishes until nothing is written any more. @throws if that does not end */
  publishAll(request: Partial<PublishRequest>): Promise<PublishReport>;
  /** Starts another publisher without memory in place of this one, as a restart does. */
  restart(): Promise<void>;
  host(name: string): ApiObject | undefined;
  secret(name: string): ApiObject | undefined;
  /** Changes a host by a merge patch, as a person would. */
  edit(name: string, patch: JsonObject): void;
  /** Deletes a host, as a person would. */
  remove(name: string): void;
}

const ROUNDS_MAX = 10;
const HOSTS = BARE_METAL_HOSTS.plural;

/** What a test may choose of the publisher. */
interface PublisherOptions {
  /** Which of its requests gets no answer. @default {none} */
  readonly lost?: LostAnswer;
}

/** Starts the server with the Vino, and the publisher. */
export async function startPublisher({ lost }: PublisherOptions = {}): Promise<PublisherRig> {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const { objects } = kubernetes;
  kubernetes.installKind(BARE_METAL_HOSTS);
  objects.create("namespaces", { metadata: { name: OWNER.namespace } });
  const { namespace, name, uid } = OWNER;
  const vino: Vino = { metadata: { namespace, name, uid } };
  const credentials = await loadCredentials({
    master: kubernetes.url,
    env: {},
    clock: systemClock,
  });
  const clock = new ManualClock();
  const woken: string[] = [];
  const sent: TransportRequest[] = [];
  const start = (): RunningPublisher => {
    const transport = loseAnswer(createTransport(credentials.server), sent, lost);
    const one = runPublisher({ credentials, clock, vino, transport });
    one.publisher.source.subscribe((keys) => woken.push(...keys));
    return one;
  };
  let running = start();
  const { signal } = new AbortController();
  const settle = (): Promise<void> =>
    until("the view shows all", () => {
      const [shown, stored] = [[...running.hosts.values()], objects.list(HOSTS)].map((list) =>
        list.map(toVersion).sort(),
      );
      return running.hosts.synced && isDeepStrictEqual(shown, stored);
    });
  const listVersions = (): string[] =>
    [HOSTS, "secrets"].flatMap((kind) => objects.list(kind).map(toVersion));
  const takeRequests = (): string[] => {
    const taken = kubernetes.requests.entries.filter(
      ({ verb }) => !["list", "watch"].includes(verb),
    );
    const asked = taken.map(({ verb, resource, name: one }) => `${verb} ${resource}/${one}`);
    kubernetes.requests.clear();
    return asked;
  };
  const publish = async (request: Partial<PublishRequest>): Promise<PublishReport> => {
    await settle();
    takeRequests();
    const whole = { ...NOTHING, ...request };
    const published = await publishEach(running.publisher, whole, signal);
    const outcomes = [...published.hosts, ...published.unwanted];
    return {
      states: outcomes.map((one) => `${one.name} ${one.state}`),
      texts: outcomes.flatMap(({ message, notices }) => [message ?? [], notices].flat()),
      requests: takeRequests(),
      published,
    };
  };
  return {
    kubernetes,
    clock,
    woken,
    sent,
    get publisher() {
      return running.publisher;
    },
    settle,
    publish,
    async publishAll(request) {
      let before = listVersions();
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        const report = await publish(request);
        const after = listVersions();
        if (isDeepStrictEqual(before, after)) return report;
        before = after;
      }
      throw new Error("it writes again and again");
    },
    async restart() {
      await running.stop();
      running = start();
      await settle();
    },
    host: (one) => objects.get(HOSTS, { namespace, name: one }),
    secret: (one) => objects.get("secrets", { namespace, name: one }),
    edit: (one, patch) => void objects.patch(HOSTS, { namespace, name: one }, patch),
    remove: (one) => void objects.delete(HOSTS, { namespace, name: one }),
    async [Symbol.asyncDispose]() {
      await running.stop();
      await kubernetes.stop();
    },
  };
}

/** A publisher with a real watch. */
export interface RunningPublisher {
  readonly client: KubeClient;
  readonly publisher: HostPublisher;
  readonly hosts: StoreReader<BareMetalHost>;
  stop(): Promise<void>;
}

/** Starts a publisher for one Vino on any API server. */
export function runPublisher({
  credentials,
  clock,
  vino,
  transport,
}: {
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly vino: Vino;
  /** Of the publisher alone. @default {one like that of its watch} */
  readonly transport?: Transport;
}): RunningPublisher {
  const log = silentLogger;
  const metrics = new MetricsRegistry();
  const shared = { credentials, clock: systemClock, metrics: createRequestMetrics(metrics) };
  const client = createKubeClient({ ...shared, version: "test" });
  const own = createKubeClient({ ...shared, ...(transport && { transport }), version: "test" });
  const watcherMetrics = createWatcherMetrics(metrics);
  const caches = new Caches({ client, clock: systemClock, log, metrics: watcherMetrics });
  const hosts = caches.reader(BARE_METAL_HOSTS);
  const vinoes = { values: () => [vino] };
  const publisher = new HostPublisher({ client: caches.follow(own), clock, hosts, vinoes });
  const stopping = new AbortController();
  const done = caches.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("the test is over"));
    await done;
  };
  return { client, publisher, hosts, stop };
}

const NOTHING: PublishRequest = {
  owner: OWNER,
  hosts: [],
  unwanted: [],
  paused: new Set(),
  publishesMoved: false,
};

function toVersion({ metadata }: KubeObject): string {
  return `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
}
