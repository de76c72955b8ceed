/**
 * One reconcile of a SIPCluster on a simulated API server, with services that answer as a test says.
 * @module
 */
import { expect, test } from "bun:test";
import { ObjectWriter } from "../../../lib/controllers/kinds/object_writer.ts";
import { AddressReader } from "../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import { HostIndex } from "../../../lib/controllers/sipcluster/hosts/host_index.ts";
import { toAllowsHost } from "../../../lib/controllers/sipcluster/hosts/record.ts";
import { ClusterConvergence } from "../../../lib/controllers/sipcluster/reconcile.ts";
import {
  SIP_CLUSTERS,
  type SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { createSipClusterMetrics } from "../../../lib/controllers/sipcluster/state.ts";
import { FINALIZER } from "../../../lib/controllers/sipcluster/words.ts";
import { ALONE, Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { Converger } from "../../../lib/engine/converge.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { Store, toKey } from "../../../lib/kube/cache/store.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import {
  HOST_NAMESPACE,
  startHostServer,
  toClaimLabels,
  toHost,
} from "../../support/sipcluster/hosts.ts";

const signal = AbortSignal.timeout(30_000);
const NO_MACHINES = { machines: [], lastKnown: [], unknown: [], lacking: [], troubled: [] };
const CONSUMER: JsonObject = { spec: { consumerRef: { kind: "Metal3Machine", name: "m" } } };

interface Plan {
  readonly isKept?: boolean;
  /** Whether the API server drops fields of the status that its older CRD does not have. */
  readonly hasOldCrd?: boolean;
  /** Namespaces of hosts. @default {all} */
  readonly allowed?: string;
  /** What Kubernetes says when services are made. */
  readonly refusal?: Error;
  /** Whether Kubernetes refuses the status, too. */
  readonly refusesStatus?: boolean;
  readonly spec?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of the host of the cluster. */
  readonly host?: JsonObject;
  /** Of the same host, and not shown by the watch yet. */
  readonly unseen?: JsonObject;
  /** What is left of the services. */
  readonly left?: readonly string[];
  /** Called while services are removed. */
  readonly meanwhile?: (change: (patch: JsonObject) => void) => void;
  /** Since the deletion. */
  readonly sinceMs?: number;
}

interface Result {
  /** Calls of services, and reasons of Events. */
  readonly done: readonly string[];
  readonly isLabelled: boolean;
  readonly requeueAfterMs: number | undefined;
  /** Absent: it is gone. */
  readonly cluster: SipCluster | undefined;
  /** What the status says about readiness. */
  readonly message: string | undefined;
  /** What the debug page shows. */
  readonly state: string | undefined;
}

/** Reconciles a cluster with one host, that is being deleted unless it is kept. */
async function reconcile(plan: Plan): Promise<Result> {
  await using server = await startHostServer();
  const { kubernetes } = server;
  kubernetes.installKind(SIP_CLUSTERS);
  const { objects } = kubernetes;
  const { annotations = {}, spec = { services: {} } } = plan;
  const path = { namespace: "tenant", name: "a" };
  objects.create("namespaces", { metadata: { name: "tenant" } });
  objects.create(SIP_CLUSTERS.plural, {
    metadata: { ...path, finalizers: [FINALIZER], annotations },
    spec,
  });
  const read = (): SipCluster | undefined =>
    objects.get(SIP_CLUSTERS.plural, path) as object as SipCluster | undefined;
  const { uid = "" } = server.create("h", { labels: toClaimLabels("a") }).metadata;
  const place = { namespace: HOST_NAMESPACE, name: "h", role: "Worker", standby: false };
  const status = { hosts: [{ uid, ...place, addresses: [] }] };
  objects.patch(SIP_CLUSTERS.plural, { ...path, subresource: "status" }, { status });
  if (!plan.isKept) objects.delete(SIP_CLUSTERS.plural, path);
  const cluster = read();
  if (cluster === undefined) throw new Error("it is there");
  const deletedAt = Date.parse(cluster.metadata.deletionTimestamp ?? "");
  const clock = new ManualClock((deletedAt || 0) + (plan.sinceMs ?? 0));
  const host = server.change("h", plan.host ?? {});
  const hosts = new Store({ resource: BARE_METAL_HOSTS, log: silentLogger });
  hosts.apply(host);
  if (plan.unseen) server.change("h", plan.unseen);
  const clusters = new Store<SipCluster>({ resource: SIP_CLUSTERS, log: silentLogger });
  clusters.replace([cluster], "1");
  // Own writes are in the caches at once.
  const learn = (object: KubeObject): void => {
    if (toKey(object) === "tenant/a") clusters.learn(object, undefined);
    else hosts.learn(object as BareMetalHost, undefined);
  };
  const followed = server.client.followedBy(() => ({ learn, learnGone: () => undefined }));
  const patch: KubeClient["patch"] = async (...words) => {
    const answer = structuredClone(await followed.patch(...words));
    const { status } = answer as SipCluster;
    for (const host of status?.hosts ?? []) delete (host as { uid?: string }).uid;
    return answer;
  };
  const client = plan.hasOldCrd ? Object.assign(Object.create(followed), { patch }) : followed;
  if (plan.refusesStatus) {
    kubernetes.faults.deny({ verb: "patch", resource: `${SIP_CLUSTERS.plural}/status` });
  }
  const done: string[] = [];
  const last: ConstructorParameters<typeof ClusterConvergence>[1]["last"] = new Map();
  const events = {
    record: (_object: object, { reason }: { reason: string }) => void done.push(reason),
  };
  const index = new HostIndex({ hosts, clusters });
  const troubled = toHost("t", { spec: { networkData: { name: "gone" } } });
  const addresses = new AddressReader({ client, clock, periodMs: 600_000, random: () => 0 });
  await addresses.readAll([troubled], signal);
  const convergence = new ClusterConvergence("tenant/a", {
    client,
    clock,
    events,
    log: silentLogger,
    metrics: createSipClusterMetrics(new MetricsRegistry()),
    clusters,
    index,
    addresses,
    writer: new ObjectWriter(SIP_CLUSTERS, { client, clock, events }),
    claimed: new Map(),
    adopting: new Set<string>(),
    failures: new Map(),
    allows: toAllowsHost(plan.allowed ?? "*"),
    errorGraceMs: 600_000,
    missedHosts: {
      note: (_cluster, hosts) => void done.push(...[...hosts].map((key) => `missed ${key}`)),
    },
    last,
    services: {
      listMachines: () => Promise.resolve(NO_MACHINES),
      serve: () => {
        done.push("serve");
        if (plan.refusal) return Promise.reject(plan.refusal);
        const served = { machines: [], services: [], endpoints: [], againMs: Infinity };
        return Promise.resolve({ ...served, troubled: [toKey(troubled)] });
      },
      answerRequests: () => Promise.resolve({ outcomes: [] }),
      remove: () => {
        done.push("remove");
        plan.meanwhile?.((patch) => void server.change("h", patch));
        return Promise.resolve(plan.left ?? []);
      },
    },
  });
  const converger = new Converger({ clock, fence: new Fence(ALONE) });
  const { requeueAfterMs } = await converger
    .reconcile(convergence, signal)
    .catch((error: unknown) => {
      done.push(String(error));
      return { requeueAfterMs: undefined };
    });
  const isLabelled = Object.keys(server.findLabels("h") ?? {}).length > 0;
  const ready = read()?.status?.conditions?.find(({ type }) => type === "Ready");
  return {
    done,
    isLabelled,
    requeueAfterMs,
    cluster: read(),
    message: ready?.message,
    state: last.get("tenant/a")?.state,
  };
}

const IN_USE = expect.stringContaining("metal3/h (used by a consumer)");
const KEPT = { isLabelled: true, message: IN_USE };
/** What a cluster says of a host whose network data is missing. */
const MISSED = "missed metal3/t";

test("a Secret is looked at soon again while network data of a host that it has is missing", async () => {
  const { done, requeueAfterMs } = await reconcile({ isKept: true });
  expect(done).toEqual(expect.arrayContaining(["serve", MISSED]));
  expect(requeueAfterMs).toBe(600_000);
});

test("a cluster says what Kubernetes refuses, and is tried again", async () => {
  const refusal = new KubeError("forbidden", "may not create Deployments");
  const { done, message } = await reconcile({ isKept: true, refusal });
  expect(done.slice(-2)).toEqual(["serve", String(refusal)]);
  expect(message).toContain("may not create Deployments");
});

test("a cluster says that the CRD is too old to record hosts, and labels none", async () => {
  const { done, message, isLabelled } = await reconcile({ isKept: true, hasOldCrd: true });
  expect(done).toEqual([expect.stringContaining("Apply deploy/manifests/sipcluster/crd.yaml")]);
  expect(message).toStartWith("The CustomResourceDefinition of SIPClusters is older than Landfall");
  expect(isLabelled).toBe(true);
});

test("a cluster is shown as failing, also if Kubernetes refuses the status that would say why", async () => {
  const refusal = new KubeError("forbidden", "may not create Deployments");
  const { state, message } = await reconcile({ isKept: true, refusal, refusesStatus: true });
  expect([state, message]).toEqual(["failing", undefined]);
});

test("a cluster that is deleted loses services, then labels, then the finalizer", async () => {
  const done = ["remove", "HostReleased"];
  expect(await reconcile({})).toMatchObject({ done, isLabelled: false, cluster: undefined });
});

test.each([
  ["is in use", { host: CONSUMER }],
  ["is in use, which the watch does not show yet", { unseen: CONSUMER }],
])("a cluster whose host %s keeps all, and its services are looked after", async (_what, plan) => {
  const result = await reconcile(plan);
  const done = ["UnableToDecommission", "serve", MISSED];
  expect(result).toMatchObject({ ...KEPT, done });
  expect(result.cluster?.status?.counts?.["Worker"]).toMatchObject({ active: 1, wanted: 0 });
});

test("a cluster that is deleted keeps services that cannot be planned as they are", async () => {
  const spec = { nodes: { Worker: { count: { active: -1 } } }, services: {} };
  const result = await reconcile({ host: CONSUMER, spec });
  expect(result).toMatchObject({ ...KEPT, done: ["UnableToDecommission"] });
});

test("a cluster loses all if its deletion is forced, in use or not", async () => {
  const annotations = { "landfall.dev/force-release": "true" };
  const result = await reconcile({ host: CONSUMER, annotations });
  expect(result).toMatchObject({ done: ["remove", "HostReleased"], cluster: undefined });
});

test.each([
  [0, "goes on"],
  [60_001, "Landfall waits until these are gone: Deployment/x"],
])("no label goes before the services are gone (after %d ms)", async (sinceMs, says) => {
  const result = await reconcile({ left: ["Deployment/x"], sinceMs });
  expect(result).toMatchObject({ done: ["remove"], isLabelled: true, requeueAfterMs: 2_000 });
  expect(result.message?.includes(says)).toBe(sinceMs > 0);
});

test("a host that is used since a moment ago keeps its labels", async () => {
  const result = await reconcile({ meanwhile: (change) => change(CONSUMER) });
  expect(result).toMatchObject({ ...KEPT, done: ["remove", "UnableToDecommission"] });
});
