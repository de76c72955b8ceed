/**
 * The metrics of leader election.
 * @module
 */
import type { Counter, Gauge, MetricsRegistry } from "../../core/metrics.ts";

/** Metrics of leader election, with the names that Kubernetes components use. */
export interface LeaderMetrics {
  readonly isLeader: Gauge;
  readonly slowPaths: Counter;
}

/** Registers the metrics of leader election. */
export function createLeaderMetrics(metrics: MetricsRegistry): LeaderMetrics {
  return {
    isLeader: metrics.gauge({
      name: "leader_election_master_status",
      help: "1 while this process leads, else 0, by Lease.",
    }),
    slowPaths: metrics.counter({
      name: "leader_election_slowpath_total",
      help: "Renewals that had to read the Lease first, by Lease.",
    }),
  };
}
