import { expect, test } from "bun:test";
import type { SipClusterState } from "../../../lib/controllers/sipcluster/metrics.ts";
import type { ServiceState } from "../../../lib/controllers/sipcluster/resource/conditions.ts";
import { judgeState } from "../../../lib/controllers/sipcluster/state.ts";

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
