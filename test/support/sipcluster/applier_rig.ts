/**
 * The applier of services on a simulated API server, with real watches and its own clock.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { ServiceApplier } from "../../../lib/controllers/sipcluster/services/apply.ts";
import { OwnedViews } from "../../../lib/controllers/sipcluster/services/apply/objects.ts";
import {
  DEPLOYMENTS,
  OWNED_SERVICES,
  POD_DISRUPTION_BUDGETS,
  toOwned,
} from "../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { SECRETS, toSecretData } from "../../../lib/kube/kinds/secret.ts";
import type {
  OwnedObject,
  ServicePlan,
} from "../../../lib/controllers/sipcluster/services/types.ts";
import {
  SIP_CLUSTERS,
  type SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { SIP_CLUSTER_LABEL } from "../../../lib/controllers/sipcluster/words.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import {
  createRequestMetrics,
  createTransport,
  type TransportRequest,
} from "../../../lib/kube/api/request.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import { createWatcherMetrics } from "../../../lib/kube/cache/watcher.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import {
  type ApiObject,
  type JsonObject,
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { loseAnswer, type LostAnswer } from "../kube/transports.ts";
import { ManualClock } from "../manual_clock.ts";
import { until } from "../nodes/rig.ts";

/** The namespace of clusters in tests. */
export const NAMESPACE = "tenant";

/** Labels of what the original operator made. */
export const SIP_LABELS = { "app.kubernetes.io/part-of": "sip" } as const;

/** What a test may choose of a plan. */
interface PlanInput {
  /** @default {jumpHost} */
  readonly service?: string;
  /** Name of all its objects. @default {jumphost-a} */
  readonly name?: string;
  readonly nodePort?: number;
  readonly config?: string;
  readonly replicas?: number;
  /** @default {the four labels of the original operator, shortened to one} */
  readonly selector?: Readonly<Record<string, string>>;
  /** Further Secrets that the Pods read. @default {none} */
  readonly mounts?: readonly string[];
}

/** A service as planners write it: a Secret, a Deployment, a PodDisruptionBudget and a Service. */
export function toPlan(input: PlanInput = {}): ServicePlan {
  const { service = "jumpHost", name = "jumphost-a", nodePort = 30001 } = input;
  const { config = "one", replicas = 2, selector = { app: name }, mounts = [] } = input;
  const metadata = { name, namespace: NAMESPACE, labels: SIP_LABELS };
  const matching = { matchLabels: selector };
  const objects: OwnedObject[] = [
    toOwned(OWNED_SERVICES, metadata, {
      spec: {
        type: "NodePort",
        selector,
        ports: [{ name: "ssh", port: 22, protocol: "TCP", nodePort }],
      },
    }),
    toOwned(DEPLOYMENTS, metadata, {
      spec: {
        replicas,
        selector: matching,
        template: {
          metadata: { labels: selector },
          spec: {
            containers: [{ name: "c", image: "example.org/c:1", env: [{ name: "A", value: "" }] }],
            volumes: [name, ...mounts].map((secretName) => ({
              name: secretName,
              secret: { secretName },
            })),
          },
        },
      },
    }),
    toOwned(SECRETS, metadata, { type: "Opaque", data: toSecretData({ config }) }),
    toOwned(POD_DISRUPTION_BUDGETS, metadata, { spec: { minAvailable: 1, selector: matching } }),
  ];
  return { service, objects, deployment: name };
}

/** An applier, and what it works on. */
export interface ApplierRig extends AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  readonly client: KubeClient;
  /** The time of the applier. */
  readonly clock: ManualClock;
  readonly cluster: SipCluster;
  readonly signal: AbortSignal;
  readonly applier: ServiceApplier;
  /** Another cluster of the same namespace. */
  createCluster(name: string): SipCluster;
  /** Waits until the views show what the API server has. */
  settle(): Promise<void>;
  /** Applies plans for the cluster once the views show everything; returns what it asked the API server for. */
  apply(...plans: ServicePlan[]): Promise<{
    readonly problems: readonly string[];
    readonly requests: readonly string[];
    readonly againMs: number;
  }>;
  /** Deletes all that the cluster owns once the views show everything; returns what is left. */
  remove(...plans: ServicePlan[]): Promise<readonly string[]>;
  /** Starts another applier without memory in place of this one, as a restart does. */
  restart(): Promise<void>;
  /** An object in the namespace of the cluster. */
  find(plural: string, name: string): ApiObject | undefined;
  /** Changes an object that the views show by a merge patch, as a person would. */
  edit(plural: string, name: string, patch: JsonObject): Promise<void>;
  /** All objects of the kinds that services have, as `plural/name`, without those of Kubernetes. */
  list(): string[];
  /** The bodies of all requests of appliers with this method, oldest first. */
  listBodies(method: TransportRequest["method"]): readonly unknown[];
  /** The requests since the last call, without watches, lists and those for the state of the test. */
  takeRequests(): string[];
}

const PLURALS = [
  "configmaps",
  "deployments",
  "poddisruptionbudgets",
  "rolebindings",
  "roles",
  "secrets",
  "serviceaccounts",
  "services",
] as const;

/** What a test may choose of the server and the applier. */
interface ApplierOptions {
  /** Which of the applier's requests gets no answer, from 0. @default {none} */
  readonly lost?: LostAnswer;
}

/** Starts the server and the applier. */
export async function startApplier({ lost }: ApplierOptions = {}): Promise<ApplierRig> {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  kubernetes.installKind(SIP_CLUSTERS);
  kubernetes.objects.create("namespaces", { metadata: { name: NAMESPACE } });
  const credentials = await loadCredentials({
    master: kubernetes.url,
    env: {},
    clock: systemClock,
  });
  const metrics = new MetricsRegistry();
  const shared = { credentials, clock: systemClock, metrics: createRequestMetrics(metrics) };
  const client = createKubeClient({ ...shared, version: "test" });
  const sent: TransportRequest[] = [];
  const transport = loseAnswer(createTransport(credentials.server), sent, lost);
  const applierClient = createKubeClient({ ...shared, transport, version: "test" });
  const watcherMetrics = createWatcherMetrics(metrics);
  const clock = new ManualClock();
  const createCluster = (name: string): SipCluster => {
    const { apiVersion, kind, plural } = SIP_CLUSTERS;
    const metadata = { name, namespace: NAMESPACE };
    kubernetes.objects.create(plural, { apiVersion, kind, metadata, spec: { services: {} } });
    const { uid = "" } = kubernetes.objects.get(plural, metadata)?.metadata ?? {};
    return { apiVersion, kind, metadata: { ...metadata, uid } };
  };
  const cluster = createCluster("a");
  const start = (): Running => {
    const log = silentLogger;
    const caches = new Caches({ client, clock: systemClock, log, metrics: watcherMetrics });
    const applier = new ServiceApplier({ client: caches.follow(applierClient), caches, clock });
    // The same stores: callers that ask for the same objects share one.
    const views = new OwnedViews(caches);
    const stopping = new AbortController();
    const done = caches.run(stopping.signal);
    const stop = async (): Promise<void> => {
      stopping.abort(new Error("the test is over"));
      await done;
    };
    return { applier, views, stop };
  };
  let running = start();
  const { signal } = new AbortController();
  const takeRequests = (): string[] => {
    const taken = kubernetes.requests.entries.filter(
      ({ verb }) => !["list", "watch"].includes(verb),
    );
    const asked = taken.map(
      ({ verb, resource, name, path }) => `${verb} ${resource ? `${resource}/${name}` : path}`,
    );
    kubernetes.requests.clear();
    return asked;
  };
  const settle = (): Promise<void> =>
    until("the views show all", () =>
      VIEWS.every(([plural, view]) => {
        const shown = [...running.views[view].values()].map(toVersion);
        const stored = kubernetes.objects
          .list(plural)
          .filter(({ metadata }) => Object(metadata["labels"])[SIP_CLUSTER_LABEL] !== undefined);
        return (
          running.views[view].synced &&
          isDeepStrictEqual(shown.sort(), stored.map(toVersion).sort())
        );
      }),
    );
  const toPath = (name: string): { name: string; namespace: string } => ({
    name,
    namespace: NAMESPACE,
  });
  return {
    kubernetes,
    client,
    clock,
    cluster,
    signal,
    get applier() {
      return running.applier;
    },
    createCluster,
    settle,
    takeRequests,
    listBodies: (method) =>
      sent.filter((one) => one.method === method).map(({ body = "{}" }) => JSON.parse(body)),
    async apply(...plans) {
      await settle();
      takeRequests();
      const { problems, againMs } = await running.applier.apply(cluster, plans, signal);
      const texts = problems.map(
        ({ service, reason, message }) => `${service} ${reason}: ${message}`,
      );
      return { problems: texts, requests: takeRequests(), againMs };
    },
    async remove(...plans) {
      await settle();
      takeRequests();
      return await running.applier.remove(cluster, plans, signal);
    },
    async restart() {
      await running.stop();
      running = start();
      await settle();
    },
    find: (plural, name) => kubernetes.objects.get(plural, toPath(name)),
    async edit(plural, name, patch) {
      await settle();
      kubernetes.objects.patch(plural, toPath(name), patch);
    },
    list: () =>
      PLURALS.flatMap((plural) =>
        kubernetes.objects
          .list(plural, NAMESPACE)
          .map(({ metadata }) => `${plural}/${metadata.name}`),
      ),
    async [Symbol.asyncDispose]() {
      await running.stop();
      await kubernetes.stop();
    },
  };
}

interface Running {
  readonly applier: ServiceApplier;
  readonly views: OwnedViews;
  stop(): Promise<void>;
}

const VIEWS = [
  ["deployments", "deployments"],
  ["services", "services"],
  ["configmaps", "configMaps"],
] as const;

function toVersion({ metadata }: KubeObject): string {
  return `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
}
