/**
 * The objects of all services, applied to a real API server with the rights of the controller and no others.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { loadKinds, renderCrdFiles } from "../../../deploy/crds.ts";
import { listRights, toPolicy } from "../../../lib/app/rights.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import {
  SIP_CLUSTERS,
  type SipCluster,
  type SipServices,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  type Applied,
  ServiceApplier,
} from "../../../lib/controllers/sipcluster/services/apply.ts";
import { OwnedViews } from "../../../lib/controllers/sipcluster/services/apply/objects.ts";
import { planAuth } from "../../../lib/controllers/sipcluster/services/auth/providers.ts";
import { planJumpHosts } from "../../../lib/controllers/sipcluster/services/jump_host/jump_hosts.ts";
import { planLoadBalancers } from "../../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import type { ServicePlan } from "../../../lib/controllers/sipcluster/services/types.ts";
import { NAME } from "../../../lib/controllers/sipcluster/words.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import { createWatcherMetrics } from "../../../lib/kube/cache/watcher.ts";
import { readManifests } from "../../support/deploy/deploy_tools.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import {
  hasControllerManager,
  startControllerManager,
} from "../../support/process/kube_controllers.ts";
import type { ServerProcess } from "../../support/process/server_process.ts";
import { createProviderPems, toAuthFacts } from "../../support/sipcluster/auth_facts.ts";
import { machine } from "../../support/sipcluster/machines.ts";
import { connect } from "../../support/kube/connect.ts";

const NAMESPACE = "tenant";
const ACCOUNT = { namespace: "kube-system", name: "landfall" };
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8lZ0e6zQm4v9bq0cY7V5d0m2bqkFqJX9q0o3Q0v3nK";
const START_TIMEOUT_MS = 120_000;

/** All services, of which one is there twice. */
const SERVICES: SipServices = {
  loadBalancerControlPlane: [
    { nodeInterfaceId: "oam", nodePort: 30_001 },
    { nodeInterfaceId: "oam", nodePort: 0 },
  ],
  loadBalancerWorker: [{ nodeInterfaceId: "oam", nodePortRange: { start: 30_010, end: 30_019 } }],
  jumpHost: [
    {
      image: "example.org/jump-host:1",
      nodeInterfaceId: "oam",
      nodePort: 30_000,
      nodeSSHPrivateKeys: "keys",
    },
  ],
  auth: [
    { nodePort: 30_056, issuerURL: "https://dex.example.com", configSecret: "c", tlsSecret: "t" },
  ],
};

describe.skipIf(skipsCluster())("the services of a SIPCluster on a real API server", () => {
  let server: Cluster;
  let cluster: SipCluster;
  let crt: string;
  let applier: ServiceApplier;
  let settle: () => Promise<void>;
  let manager: ServerProcess | undefined;
  const clock = new ManualClock();
  const stopping = new AbortController();
  const { signal } = new AbortController();
  let running: Promise<void>;

  beforeAll(async () => {
    server = await startCluster();
    ({ crt } = await createProviderPems("DNS:dex.example.com"));
    const crd = new Map(renderCrdFiles("", await loadKinds([sipClusterController])));
    for (const one of readManifests(crd.get("manifests/sipcluster/crd.yaml") ?? ""))
      await server.create(CRDS_PATH, one);
    await server.create("/api/v1/namespaces", { metadata: { name: NAMESPACE } });
    const path = `/apis/${SIP_CLUSTERS.apiVersion}/namespaces/${NAMESPACE}/sipclusters`;
    await until("the kind is served", async () => (await server.adminFetch(path)).ok);
    const { apiVersion, kind } = SIP_CLUSTERS;
    const metadata = { name: "a", namespace: NAMESPACE };
    await server.create(path, { apiVersion, kind, metadata, spec: { services: {} } });
    const made = await server.read<SipCluster>(`${path}/a`);
    cluster = { ...made, spec: { services: SERVICES } };
    const chosen = { registry: [sipClusterController], controllers: new Set([NAME]) };
    const token = await server.createServiceAccountToken(ACCOUNT, 3_600);
    await server.applyRbac(ACCOUNT, toPolicy(listRights({ ...chosen, hasSecurePort: false })));
    const kubeconfig = await server.writeTokenKubeconfig(token);
    const metrics = new MetricsRegistry();
    const client = await connect({ kubeconfig }, { metrics });
    const watcherMetrics = createWatcherMetrics(metrics);
    const log = silentLogger;
    const caches = new Caches({ client, clock: systemClock, log, metrics: watcherMetrics });
    applier = new ServiceApplier({ client, caches, clock });
    const views = new OwnedViews(caches);
    running = caches.run(stopping.signal);
    settle = () =>
      until("the views show all", async () => {
        const names = (objects: Iterable<{ metadata: { resourceVersion?: string } }>): string[] =>
          [...objects].map(({ metadata }) => metadata.resourceVersion ?? "").toSorted();
        const stored = await Promise.all(
          ["/apis/apps/v1/deployments", "/api/v1/services", "/api/v1/configmaps"].map(list),
        );
        const shown = [views.deployments, views.services, views.configMaps];
        return shown.every(
          (view, at) => `${names(view.values())}` === `${names(stored[at] ?? [])}`,
        );
      });
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    stopping.abort();
    await running;
    await manager?.stop();
    await server.stop();
  });

  /** The objects of the cluster in a collection. */
  async function list(path: string): Promise<SipCluster[]> {
    const query = "labelSelector=landfall.dev%2Fsip-cluster";
    return (await server.read<{ items: SipCluster[] }>(`${path}?${query}`)).items;
  }

  function plan(): readonly ServicePlan[] {
    const input = { cluster, machines: [machine("a", "10.0.0.1")], tolerations: [] };
    const hostKeys = new Map([["jumphost-a-host-keys", { publicKey: KEY }]]);
    const facts = toAuthFacts(crt, { config: "c", tls: "t" });
    return [
      ...planLoadBalancers(input),
      ...planJumpHosts({ ...input, hostKeys }),
      ...planAuth({ ...input, facts, store: undefined }),
    ];
  }

  /** Applies all, and returns what was written, as `patch services/a`. */
  async function apply(): Promise<Applied & { readonly written: readonly string[] }> {
    await settle();
    const before = (await server.listRequests()).length;
    const applied = await applier.apply(cluster, plan(), signal);
    const requests = (await server.listRequests()).slice(before);
    const written = requests
      .filter(({ verb }) => ["create", "patch", "update", "delete"].includes(verb))
      .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
    return { ...applied, written };
  }

  test("are all made with the rights that the controller lists, roles included", async () => {
    const { problems, written } = await apply();
    expect(problems).toEqual([]);
    expect(written).toHaveLength(plan().flatMap(({ objects }) => objects).length);
  });

  test("cost no write while they are as wanted, also when objects that are not watched are read again", async () => {
    expect((await apply()).written).toEqual([]);
    await clock.advance(600_000);
    expect(await apply()).toMatchObject({ written: [], problems: [] });
  });

  test("get node ports of their own where none are asked for", () => {
    const second = plan().find(({ service }) => service === "loadBalancerControlPlane[1]");
    const [port] = second ? applier.listNodePorts(cluster, second) : [];
    expect(port).toBeGreaterThanOrEqual(30_000);
  });

  test("lose what others add that changes how they serve", async () => {
    const deployment = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/dex-a`;
    const service = `/api/v1/namespaces/${NAMESPACE}/services/dex-a`;
    const read = async (path: string): Promise<Record<string, object>> =>
      Object(await (await server.adminFetch(path)).json()).spec;
    const before = [await read(deployment), await read(service)];
    const [pod] = [Object(before[0]?.["template"]).spec];
    const containers = [...pod.containers, { name: "theirs", image: "example.org/theirs:1" }];
    await server.patch(deployment, {
      spec: { paused: true, template: { spec: { containers, hostNetwork: true } } },
    });
    const ports = [...Object(before[1]?.["ports"]), { name: "more", port: 80, protocol: "TCP" }];
    await server.patch(service, {
      spec: { ports, selector: { theirs: "1" }, sessionAffinity: "ClientIP" },
    });
    const { written } = await apply();
    expect(new Set(written)).toEqual(new Set(["patch deployments/dex-a", "patch services/dex-a"]));
    expect([await read(deployment), await read(service)]).toEqual(before);
    expect((await apply()).written).toEqual([]);
  });

  test("come back when others change them, each by one write", async () => {
    const deployments = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
    await server.patch(`${deployments}/dex-a`, { spec: { replicas: 0 } });
    await server.adminFetch(`/api/v1/namespaces/${NAMESPACE}/configmaps/dex-a-oidc`, {
      method: "DELETE",
    });
    expect((await apply()).written).toEqual([
      "patch configmaps/dex-a-oidc",
      "patch deployments/dex-a",
    ]);
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
    await server.patch(`${rbac}/roles/landfall-dex-a`, { rules: [] });
    // It is not watched, but is looked at after a correction of the same cluster.
    expect((await apply()).written).toEqual(["patch roles/landfall-dex-a"]);
    expect((await apply()).written).toEqual([]);
    await server.patch(`${rbac}/roles/landfall-dex-a`, { rules: [] });
    expect((await apply()).written).toEqual([]);
    await clock.advance(600_000);
    expect((await apply()).written).toEqual(["patch roles/landfall-dex-a"]);
    expect((await apply()).written).toEqual([]);
  });

  test("name a node port that is taken", async () => {
    await server.create("/api/v1/namespaces/default/services", {
      metadata: { name: "theirs" },
      spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_059 }] },
    });
    const before = cluster;
    const [jumpHost] = SERVICES.jumpHost ?? [];
    const services = { ...SERVICES, jumpHost: jumpHost ? [{ ...jumpHost, nodePort: 30_059 }] : [] };
    cluster = { ...before, spec: { services } };
    const { problems } = await apply();
    cluster = before;
    expect(problems).toEqual([
      {
        service: "jumpHost",
        reason: "NodePortUnavailable",
        message:
          "Service jumphost-a cannot have node port 30059: Invalid value: 30059: provided port is already allocated",
      },
    ]);
    expect((await apply()).problems).toEqual([]);
  });

  test(
    "are deleted whole, and Deployments with their Pods",
    async () => {
      if (await hasControllerManager())
        manager = startControllerManager(server, ["deployment", "replicaset", "garbagecollector"]);
      const pods = `/api/v1/namespaces/${NAMESPACE}/pods`;
      const countPods = async (): Promise<number> =>
        (await server.read<{ items: unknown[] }>(pods)).items.length;
      if (manager) {
        // Without an account, Pods are refused; the token controller does not run.
        await until("there are Pods", async () => (await countPods()) > 0, 60_000);
      }
      const left = await applier.remove(cluster, plan(), signal);
      expect(left).toContain("Deployment/dex-a");
      if (!manager) return;
      await until(
        "all is gone",
        async () => (await applier.remove(cluster, plan(), signal)).length === 0,
        60_000,
      );
      expect(await countPods()).toBe(0);
      const kinds = ["services", "secrets", "configmaps", "serviceaccounts"];
      for (const path of kinds.map((kind) => `/api/v1/namespaces/${NAMESPACE}/${kind}`))
        expect([path, await list(path)]).toEqual([path, []]);
    },
    START_TIMEOUT_MS,
  );
});
