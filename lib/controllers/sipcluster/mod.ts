/**
 * The controller of SIPClusters: chooses BareMetalHosts for the clusters of tenants, and makes services before them.
 * @module
 */
import { ObjectLoop } from "../../engine/object_loop.ts";
import { type StoreReader, toKey } from "../../kube/cache/store.ts";
import type { ControllerContext } from "../context.ts";
import type { HostReport, RunningController } from "../definition.ts";
import {
  describeCluster,
  describeHost,
  type HostSurroundings,
  listKeys,
  type SipClusterReport,
} from "./describe.ts";
import { readFlag } from "../flags.ts";
import { NETWORK_DATA_FLAG } from "./flags.ts";
import { AddressReader } from "./hosts/address_reader.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";
import { HostIndex } from "./hosts/host_index.ts";
import { createSipClusterMetrics } from "./metrics.ts";
import { SipClusterReconciler } from "./reconcile.ts";
import { type SipCluster, SIP_CLUSTERS } from "./resource/sip_cluster.ts";
import { ClusterServices } from "./services/cluster_services.ts";
import { FORCE_RELEASE, NAME } from "./words.ts";

/** Creates the controller for the registry. */
export function create(context: ControllerContext): SipClusterController {
  return new SipClusterController(context);
}

/** The controller of SIPClusters. */
class SipClusterController implements RunningController {
  readonly objects: StoreReader<SipCluster>;
  readonly #loop: ObjectLoop<SipCluster>;
  readonly #hosts: StoreReader<BareMetalHost>;
  readonly #index: HostIndex;
  readonly #reconciler: SipClusterReconciler;

  constructor(context: ControllerContext) {
    const { client, clock, caches, events, log } = context;
    const metrics = createSipClusterMetrics(context.metrics);
    this.objects = caches.reader(SIP_CLUSTERS);
    this.#hosts = caches.reader(BARE_METAL_HOSTS);
    const index = new HostIndex(this.#hosts);
    this.#index = index;
    const addresses = new AddressReader({
      client,
      clock,
      periodMs: readFlag(context.flags, NETWORK_DATA_FLAG),
    });
    const services = new ClusterServices({ client, clock, caches, index, addresses }, this.objects);
    const reconciler = new SipClusterReconciler({
      client,
      clock,
      events,
      log,
      metrics,
      index,
      addresses,
      services,
    });
    this.#reconciler = reconciler;
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: NAME,
      noun: "sipcluster",
      objects: this.objects,
      // Two clusters that want the same hosts never decide at once.
      workers: 1,
      inputs: ({ metadata, status }) => [
        metadata.generation,
        metadata.finalizers,
        metadata.deletionTimestamp,
        metadata.annotations?.[FORCE_RELEASE],
        status,
      ],
      reconcile: (cluster, signal) => reconciler.reconcile(cluster, signal),
      forget: (key) => reconciler.forget(key),
      sources: [index, ...services.sources],
    });
    metrics.readFrom({
      listStates: () => Array.from(reconciler.last.values(), ({ state }) => state),
    });
  }

  /** Runs until the signal aborts and all work has ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Describes a cluster for the debug pages. */
  describe(cluster: SipCluster): SipClusterReport {
    const key = toKey(cluster);
    return describeCluster(cluster, {
      hosts: this.#index.listOf(key),
      schedule: this.#reconciler.last.get(key)?.schedule,
      outcome: this.#loop.outcomes.get(key),
    });
  }

  /** Describes every host for the debug pages, in the order of their keys. */
  *listHosts(): Iterable<HostReport> {
    const surroundings: HostSurroundings = {
      keys: listKeys(this.objects.values()),
      hasCluster: (key) => !this.objects.synced || this.objects.get(key) !== undefined,
    };
    for (const key of [...this.#hosts.keys()].toSorted()) {
      const host = this.#index.find(key);
      if (host) yield describeHost(host, surroundings);
    }
  }
}
