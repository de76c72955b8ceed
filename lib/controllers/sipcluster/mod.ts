/**
 * The controller of SIPClusters: chooses BareMetalHosts for the clusters of tenants, and makes services before them.
 * @module
 */
import {
  type ControllerContext,
  type HostReport,
  type RunningController,
  readFlag,
  readTextFlag,
} from "../definition.ts";
import { ObjectWriter } from "../kinds/object_writer.ts";
import {
  type HostSurroundings,
  type SipClusterReport,
  describeCluster,
  describeHost,
  listKeys,
} from "./describe.ts";
import {
  ERROR_GRACE_FLAG,
  HOST_NAMESPACES_FLAG,
  NETWORK_DATA_FLAG,
  readTolerations,
} from "./flags.ts";
import { AddressReader } from "./hosts/address_reader.ts";
import { HostIndex } from "./hosts/host_index.ts";
import { MissedHosts } from "./hosts/missed_hosts.ts";
import { toAllowsHost } from "./hosts/record.ts";
import { ClusterConvergence, type LastDecision } from "./reconcile.ts";
import { SIP_CLUSTERS, type SipCluster } from "./resource/sip_cluster.ts";
import { ClusterServices } from "./services/cluster_services.ts";
import { createSipClusterMetrics } from "./state.ts";
import { FORCE_RELEASE, NAME } from "./words.ts";
import { Converger } from "../../engine/converge.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";

export { createSipClusterMetrics as registerMetrics } from "./state.ts";

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
  readonly #last = new Map<Key, LastDecision>();

  constructor(context: ControllerContext) {
    const { client, clock, fence, caches, events, log } = context;
    const metrics = createSipClusterMetrics(context.metrics);
    this.objects = caches.reader(SIP_CLUSTERS);
    this.#hosts = caches.reader(BARE_METAL_HOSTS);
    const clusters = this.objects;
    const index = new HostIndex({ hosts: this.#hosts, clusters });
    this.#index = index;
    const addresses = new AddressReader({
      client,
      clock,
      periodMs: readFlag(context.flags, NETWORK_DATA_FLAG),
    });
    const missedHosts = new MissedHosts({ addresses, clock });
    const tolerations = readTolerations(context.flags);
    const services = new ClusterServices(
      { client, clock, caches, index, addresses, tolerations },
      this.objects,
    );
    const writer = new ObjectWriter(SIP_CLUSTERS, { client, clock, events });
    const allows = toAllowsHost(readTextFlag(context.flags, HOST_NAMESPACES_FLAG));
    const errorGraceMs = readFlag(context.flags, ERROR_GRACE_FLAG);
    const last = this.#last;
    const claimed = new Map<Key, ReadonlySet<Key>>();
    const shared = { client, clock, events, log, metrics, clusters, index, addresses, missedHosts };
    const adopting = new Set<Key>();
    const failures = new Map<Key, number>();
    const memory = { claimed, adopting, failures, last };
    const options = { ...shared, ...memory, services, writer, allows, errorGraceMs };
    const converger = new Converger({ clock, fence });
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
      reconcile: (cluster, signal) =>
        converger.reconcile(new ClusterConvergence(toKey(cluster), options), signal),
      forget: (key) => {
        index.stopWaiting(key);
        for (const one of [services, writer, missedHosts]) one.forget(key);
        for (const one of [last, claimed, adopting, failures]) one.delete(key);
      },
      sources: [index, missedHosts, ...services.sources],
    });
    metrics.readFrom({
      listStates: () => Array.from(last.values(), ({ state }) => state),
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
      schedule: this.#last.get(key)?.schedule,
      outcome: this.#loop.outcomes.get(key),
    });
  }

  /** Describes every host for the debug pages, in the order of their keys. */
  *listHosts(): Iterable<HostReport> {
    const surroundings: HostSurroundings = {
      keys: listKeys(this.objects.values()),
      findAssigned: (key) => this.#index.findFacts(key)?.assigned,
      hasCluster: (key) => !this.objects.synced || this.objects.get(key) !== undefined,
    };
    for (const key of [...this.#hosts.keys()].toSorted()) {
      const host = this.#index.find(key);
      if (host) yield describeHost(host, surroundings);
    }
  }
}
