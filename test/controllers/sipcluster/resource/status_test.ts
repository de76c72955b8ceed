import { describe, expect, test } from "bun:test";
import { findCondition } from "../../../../lib/controllers/kinds/conditions.ts";
import {
  type Outcome,
  planStatus,
  type ServedOutcome,
} from "../../../../lib/controllers/sipcluster/resource/status.ts";
import type {
  SipCluster,
  SipClusterStatus,
} from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { ADDRESSES_LISTED_MAX } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { Machine } from "../../../../lib/controllers/sipcluster/services/types.ts";

const NOON = Date.UTC(2026, 0, 1, 12, 0, 0, 123);
const LATER = NOON + 3_600_000;

function toMachine(name: string, fields: Partial<Machine> = {}): Machine {
  return {
    uid: `uid-${name}`,
    namespace: "metal",
    name,
    role: "Worker",
    standby: false,
    addresses: new Map(),
    ...fields,
  };
}

const REPORT = {
  wanted: 3,
  have: 3,
  missing: 0,
  eligible: 0,
  rejected: new Map<string, number>(),
  refused: new Map<string, string>(),
};

const SERVED: ServedOutcome = {
  kind: "served",
  errors: new Map(),
  schedule: {
    keep: [],
    add: [],
    giveBack: [],
    blocked: [],
    reports: new Map([["Worker", REPORT]]),
    isSatisfied: true,
    isProven: true,
    notes: [],
    breaches: [],
  },
  machines: [
    toMachine("a", {
      addresses: new Map([
        ["oam-ipv6", "fd00::1"],
        ["oam-ipv4", "10.0.0.1"],
        ["pxe", "10.0.0.1"],
      ]),
    }),
    toMachine("b"),
    toMachine("c", { standby: true }),
  ],
  services: [{ service: "jumpHost", isReady: true }],
  unknownClaims: [],
  endpoints: [
    { service: "jumpHost", nodePort: 30_000 },
    { service: "auth", nodePort: 0 },
  ],
};

function toCluster(status?: SipClusterStatus, generation = 1): SipCluster {
  return { metadata: { name: "one", namespace: "tenant", generation }, ...(status && { status }) };
}

/** The status after an outcome. */
function settle(outcome: Outcome, before?: SipClusterStatus, nowMs = NOON): SipClusterStatus {
  return planStatus(toCluster(before), outcome, nowMs) ?? before ?? {};
}

describe("planStatus()", () => {
  test("writes everything for a new cluster", () => {
    const condition = { lastTransitionTime: "2026-01-01T12:00:00Z", observedGeneration: 1 };
    expect(settle(SERVED)).toEqual({
      observedGeneration: 1,
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "ReconciliationSucceeded",
          message: "All hosts and services are there",
          ...condition,
        },
        {
          type: "Scheduled",
          status: "True",
          reason: "HostsLabelled",
          message: "Worker: want 3, have 3",
          ...condition,
        },
        {
          type: "ServicesReady",
          status: "True",
          reason: "ServicesAvailable",
          message: "All are available",
          ...condition,
        },
        {
          type: "ContractionBlocked",
          status: "False",
          reason: "NothingBlocked",
          message: "No host waits to be given back",
          ...condition,
        },
        {
          type: "UnknownClaims",
          status: "False",
          reason: "NoUnknownClaims",
          message: "No other host has the labels of the cluster",
          ...condition,
        },
      ],
      counts: {
        ControlPlane: { wanted: 0, active: 0, standby: 0, summary: "0/0" },
        Worker: { wanted: 3, active: 2, standby: 1, summary: "3/3" },
      },
      hosts: [
        {
          uid: "uid-a",
          namespace: "metal",
          name: "a",
          role: "Worker",
          standby: false,
          addresses: ["10.0.0.1", "fd00::1"],
          networks: { "oam-ipv4": "10.0.0.1", "oam-ipv6": "fd00::1", pxe: "10.0.0.1" },
        },
        {
          uid: "uid-b",
          namespace: "metal",
          name: "b",
          role: "Worker",
          standby: false,
          addresses: [],
        },
        {
          uid: "uid-c",
          namespace: "metal",
          name: "c",
          role: "Worker",
          standby: true,
          addresses: [],
        },
      ],
      endpoints: [{ service: "jumpHost", nodePort: 30_000 }],
    });
  });

  for (const outcome of [
    SERVED,
    { kind: "invalid", problems: [{ path: "spec", message: "must be set" }] },
    { kind: "deleting", hosts: [] },
    { kind: "deleting", hosts: [], obstacle: "metal/a is in use" },
  ] satisfies Outcome[]) {
    test(`writes nothing a second time: ${JSON.stringify(outcome).slice(0, 60)}`, () => {
      const stored: SipClusterStatus = JSON.parse(JSON.stringify(settle(outcome)));
      expect(planStatus(toCluster(stored), outcome, LATER)).toBeUndefined();
    });
  }

  test("writes again when only the generation differs", () => {
    const next = planStatus(toCluster(settle(SERVED), 2), SERVED, LATER);
    expect(next?.observedGeneration).toBe(2);
    expect(findCondition(next, "Ready")).toMatchObject({
      lastTransitionTime: "2026-01-01T12:00:00Z",
      observedGeneration: 2,
    });
  });

  test("keeps hosts, counts and endpoints while the spec is wrong", () => {
    const served = settle(SERVED);
    const invalid = settle({ kind: "invalid", problems: [] }, served, LATER);
    const { hosts, counts, endpoints } = served;
    expect(invalid).toMatchObject({ hosts, counts, endpoints });
    expect(findCondition(invalid, "ServicesReady")?.reason).toBe("InvalidSpec");
    expect(findCondition(invalid, "Ready")?.lastTransitionTime).toBe("2026-01-01T13:00:00Z");
  });

  test("has only the hosts that are still labelled while the cluster is deleted, and no endpoints", () => {
    const before = settle(SERVED);
    const hosts = [{ host: "metal/a", role: "Worker", standby: false }] as const;
    const [first] = before.hosts ?? [];
    const next = settle({ kind: "deleting", hosts }, before);
    expect(next.hosts).toEqual(first ? [first] : []);
    expect(next.endpoints).toEqual([]);
    expect(next.counts?.Worker).toEqual({ wanted: 0, active: 1, standby: 0, summary: "1/0" });
    expect(findCondition(next, "ServicesReady")?.status).toBe("False");
  });

  test("has the services and endpoints that stay while hosts in use stop the deletion", () => {
    const before = settle(SERVED);
    const outcome: Outcome = { kind: "deleting", obstacle: "in use", hosts: [], served: SERVED };
    const { hosts, endpoints } = before;
    const next = settle(outcome, before);
    expect(next).toMatchObject({ hosts, endpoints });
    expect(findCondition(next, "ServicesReady")?.status).toBe("True");
  });

  test("records all hosts, with the addresses of a limited number", () => {
    const addresses = new Map([["oam", "192.0.2.1"]]);
    const machines = Array.from({ length: ADDRESSES_LISTED_MAX + 1 }, (_, at) =>
      toMachine(`h${at}`, { addresses }),
    );
    const { hosts = [], counts } = settle({ ...SERVED, machines });
    expect(hosts.filter((one) => one.addresses.length > 0)).toHaveLength(ADDRESSES_LISTED_MAX);
    expect(hosts.at(-1)).toMatchObject({ uid: `uid-h${ADDRESSES_LISTED_MAX}`, addresses: [] });
    expect(counts?.Worker?.active).toBe(ADDRESSES_LISTED_MAX + 1);
  });

  test("takes over the condition that the original operator wrote", () => {
    const before: SipClusterStatus = {
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "ReconciliationSucceeded",
          message: "",
          lastTransitionTime: "2021-07-01T00:00:00Z",
          observedGeneration: 1,
        },
      ],
    };
    const next = settle(SERVED, before);
    expect(next.conditions?.map(({ type }) => type)).toEqual([
      "Ready",
      "Scheduled",
      "ServicesReady",
      "ContractionBlocked",
      "UnknownClaims",
    ]);
    expect(findCondition(next, "Ready")?.lastTransitionTime).toBe("2021-07-01T00:00:00Z");
  });
});
