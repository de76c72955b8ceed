import { expect, test } from "bun:test";
import type { ServiceState } from "../../../lib/controllers/sipcluster/resource/conditions.ts";
import {
  type SipClusterState,
  createSipClusterMetrics,
  judgeState,
} from "../../../lib/controllers/sipcluster/state.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";

const READY: ServiceState = { service: "a", isReady: true };
const STARTS: ServiceState = { service: "b", isReady: false, reason: "Progressing" };
const FAILED: ServiceState = { service: "c", isReady: false, reason: "NodePortUnavailable" };

test.each<[SipClusterState, boolean, ServiceState[]]>([
  ["ready", true, []],
  ["ready", true, [READY]],
  ["working", true, [READY, STARTS]],
  ["working", true, [{ service: "d", isReady: false }]],
  ["failing", true, [STARTS, FAILED]],
  ["unschedulable", false, [FAILED]],
])("judgeState() says %s (all hosts: %p)", (state, isSatisfied, services) => {
  expect(judgeState({ isSatisfied }, services)).toBe(state);
});

test("createSipClusterMetrics() counts hosts by change and clusters by state, states without clusters as 0", () => {
  const registry = new MetricsRegistry();
  const metrics = createSipClusterMetrics(registry);
  metrics.countHost("taken");
  metrics.countHost("taken");
  metrics.countHost("lost");
  metrics.readFrom({ listStates: () => ["ready", "unschedulable", "ready"] });
  const text = registry.render();
  expect(text).toContain('landfall_sipcluster_host_changes_total{change="taken"} 2');
  expect(text).toContain('landfall_sipcluster_host_changes_total{change="lost"} 1');
  expect(text).toContain('landfall_sipclusters{state="ready"} 2');
  expect(text).toContain('landfall_sipclusters{state="unschedulable"} 1');
  expect(text).toContain('landfall_sipclusters{state="deleting"} 0');
});
