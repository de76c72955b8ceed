/**
 * SIPClusters and hosts as the pages show them: one cluster that is well, one that lacks a host.
 * @module
 */
import type {
  SipClusterSource,
  SipClusterView,
  SipHostView,
  SipRoleView,
} from "../../../lib/http/sip_clusters/views.ts";

export const RACK = "vino.airshipit.org/rack";
export const SERVER = "vino.airshipit.org/host";

/** A role that has all, unless the fields say otherwise. */
export function toRole(role: string, fields: Partial<SipRoleView> = {}): SipRoleView {
  return { role, wanted: 1, have: 1, eligible: 0, rejected: [], refused: [], ...fields };
}

/** A cluster that is ready, unless the fields say otherwise. */
export function toSipCluster(name: string, fields: Partial<SipClusterView> = {}): SipClusterView {
  return {
    namespace: "tenants",
    name,
    state: "ready",
    roles: [toRole("ControlPlane"), toRole("Worker", { wanted: 2, have: 2 })],
    conditions: [{ type: "Ready", status: "True", reason: "ReconciliationSucceeded", message: "" }],
    notes: [],
    breaches: [],
    endpoints: [{ service: "loadBalancerControlPlane", nodePort: 30_001 }],
    topologyKeys: [RACK, SERVER],
    lastReconcile: { at: "2026-01-02T03:04:05Z", outcome: "ok" },
    ...fields,
  };
}

/** A cluster that lacks a worker. */
export const SHORT: SipClusterView = toSipCluster("short", {
  state: "waiting",
  roles: [
    toRole("Worker", {
      wanted: 2,
      eligible: 1,
      rejected: [{ reason: "paused", hosts: 1 }],
      refused: [{ host: "metal3/h-4", reason: "paused" }],
    }),
  ],
  conditions: [
    {
      type: "Ready",
      status: "False",
      reason: "Unschedulable",
      message: "Worker: want 2, have 1, eligible 1",
    },
  ],
});

/** A free host in rack r1, unless the fields say otherwise. */
function toSipHost(name: string, fields: Partial<SipHostView> = {}): SipHostView {
  const places = { [RACK]: "r1", [SERVER]: name };
  return { namespace: "metal3", name, places, state: "available", ...fields };
}

/** One host in each state. */
export const HOSTS: readonly SipHostView[] = [
  toSipHost("h-1", {
    cluster: "tenants/well",
    role: "ControlPlane",
    state: "provisioned",
    consumer: "Metal3Machine metal3/well-1",
  }),
  toSipHost("h-2", { cluster: "tenants/well", role: "Worker", places: { [RACK]: "r2" } }),
  toSipHost("h-3", { cluster: "tenants/well", role: "Worker", standby: true }),
  toSipHost("h-4", { trouble: "paused" }),
  toSipHost("h-5", { places: {} }),
  toSipHost("h-6", { cluster: "tenants/short", role: "Worker", trouble: "in error" }),
];

/** A source of both clusters and all hosts. */
export function toSipSource(
  clusters: readonly SipClusterView[] = [SHORT, toSipCluster("well")],
  hosts: readonly SipHostView[] = HOSTS,
): SipClusterSource {
  return {
    readServing: () => ({ missing: [] }),
    list: () => clusters,
    find: (key) => clusters.find(({ namespace, name }) => `${namespace}/${name}` === key),
    listHosts: () => hosts,
  };
}
