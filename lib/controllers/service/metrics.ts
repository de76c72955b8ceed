/**
 * Metrics of the controller of Services. The first four are those of the Go controller.
 * @module
 */
import type { PoolUsage } from "../../cloud/pools/usage.ts";
import { type MetricsRegistry, setCounts } from "../../core/metrics.ts";
import type { ServiceState } from "./managed.ts";

/** The metrics of the controller of Services. */
export interface ServiceMetrics {
  /** Counts a load balancer that was changed. */
  countSync(): void;
  /** Counts a load balancer that could not get the Nodes of a pass. */
  countNodeFailure(): void;
  /** Notes how long one load balancer waited for the Nodes of a pass. */
  noteHostUpdate(ms: number): void;
  /** Notes how long a pass over all load balancers took after a change of Nodes. */
  noteNodePass(ms: number): void;
  /** Sets the source of the gauges. Each collection reads it. */
  readFrom(source: {
    listStates(): Iterable<ServiceState>;
    /** How long the load balancer that has waited the longest has not been ready, in milliseconds. */
    readOldestPendingMs(): number;
    /** How many addresses in the cloud belong to Services that do not exist. */
    countLeftovers(): number;
    /** How full each address pool is. */
    listPools(): Iterable<PoolUsage>;
  }): void;
}

const BUCKETS: readonly number[] = [
  1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384,
];
const STATES: readonly ServiceState[] = ["ready", "working", "waiting", "failing"];

/** Registers the metrics of the controller of Services. */
export function createServiceMetrics(registry: MetricsRegistry): ServiceMetrics {
  const syncs = registry.counter({
    name: "service_controller_loadbalancer_sync_total",
    help: "Load balancers that were changed, because a Service, a Node or the cloud changed.",
  });
  const nodeFailures = registry.counter({
    name: "service_controller_nodesync_error_total",
    help: "Load balancers that could not get the Nodes of the cluster at the first attempt.",
  });
  const hostUpdates = registry.histogram({
    name: "service_controller_update_loadbalancer_host_latency_seconds",
    help: "Seconds from a change of Nodes until one load balancer has them.",
    buckets: BUCKETS,
  });
  const nodePasses = registry.histogram({
    name: "service_controller_nodesync_latency_seconds",
    help: "Seconds from a change of Nodes until all load balancers have them.",
    buckets: BUCKETS,
  });
  const states = registry.gauge({
    name: "landfall_load_balancers",
    help: "Services that have or get a load balancer, by state: ready, working, waiting, failing.",
  });
  const pending = registry.gauge({
    name: "landfall_load_balancer_pending_seconds",
    help: "Seconds since the load balancer that has waited the longest was last ready; 0 if all are.",
  });
  const leftovers = registry.gauge({
    name: "landfall_load_balancer_leftovers",
    help: "Public addresses with the tags of this cluster and of a Service that does not exist, by the last look.",
  });
  const addresses = registry.gauge({
    name: "landfall_address_pool_addresses",
    help: "Addresses of an address pool, by pool and family: IPv4, IPv6. Only the leader knows them.",
  });
  const used = registry.gauge({
    name: "landfall_address_pool_addresses_used",
    help: "Addresses of an address pool that some Service has or gets, by pool and family. Only the leader knows them.",
  });
  return {
    countSync: () => syncs.inc(),
    countNodeFailure: () => nodeFailures.inc(),
    noteHostUpdate: (ms) => hostUpdates.observe(ms / 1_000),
    noteNodePass: (ms) => nodePasses.observe(ms / 1_000),
    readFrom: (source) =>
      registry.onCollect(() => {
        setCounts(states, "state", source.listStates(), STATES);
        pending.set(source.readOldestPendingMs() / 1_000);
        leftovers.set(source.countLeftovers());
        addresses.clear();
        used.clear();
        for (const { pool, family, ...counts } of source.listPools()) {
          addresses.set(counts.total, { pool, family });
          used.set(counts.used, { pool, family });
        }
      }),
  };
}
