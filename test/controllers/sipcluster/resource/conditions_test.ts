import { describe, expect, test } from "bun:test";
import {
  type Finding,
  listDeletingFindings,
  listFindings,
  listInvalidFindings,
  listRefusedFindings,
  type RefusedStep,
  type ServedCluster,
} from "../../../../lib/controllers/sipcluster/resource/conditions.ts";
import type { Role } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { CONDITION_WORDS } from "../../../../lib/controllers/sipcluster/resource/words.ts";
import type {
  RoleReport,
  Schedule,
} from "../../../../lib/controllers/sipcluster/schedule/types.ts";

function toReport(fields: Partial<RoleReport> = {}): RoleReport {
  const none = { missing: 0, eligible: 0, rejected: new Map(), refused: new Map() };
  return { wanted: 0, have: 0, ...none, ...fields };
}

const SCHEDULE: Schedule = {
  keep: [],
  add: [],
  giveBack: [],
  blocked: [],
  reports: new Map([
    ["ControlPlane", toReport({ wanted: 1, have: 1 })],
    ["Worker", toReport({ wanted: 3, have: 3 })],
  ]),
  isSatisfied: true,
  isProven: true,
  notes: [],
  breaches: [],
};

/** A cluster with all hosts and no services. */
const CLUSTER: ServedCluster = {
  schedule: SCHEDULE,
  have: new Map([
    ["ControlPlane", 1],
    ["Worker", 3],
  ]),
  services: [],
  unknownClaims: [],
};

const SHORT: Schedule = {
  ...SCHEDULE,
  isSatisfied: false,
  reports: new Map([
    ["ControlPlane", toReport({ wanted: 1, have: 1 })],
    [
      "Worker",
      toReport({
        wanted: 3,
        have: 1,
        missing: 2,
        eligible: 1,
        rejected: new Map([
          ["same vino.airshipit.org/rack", 4],
          ["no static address on network oam-ipv4", 1],
        ]),
      }),
    ],
  ]),
};
const SHORTFALL =
  "Worker: want 3, have 1, eligible 1; " +
  "rejected: 4 same vino.airshipit.org/rack, 1 no static address on network oam-ipv4";
const NOT_PROVEN = "The search for hosts ended at its limit: another choice might be possible";
const LABELLED = "ControlPlane: want 1, have 1. Worker: want 3, have 3";
const FREE = "ContractionBlocked=False NothingBlocked: No host waits to be given back";
const NO_SERVICES = "ServicesReady=True ServicesAvailable: The spec has no services";

function toLine({ type, status, reason, message }: Finding): string {
  return `${type}=${status} ${reason}: ${message}`;
}

const CASES: readonly {
  readonly title: string;
  readonly cluster: Partial<ServedCluster>;
  readonly lines: readonly string[];
}[] = [
  {
    title: "all hosts, and no services",
    cluster: {},
    lines: [
      "Ready=True ReconciliationSucceeded: All hosts and services are there",
      `Scheduled=True HostsLabelled: ${LABELLED}`,
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "a spec without roles",
    cluster: { schedule: { ...SCHEDULE, reports: new Map() }, have: new Map() },
    lines: [
      "Ready=True ReconciliationSucceeded: All hosts and services are there",
      "Scheduled=True HostsLabelled: The spec wants no hosts",
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "too few hosts: only the role that lacks some is named",
    cluster: { schedule: SHORT },
    lines: [
      `Ready=False Unschedulable: ${SHORTFALL}`,
      `Scheduled=False Unschedulable: ${SHORTFALL}`,
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "too few hosts, as far as the search went",
    cluster: { schedule: { ...SHORT, isProven: false } },
    lines: [
      `Ready=False Unschedulable: ${SHORTFALL}. ${NOT_PROVEN}`,
      `Scheduled=False Unschedulable: ${SHORTFALL}. ${NOT_PROVEN}`,
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "too few hosts for two roles",
    cluster: {
      schedule: {
        ...SHORT,
        reports: new Map([
          ["Worker", toReport({ wanted: 2, missing: 2 })],
          ["ControlPlane", toReport({ wanted: 1, missing: 1 })],
        ]),
      },
    },
    lines: [
      "Ready=False Unschedulable: " +
        "ControlPlane: want 1, have 0, eligible 0. Worker: want 2, have 0, eligible 0",
      "Scheduled=False Unschedulable: " +
        "ControlPlane: want 1, have 0, eligible 0. Worker: want 2, have 0, eligible 0",
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "hosts that are chosen, but not labelled yet",
    cluster: { have: new Map([["ControlPlane", 1]]) },
    lines: [
      "Ready=False Progressing: ControlPlane: want 1, have 1. Worker: want 3, have 0",
      "Scheduled=False Progressing: ControlPlane: want 1, have 1. Worker: want 3, have 0",
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "hosts whose labels became the same",
    cluster: {
      schedule: {
        ...SCHEDULE,
        breaches: [{ topologyKey: "rack", value: "r1", hosts: ["m/a", "m/b"] }],
      },
    },
    lines: [
      "Ready=True ReconciliationSucceeded: All hosts and services are there",
      `Scheduled=True AntiAffinityBroken: ${LABELLED}. The same rack=r1 have m/a, m/b`,
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "hosts that the selector does not match any more",
    cluster: {
      schedule: {
        ...SCHEDULE,
        notes: ["Kept, but not matched by the selector any more: m/a, m/b"],
      },
    },
    lines: [
      "Ready=True ReconciliationSucceeded: All hosts and services are there",
      `Scheduled=True HostsLabelled: ${LABELLED}. ` +
        "Kept, but not matched by the selector any more: m/a, m/b",
      NO_SERVICES,
      FREE,
    ],
  },
  {
    title: "hosts too many that are in use: the cluster still has what it wants",
    cluster: {
      schedule: {
        ...SCHEDULE,
        blocked: Array.from({ length: 12 }, (_, at) => ({
          host: `m/h${at + 10}`,
          role: "Worker",
          standby: false,
          why: "in use",
        })),
      },
    },
    lines: [
      "Ready=True ReconciliationSucceeded: All hosts and services are there",
      `Scheduled=True HostsLabelled: ${LABELLED}`,
      NO_SERVICES,
      "ContractionBlocked=True HostsInUse: Not wanted any more, but cannot be given back: " +
        `${Array.from({ length: 10 }, (_, at) => `m/h${at + 10} (Worker, in use)`).join(", ")} and 2 more`,
    ],
  },
  {
    title: "services that are available, one with fewer Pods than wanted",
    cluster: {
      services: [
        { service: "jumpHost", isReady: true },
        { service: "auth", isReady: true, message: "1 of 2 Pods" },
      ],
    },
    lines: [
      "Ready=True ReconciliationSucceeded: All hosts and services are there",
      `Scheduled=True HostsLabelled: ${LABELLED}`,
      "ServicesReady=True ServicesAvailable: auth: 1 of 2 Pods",
      FREE,
    ],
  },
  {
    title: "services whose Pods start",
    cluster: {
      services: [
        { service: "jumpHost", isReady: true },
        { service: "auth", isReady: false, reason: "Progressing", message: "no Pod yet" },
      ],
    },
    lines: [
      "Ready=False Progressing: auth: no Pod yet",
      `Scheduled=True HostsLabelled: ${LABELLED}`,
      "ServicesReady=False Progressing: auth: no Pod yet",
      FREE,
    ],
  },
  {
    title: "a service that cannot be made: its reason comes before those that wait",
    cluster: {
      services: [
        { service: "auth", isReady: false, message: "no Pod yet" },
        { service: "jumpHost", isReady: false, reason: "NodePortTaken", message: "30000 is taken" },
      ],
    },
    lines: [
      "Ready=False InfraServiceFailure: auth: no Pod yet. jumpHost: 30000 is taken",
      `Scheduled=True HostsLabelled: ${LABELLED}`,
      "ServicesReady=False NodePortTaken: auth: no Pod yet. jumpHost: 30000 is taken",
      FREE,
    ],
  },
  {
    title: "too few hosts and services that wait: hosts come first",
    cluster: { schedule: SHORT, services: [{ service: "auth", isReady: false }] },
    lines: [
      `Ready=False Unschedulable: ${SHORTFALL}`,
      `Scheduled=False Unschedulable: ${SHORTFALL}`,
      "ServicesReady=False Progressing: Pods start",
      FREE,
    ],
  },
];

describe("listFindings() with", () => {
  for (const { title, cluster, lines } of CASES) {
    test(title, () => {
      const [claims, ...found] = listFindings({ ...CLUSTER, ...cluster }).toReversed();
      expect(found.toReversed().map(toLine)).toEqual([...lines]);
      expect(claims && toLine(claims)).toStartWith("UnknownClaims=False NoUnknownClaims");
    });
  }

  test("hosts that have the labels of the cluster, and that it did not take", () => {
    const unknownClaims = ["evil/cp-1 (its namespace is not allowed)", "metal/w (in use)"];
    const lines = listFindings({ ...CLUSTER, unknownClaims }).map(toLine);
    expect(lines[0]).toStartWith("Ready=True");
    expect(lines.at(-1)).toBe(
      "UnknownClaims=True LabelsWithoutRecord: BareMetalHosts evil/cp-1 (its namespace is not allowed), metal/w (in " +
        "use) have the labels of the cluster, and are not in status.hosts. Landfall does not count them. If nothing " +
        "of the cluster uses them, remove the labels",
    );
  });
});

test("listInvalidFindings() names the problems, and says that nothing is looked after", () => {
  const problems = [
    { path: "spec.a", message: "must be set" },
    { path: "spec.b", message: "must be text" },
  ];
  expect(listInvalidFindings(problems).map(toLine)).toEqual([
    "Ready=False InvalidSpec: spec.a: must be set; spec.b: must be text",
    "Scheduled=False InvalidSpec: spec.a: must be set; spec.b: must be text",
    "ServicesReady=False InvalidSpec: Services stay as they are. spec.a: must be set; spec.b: must be text",
    "ContractionBlocked=False NothingBlocked: Hosts stay as they are",
  ]);
});

describe("listDeletingFindings()", () => {
  const have = new Map<Role, number>([["Worker", 2]]);

  test("says that services go", () => {
    expect(listDeletingFindings({ have }).map(toLine)).toEqual([
      "Ready=False Progressing: The cluster is being deleted",
      "Scheduled=False Progressing: The cluster is being deleted, and takes no hosts. Worker: have 2",
      "ServicesReady=False Progressing: The cluster is being deleted: its services go",
      "ContractionBlocked=False NothingBlocked: The cluster is being deleted",
    ]);
  });

  test("says what it waits for, and how the services are meanwhile", () => {
    const services = [{ service: "jumpHost", isReady: true }];
    const found = listDeletingFindings({ obstacle: "m/a is in use", have, services }).map(toLine);
    expect(found[0]).toBe("Ready=False UnableToDecommission: m/a is in use");
    expect(found[2]).toBe("ServicesReady=True ServicesAvailable: All are available");
  });
});

test("every reason of a finding is on the reference page, except those of services", () => {
  const known = new Set(
    Object.entries(CONDITION_WORDS).flatMap(([type, words]) =>
      Object.values<{ reason: string; status: string }>(words).map(
        ({ reason, status }) => `${type}=${status} ${reason}`,
      ),
    ),
  );
  const found = CASES.flatMap(({ cluster }) => listFindings({ ...CLUSTER, ...cluster }));
  const unknown = found.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  expect(unknown.filter((one) => !known.has(one))).toEqual(["ServicesReady=False NodePortTaken"]);
});

test("listRefusedFindings() says what Kubernetes refuses, and leaves the other conditions", () => {
  const lines = (step: RefusedStep): string[] =>
    listRefusedFindings(step, "forbidden").map(({ type, reason }) => `${type} ${reason}`);
  expect(lines("labels")).toEqual(["Ready UnableToApplyLabels", "Scheduled UnableToApplyLabels"]);
  expect(lines("networkData")).toEqual([
    "Ready UnableToReadNetworkData",
    "Scheduled UnableToReadNetworkData",
  ]);
  expect(lines("services")).toEqual(["Ready InfraServiceFailure", "ServicesReady ObjectRefused"]);
});
