/**
 * What the demo of SIPClusters happens to: racks of hosts, metal3, Cluster API, and what Kubernetes does by itself.
 * @module
 */
import {
  type SipClusterSpec,
  SIP_CLUSTERS,
} from "../../../controllers/sipcluster/resource/sip_cluster.ts";
import { SIP_CLUSTER_KIND } from "../../../controllers/sipcluster/resource/crd.ts";
import type { Clock } from "../../../core/clock.ts";
import { collectGarbage } from "../../../simulator/kubernetes/controllers/garbage_collector.ts";
import { rollOutDeployments } from "../../../simulator/kubernetes/controllers/deployments.ts";
import type { ApiObject, KubernetesSimulator } from "../../../simulator/kubernetes/mod.ts";
import { operateHosts } from "../../../simulator/metal3/bare_metal_operator.ts";
import { ClusterApi } from "../../../simulator/metal3/cluster_api.ts";
import { createHost, planHosts } from "../../../simulator/metal3/hosts.ts";
import { BARE_METAL_HOST } from "../../../simulator/metal3/kinds.ts";
import { toCustomKind } from "../objects.ts";

/** The namespace of the hosts, and of the machines of Cluster API. */
export const HOSTS = "metal3";
/** The namespace of the SIPClusters. */
export const TENANTS = "tenants";

const FLAVORS = { "control-plane": 2, worker: 4 };
const RACKS = ["r1", "r2", "r3"].map((name) => ({ name, flavors: FLAVORS }));
/** How often everything beside Landfall works, in milliseconds. */
const STEP_MS = 200;

/** The world of the demo. */
export class SipWorld {
  readonly kubernetes: KubernetesSimulator;
  readonly clusterApi: ClusterApi;
  readonly #clock: Clock;

  /** @param kubernetes Still without hosts */
  constructor(kubernetes: KubernetesSimulator, clock: Clock) {
    const { objects } = kubernetes;
    this.kubernetes = kubernetes;
    this.#clock = clock;
    kubernetes.installKind(BARE_METAL_HOST);
    kubernetes.installKind(toCustomKind(SIP_CLUSTERS, SIP_CLUSTER_KIND.crd));
    for (const name of [HOSTS, TENANTS]) objects.create("namespaces", { metadata: { name } });
    for (const plan of planHosts(HOSTS, RACKS)) createHost(objects, plan);
    this.clusterApi = new ClusterApi(objects, (count) => Math.floor(Math.random() * count));
  }

  /** All hosts, in the order of their names. */
  get hosts(): readonly ApiObject[] {
    return this.kubernetes.objects.list(BARE_METAL_HOST.plural);
  }

  /** A SIPCluster, or `undefined`. */
  find(name: string): ApiObject | undefined {
    return this.kubernetes.objects.get(SIP_CLUSTERS.plural, { namespace: TENANTS, name });
  }

  /** Creates a SIPCluster, or changes its spec, as `kubectl apply` does. */
  apply(name: string, spec: SipClusterSpec): void {
    const { objects } = this.kubernetes;
    const body = { spec: JSON.parse(JSON.stringify(spec)) };
    const metadata = { namespace: TENANTS, name };
    if (this.find(name) === undefined) objects.create(SIP_CLUSTERS.plural, { metadata, ...body });
    else objects.patch(SIP_CLUSTERS.plural, metadata, body);
  }

  /** Deletes a SIPCluster, as `kubectl delete` does. */
  delete(name: string): void {
    this.kubernetes.objects.delete(SIP_CLUSTERS.plural, { namespace: TENANTS, name });
  }

  /** Runs all that is not Landfall until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { objects } = this.kubernetes;
    while (!signal.aborted) {
      this.clusterApi.step();
      operateHosts(objects);
      rollOutDeployments(objects, { now: new Date(this.#clock.now()).toISOString() });
      collectGarbage(objects);
      await this.#clock.sleep(STEP_MS, signal).catch(() => undefined);
    }
  }
}
