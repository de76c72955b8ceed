/**
 * Everything that a story of SIPClusters happens to: the API server, hosts in racks, metal3, Cluster API, tenants.
 * @module
 */
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { SIP_CLUSTERS } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import { LEASE as LEASE_NAME } from "../../../lib/controllers/sipcluster/words.ts";
import { loadControllers } from "../../../lib/controllers/definition.ts";
import { collectGarbage } from "../../../lib/simulator/kubernetes/controllers/garbage_collector.ts";
import { rollOutDeployments } from "../../../lib/simulator/kubernetes/controllers/deployments.ts";
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { ClusterApi } from "../../../lib/simulator/metal3/cluster_api.ts";
import {
  createHost,
  HOST_LABELS,
  OAM_NETWORK,
  planHosts,
} from "../../../lib/simulator/metal3/hosts.ts";
import type { LeasePath } from "../world/api_server.ts";
import { ControllerReplica, MetalWorld } from "../world/metal_world.ts";
import type { ElectionTimes } from "../world/program.ts";
import { takeOver } from "../world/surroundings.ts";
import { FLAVORS, LABELS, type Role } from "./hosts.ts";
import { ERROR_GRACE_MS, HostJudge, keyOf } from "./judge.ts";

const LOADED = await loadControllers([sipClusterController]);
const LEASE: LeasePath = { namespace: "kube-system", name: LEASE_NAME };
/** The namespace of the hosts and of the machines of Cluster API. */
const HOSTS = "metal3";
/** The namespace of the clusters. */
export const TENANTS = "tenants";
/** Names of the clusters that there may be. */
export const NAMES: readonly string[] = ["blue", "green", "red"];

/** What a cluster asks for. */
export interface Order {
  readonly controlPlanes: number;
  readonly workers: number;
  readonly standby: number;
  /** Whether workers may not share a rack. */
  readonly spreadsWorkers: boolean;
}

/** How often metal3 and Cluster API work, and how often the controllers of Kubernetes do; milliseconds. */
const METAL_MS = 5_000;
const KUBERNETES_MS = 2_000;
const FIRST_PORT = 30_001;

/** The world of one seed. */
export class SipWorld extends MetalWorld {
  readonly judge: HostJudge;
  readonly clusterApi: ClusterApi;
  /** Hosts whose labels people wrote. */
  readonly labelledByHand: Set<string> = new Set();
  readonly replicas: readonly ControllerReplica[];
  readonly #leave: () => void;

  /** @param election How often processes look at the Lease. @default {as often as those of Kubernetes} */
  constructor(seed: number, replicas: number, election?: ElectionTimes) {
    super(seed, LEASE);
    const { random, timeline, trace, server } = this;
    this.#leave = takeOver(random, () => Promise.reject(new Error("there is no cloud")));
    server.drawClusterIds();
    server.installKind(BARE_METAL_HOSTS);
    server.installKind(SIP_CLUSTERS);
    for (const name of [HOSTS, TENANTS]) this.objects.create("namespaces", { metadata: { name } });
    this.judge = new HostJudge(server, timeline, trace);
    this.clusterApi = new ClusterApi(this.objects, (count) => random.between(0, count - 1));
    this.replicas = Array.from(
      { length: replicas },
      (_, at) =>
        new ControllerReplica({
          name: "ab"[at] ?? "c",
          timeline,
          random,
          trace,
          server,
          controllers: LOADED,
          lease: LEASE,
          ...(election && { election }),
          flags: {
            "sip-host-namespaces": HOSTS,
            "sip-network-data-period": 60_000,
            "sip-host-error-grace": ERROR_GRACE_MS,
          },
          onSend: (process, request) => void this.judge.noteSent(process, request),
        }),
    );
    this.repeat(METAL_MS, () => void this.stepMetal());
    this.repeat(KUBERNETES_MS, () => this.stepKubernetes());
  }

  /** What was broken so far. */
  get violations(): readonly string[] {
    return this.judge.violations;
  }

  /** All clusters. */
  get clusters(): readonly ApiObject[] {
    return this.objects.list(SIP_CLUSTERS.plural);
  }

  /** Puts up racks of hosts. */
  build(racks: number): void {
    const flavors = { [FLAVORS.ControlPlane]: 2, [FLAVORS.Worker]: 3 };
    const plans = Array.from({ length: racks }, (_, at) => ({ name: `r${at + 1}`, flavors }));
    for (const plan of planHosts(HOSTS, plans)) createHost(this.objects, plan);
  }

  /** Orders a cluster, or changes what it asks for. */
  order(name: string, order: Order): void {
    const spec = toSpec(order, FIRST_PORT + NAMES.indexOf(name));
    const path = { namespace: TENANTS, name };
    const { objects } = this;
    if (objects.get(SIP_CLUSTERS.plural, path)) objects.patch(SIP_CLUSTERS.plural, path, { spec });
    else objects.create(SIP_CLUSTERS.plural, { metadata: path, spec });
  }

  /** Has Cluster API make a machine for a role of a cluster. */
  addMachine(cluster: string, role: Role): string {
    this.machines += 1;
    const name = `${cluster}-${role.toLowerCase()}-${this.machines}`;
    const hostSelector = {
      [LABELS.namespace]: TENANTS,
      [LABELS.name]: cluster,
      [LABELS.role]: role,
    };
    this.clusterApi.add({ namespace: HOSTS, name, hostSelector });
    return name;
  }

  /** What the controllers of Kubernetes do, each once. */
  stepKubernetes(): void {
    rollOutDeployments(this.objects, { now: new Date(this.timeline.now()).toISOString() });
    for (const path of collectGarbage(this.objects)) this.trace.note("GC", path);
  }

  /** Describes what stands in the end, without versions and times. */
  describe(): string {
    const hosts = this.hosts.map((host) => {
      const labels = Object.values(LABELS).map((key) => describeLabel(host, key));
      return `${keyOf(host)} ${labels.join(" ")}`;
    });
    const clusters = this.clusters.map(({ metadata, status = {} }) =>
      [metadata.name, JSON.stringify(withoutTimes(status))].join(" "),
    );
    const plurals = ["services", "configmaps", "deployments", "poddisruptionbudgets"];
    const owned = plurals.flatMap((plural) =>
      this.objects
        .list(plural, TENANTS)
        .map(({ metadata, spec = null, data = null }) =>
          JSON.stringify([plural, metadata.name, spec, data]),
        ),
    );
    return [...hosts, ...clusters, ...owned].join("\n");
  }

  /** Gives the machine's chance back, too. */
  override async leave(): Promise<void> {
    await super.leave();
    this.#leave();
  }
}

function toSpec({ controlPlanes, workers, standby, spreadsWorkers }: Order, nodePort: number) {
  const select = (role: Role): object => ({ matchLabels: { [HOST_LABELS.flavor]: FLAVORS[role] } });
  return JSON.parse(
    JSON.stringify({
      nodes: {
        ControlPlane: {
          labelSelector: select("ControlPlane"),
          topologyKey: HOST_LABELS.rack,
          count: { active: controlPlanes, standby: 0 },
        },
        Worker: {
          labelSelector: select("Worker"),
          topologyKey: spreadsWorkers ? HOST_LABELS.rack : HOST_LABELS.host,
          count: { active: workers, standby },
        },
      },
      services: {
        loadBalancerControlPlane: [
          { image: "haproxy:3.2", nodeInterfaceId: OAM_NETWORK, nodePort },
        ],
      },
    }),
  );
}

function describeLabel({ metadata }: ApiObject, key: string): string {
  const { labels } = metadata;
  const value = typeof labels === "object" && labels !== null && key in labels;
  return value ? JSON.stringify(Object.entries(labels).find(([one]) => one === key)?.[1]) : "-";
}

function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => (key === "lastTransitionTime" ? undefined : inner)),
  );
}
