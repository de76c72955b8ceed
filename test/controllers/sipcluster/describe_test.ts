import { expect, test } from "bun:test";
import type { ReconcileOutcome } from "../../../lib/engine/workers.ts";
import {
  describeCluster,
  describeHost,
  type SipClusterReport,
  listKeys,
} from "../../../lib/controllers/sipcluster/describe.ts";
import type { Condition } from "../../../lib/controllers/kinds/conditions.ts";
import type { BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { toHostFacts } from "../../../lib/controllers/sipcluster/hosts/facts.ts";
import type { SipCluster } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { RoleReport, Schedule } from "../../../lib/controllers/sipcluster/schedule/types.ts";

const RACK = "example.org/rack";
const OK: ReconcileOutcome = { at: 0, outcome: "ok" };
const FAILED: ReconcileOutcome = { at: 0, outcome: "error", error: "no answer" };

function toCluster(ready?: Partial<Condition>, observedGeneration: number = 1): SipCluster {
  const condition = {
    type: "Ready",
    status: "True",
    reason: "ReconciliationSucceeded",
    message: "",
    lastTransitionTime: "2026-01-02T03:04:05Z",
    ...ready,
  } as const;
  return {
    metadata: { name: "a", namespace: "t", uid: "u", generation: 1 },
    spec: {
      nodes: { Worker: { topologyKey: RACK, count: { active: 2, standby: 1 } } },
      services: {},
    },
    status: { observedGeneration, ...(ready && { conditions: [condition] }) },
  };
}

function toHost(name: string, more: Partial<BareMetalHost> = {}, mine = true): BareMetalHost {
  const labels = {
    [RACK]: "r1",
    ...(mine && {
      "sip.airshipit.org/cluster-namespace": "t",
      "sip.airshipit.org/cluster-name": "a",
      "sip.airshipit.org/node-type": "Worker",
    }),
  };
  return { ...more, metadata: { name, namespace: "m", uid: name, labels } };
}

/** The condition Ready, how the last reconcile ended, and the state. */
const STATES: readonly (readonly [
  string,
  SipCluster,
  ReconcileOutcome | undefined,
  SipClusterReport["state"],
])[] = [
  ["without conditions", toCluster(), undefined, "working"],
  ["that is ready", toCluster({}), OK, "ready"],
  ["whose spec is newer than its status", toCluster({}, 0), OK, "working"],
  ["that makes progress", toCluster({ status: "False", reason: "Progressing" }), OK, "working"],
  ["without hosts", toCluster({ status: "False", reason: "Unschedulable" }), OK, "waiting"],
  ["with a wrong spec", toCluster({ status: "False", reason: "InvalidSpec" }), OK, "failing"],
  ["whose last reconcile failed", toCluster({}), FAILED, "failing"],
];

test.each(STATES)("describeCluster() of one %s gives its state", (_, cluster, outcome, state) => {
  const report = describeCluster(cluster, { hosts: [], schedule: undefined, outcome });
  expect(report.state).toBe(state);
});

const REPORT: RoleReport = {
  wanted: 3,
  have: 2,
  missing: 1,
  eligible: 4,
  rejected: new Map([["paused", 1]]),
  refused: new Map([["m/c", "paused"]]),
};

const ASSIGNED = { cluster: "t/a", role: "Worker", standby: false } as const;

test("describeCluster() counts its hosts by role, and says why others were refused", () => {
  const schedule: Schedule = {
    keep: [],
    add: [],
    giveBack: [],
    blocked: [],
    notes: [],
    breaches: [{ topologyKey: RACK, value: "r1", hosts: ["m/a", "m/b"] }],
    isSatisfied: false,
    isProven: true,
    reports: new Map([["Worker", REPORT]]),
  };
  const hosts = ["a", "b"].map((name) => toHostFacts(toHost(name), ASSIGNED));
  expect(describeCluster(toCluster({}), { hosts, schedule, outcome: FAILED })).toMatchObject({
    roles: [
      {
        role: "Worker",
        wanted: 3,
        have: 2,
        eligible: 4,
        rejected: [{ reason: "paused", hosts: 1 }],
        refused: [{ host: "m/c", reason: "paused" }],
      },
    ],
    breaches: schedule.breaches,
    topologyKeys: [RACK],
    lastReconcile: { at: "1970-01-01T00:00:00.000Z", error: "no answer" },
  });
});

test.each<[string, Partial<Condition>, readonly string[]]>([
  ["hosts too close to each other", { type: "Scheduled", reason: "AntiAffinityBroken" }, ["why"]],
  ["last known addresses", { type: "ServicesReady", reason: "LastKnownAddresses" }, ["why"]],
  ["hosts too many that are in use", { type: "ContractionBlocked", reason: "HostsInUse" }, ["why"]],
  ["nothing else", { type: "Scheduled", reason: "HostsLabelled" }, []],
])("describeCluster() notes %s", (_what, fields, notes) => {
  const condition = { type: "", status: "True", reason: "", message: "why" } as const;
  const conditions = [{ ...condition, lastTransitionTime: "", ...fields }];
  const cluster: SipCluster = { ...toCluster({}), status: { conditions } };
  const report = describeCluster(cluster, { hosts: [], schedule: undefined, outcome: OK });
  expect(report.notes).toEqual(notes);
});

test("listKeys() has each topology key of all clusters once", () => {
  const other = {
    ...toCluster(),
    spec: { services: {}, nodes: { ControlPlane: { topologyKeys: ["b", "a", RACK] } } },
  };
  expect(listKeys([toCluster(), other])).toEqual(["a", "b", RACK]);
});

const UNKNOWN = { findAssigned: () => undefined, hasCluster: () => false };

test("describeHost() says who has a host, where it is, and what uses it", () => {
  const consumerRef = { kind: "Metal3Machine", namespace: "m", name: "x" };
  const host = toHost("h", {
    spec: { consumerRef },
    status: { provisioning: { state: "provisioned" } },
  });
  expect(
    describeHost(host, {
      keys: [RACK, "other"],
      findAssigned: () => ASSIGNED,
      hasCluster: (key) => key === "t/a",
    }),
  ).toEqual({
    key: "m/h",
    places: { [RACK]: "r1" },
    state: "provisioned",
    cluster: "t/a",
    role: "Worker",
    standby: false,
    consumer: "Metal3Machine m/x",
  });
});

test("describeHost() says that a host has labels of a cluster that does not exist", () => {
  const { trouble, cluster } = describeHost(toHost("h"), { keys: [], ...UNKNOWN });
  expect({ trouble, cluster }).toEqual({
    trouble: "no such SIPCluster: remove its labels",
    cluster: "t/a",
  });
});

test("describeHost() of a free one says why it may not be taken", () => {
  const host = toHost("h", { status: { errorMessage: "the fan is broken" } }, false);
  expect(describeHost(host, { keys: [], ...UNKNOWN })).toEqual({
    key: "m/h",
    places: {},
    state: "",
    trouble: "in error",
  });
});
