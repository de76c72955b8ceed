/**
 * Metrics of the SIPCluster controller.
 * @module
 */
import { type MetricsRegistry, setCounts } from "../../core/metrics.ts";

/** How a SIPCluster stands. */
export type SipClusterState = "ready" | "working" | "unschedulable" | "failing" | "deleting";

/** The metrics of the SIPCluster controller. */
export interface SipClusterMetrics {
  /** Counts a host that was taken or given back. */
  countHost(change: "taken" | "released" | "lost"): void;
  /** Sets the source of the gauges. Each collection reads it. */
  readFrom(source: { listStates(): Iterable<SipClusterState> }): void;
}

const STATES: readonly SipClusterState[] = [
  "ready",
  "working",
  "unschedulable",
  "failing",
  "deleting",
];

/** Registers the metrics of the SIPCluster controller. */
export function createSipClusterMetrics(registry: MetricsRegistry): SipClusterMetrics {
  const changes = registry.counter({
    name: "landfall_sipcluster_host_changes_total",
    help: "BareMetalHosts that got or lost the labels of a SIPCluster, or that another program took first, by change.",
  });
  const states = registry.gauge({
    name: "landfall_sipclusters",
    help: "SIPClusters by state: ready, working, unschedulable, failing, deleting.",
  });
  return {
    countHost: (change) => changes.inc({ change }),
    readFrom: (source) =>
      registry.onCollect(() => {
        setCounts(states, "state", source.listStates(), STATES);
      }),
  };
}
