import { expect, test } from "bun:test";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createLeaderMetrics } from "../../../lib/kube/election/metrics.ts";

test("createLeaderMetrics() names its metrics as Kubernetes does", () => {
  const metrics = new MetricsRegistry();
  createLeaderMetrics(metrics);
  const names = metrics.describe().map(({ name }) => name);
  expect(names).toEqual(["leader_election_master_status", "leader_election_slowpath_total"]);
});
