import { describe, expect, test } from "bun:test";
import type { Role } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { describeShortfall } from "../../../../lib/controllers/sipcluster/resource/conditions.ts";
import { REFUSED_MAX } from "../../../../lib/controllers/sipcluster/schedule/report.ts";
import { schedule } from "../../../../lib/controllers/sipcluster/schedule/schedule.ts";
import type { HostFacts, Schedule } from "../../../../lib/controllers/sipcluster/schedule/types.ts";
import {
  applySchedule,
  CLUSTER,
  describeAssignments,
  toHost,
  toNodeSet,
  writesNothing,
} from "../../../support/sipcluster/scheduling.ts";

const RACK = "vino.airshipit.org/rack";
const HOST = "vino.airshipit.org/host";
const FLAVOR = "vino.airshipit.org/flavor";

/** Hosts of a flavor, one for each value of a topology label. */
function toFlavor(flavor: string, key: string, values: readonly string[]): readonly HostFacts[] {
  return values.map((value, at) =>
    toHost(`${flavor}-${at}`, { labels: { [FLAVOR]: flavor, [key]: value } }),
  );
}

function toSelector(flavor: string): { readonly matchLabels: Readonly<Record<string, string>> } {
  return { matchLabels: { [FLAVOR]: flavor } };
}

/** What the tests of the original operator wanted. */
function decideAsBefore(hosts: readonly HostFacts[], key: string): Schedule {
  const nodes = {
    ControlPlane: {
      labelSelector: toSelector("cp"),
      topologyKey: key,
      count: { active: 1, standby: 2 },
    },
    Worker: {
      labelSelector: toSelector("worker"),
      topologyKey: key,
      count: { active: 1, standby: 3 },
    },
  };
  return schedule({ cluster: CLUSTER, nodes, hosts });
}

function formatShortfalls({ reports }: Schedule): readonly string[] {
  return [...reports].flatMap(([role, report]) =>
    report.missing > 0 ? [describeShortfall(role, report)] : [],
  );
}

function decide(
  hosts: readonly HostFacts[],
  nodes: Parameters<typeof schedule>[0]["nodes"],
  scheduling: Parameters<typeof schedule>[0]["scheduling"] = {},
): Schedule {
  return schedule({ cluster: CLUSTER, nodes, scheduling, hosts });
}

describe("the cases of the original operator", () => {
  const three = ["r1", "r2", "r3"];
  const four = ["r1", "r2", "r3", "r4"];

  test("three control planes and four workers, wanted and there, are all taken", () => {
    const hosts = [...toFlavor("cp", HOST, three), ...toFlavor("worker", HOST, four)];
    const decision = decideAsBefore(hosts, HOST);
    expect(decision.isSatisfied).toBe(true);
    expect(describeAssignments(decision.add)).toEqual([
      "cp-0 ControlPlane",
      "cp-1 ControlPlane standby",
      "cp-2 ControlPlane standby",
      "worker-0 Worker",
      "worker-1 Worker standby",
      "worker-2 Worker standby",
      "worker-3 Worker standby",
    ]);
  });

  test.each([
    [
      "two of three control planes",
      toFlavor("cp", HOST, three.slice(1)),
      toFlavor("worker", HOST, four),
      HOST,
      "ControlPlane: want 3, have 0, eligible 2; rejected: 4 not matched by the selector",
    ],
    [
      "two of four workers",
      toFlavor("cp", HOST, three),
      toFlavor("worker", HOST, four.slice(2)),
      HOST,
      "Worker: want 4, have 0, eligible 2; rejected: 3 not matched by the selector",
    ],
    [
      "two workers on one host",
      toFlavor("cp", HOST, three),
      toFlavor("worker", HOST, ["r1", "r1", "r2", "r3"]),
      HOST,
      `Worker: want 4, have 0, eligible 4; rejected: 3 not matched by the selector, 1 same ${HOST}`,
    ],
    [
      "two control planes on one host",
      toFlavor("cp", HOST, ["r1", "r1", "r2"]),
      toFlavor("worker", HOST, four),
      HOST,
      `ControlPlane: want 3, have 0, eligible 3; rejected: 4 not matched by the selector, 1 same ${HOST}`,
    ],
    [
      "two workers in one rack",
      toFlavor("cp", RACK, three),
      toFlavor("worker", RACK, ["r1", "r1", "r2", "r3"]),
      RACK,
      `Worker: want 4, have 0, eligible 4; rejected: 3 not matched by the selector, 1 same ${RACK}`,
    ],
    [
      "two control planes in one rack",
      toFlavor("cp", RACK, ["r1", "r1", "r2"]),
      toFlavor("worker", RACK, four),
      RACK,
      `ControlPlane: want 3, have 0, eligible 3; rejected: 4 not matched by the selector, 1 same ${RACK}`,
    ],
  ])("%s: no host is taken", (_, controlPlanes, workers, key, shortfall) => {
    const hosts = [...controlPlanes, ...workers];
    const decision = decideAsBefore(hosts, key);
    expect(decision.isSatisfied).toBe(false);
    expect(writesNothing(hosts, decision)).toBe(true);
    expect(formatShortfalls(decision)).toEqual([shortfall]);
  });
});

describe("schedule() expands", () => {
  test("into racks that the cluster does not use yet", () => {
    const hosts = [
      toHost("a", { labels: { [RACK]: "r1" }, role: "Worker" }),
      toHost("b", { labels: { [RACK]: "r1" } }),
      toHost("c", { labels: { [RACK]: "r2" } }),
    ];
    const decision = decide(hosts, { Worker: toNodeSet(2, 0, RACK) });
    expect(describeAssignments(decision.add)).toEqual(["c Worker"]);
  });

  test("a full pool that has all it needs writes nothing", () => {
    const hosts = [toHost("a", { role: "Worker" }), toHost("b", { role: "Worker", standby: true })];
    const decision = decide(hosts, { Worker: toNodeSet(1, 1) });
    expect(decision.isSatisfied).toBe(true);
    expect(writesNothing(hosts, decision)).toBe(true);
  });

  test("past a bad host, whose rack stays usable", () => {
    const hosts = [
      toHost("a", { labels: { [RACK]: "r1" }, trouble: "no network data" }),
      toHost("b", { labels: { [RACK]: "r1" } }),
    ];
    const decision = decide(hosts, { Worker: toNodeSet(1, 0, RACK) });
    expect(describeAssignments(decision.add)).toEqual(["b Worker"]);
  });

  test("with hosts of one name in two namespaces", () => {
    const hosts = [
      { ...toHost("a"), key: "east/a" },
      { ...toHost("a"), key: "west/a" },
    ];
    const decision = decide(hosts, { Worker: toNodeSet(2) });
    expect(decision.add.map(({ host }) => host)).toEqual(["east/a", "west/a"]);
  });

  test("the same way in any order of hosts, with selectors that overlap", () => {
    const hosts = ["a", "b", "c", "d", "e"].map((name) => toHost(name));
    const nodes = { ControlPlane: toNodeSet(2), Worker: toNodeSet(2) };
    const decision = decide(hosts, nodes);
    expect(decide(hosts.toReversed(), nodes)).toEqual(decision);
    expect(describeAssignments(decision.add)).toEqual([
      "a ControlPlane",
      "b ControlPlane",
      "c Worker",
      "d Worker",
    ]);
  });

  test("with the role first that has the fewest hosts to choose from", () => {
    const hosts = [
      toHost("a", { labels: { big: "yes" } }),
      toHost("b", { labels: { big: "yes" } }),
      toHost("c"),
      toHost("d"),
    ];
    const big = { labelSelector: { matchLabels: { big: "yes" } }, count: { active: 2 } };
    const decision = decide(hosts, { ControlPlane: toNodeSet(2), Worker: big });
    expect(describeAssignments(decision.add)).toEqual([
      "a Worker",
      "b Worker",
      "c ControlPlane",
      "d ControlPlane",
    ]);
  });

  test("with a host that lacks the topology label, after those that have it", () => {
    const hosts = [
      toHost("a"),
      toHost("b", { labels: { [RACK]: "r1" } }),
      toHost("c", { labels: { [RACK]: "r1" } }),
      toHost("d"),
    ];
    const nodes = { Worker: toNodeSet(3, 0, RACK) };
    expect(describeAssignments(decide(hosts, nodes).add)).toEqual([
      "a Worker",
      "b Worker",
      "d Worker",
    ]);
    expect(describeAssignments(decide(hosts, { Worker: toNodeSet(1, 0, RACK) }).add)).toEqual([
      "b Worker",
    ]);
  });

  test("with no host in two places of several keys at once", () => {
    const place = (rack: string, feed: string) => ({ labels: { [RACK]: rack, feed } });
    // The first by key take a rack and a feed each, so that only one fits beside them; there are three that do.
    const hosts = [
      toHost("a", place("r1", "f1")),
      toHost("b", place("r1", "f2")),
      toHost("c", place("r2", "f1")),
      toHost("d", place("r2", "f3")),
      toHost("e", place("r3", "f1")),
    ];
    const decision = decide(hosts, { Worker: { topologyKey: RACK, ...toNodeSet(3, 0, "feed") } });
    expect(describeAssignments(decision.add)).toEqual(["b Worker", "d Worker", "e Worker"]);
  });

  test("over roles only when asked", () => {
    const hosts = [
      toHost("a", { labels: { [RACK]: "r1" } }),
      toHost("b", { labels: { [RACK]: "r1" } }),
      toHost("c", { labels: { [RACK]: "r2" } }),
    ];
    const nodes = { ControlPlane: toNodeSet(1, 0, RACK), Worker: toNodeSet(1) };
    const apart = decide(hosts, nodes, { spreadAcrossRoles: true });
    expect(describeAssignments(apart.add)).toEqual(["a ControlPlane", "c Worker"]);
    expect(describeAssignments(decide(hosts, nodes).add)).toEqual(["a ControlPlane", "b Worker"]);
  });
});

describe("schedule() contracts", () => {
  const four = (words: Readonly<Record<string, object>> = {}): readonly HostFacts[] =>
    ["a", "b", "c", "d"].map((name) => toHost(name, { role: "Worker", ...words[name] }));

  test.each<[string, readonly HostFacts[], readonly string[]]>([
    ["the last by key", four(), ["c", "d"]],
    ["hosts that nobody uses", four({ c: { isInUse: true }, d: { isInUse: true } }), ["a", "b"]],
    ["standby hosts", four({ a: { standby: true }, b: { standby: true } }), ["a", "b"]],
    [
      "hosts of the most crowded rack",
      four({
        a: { labels: { [RACK]: "r1" } },
        b: { labels: { [RACK]: "r1" } },
        c: { labels: { [RACK]: "r1" } },
        d: { labels: { [RACK]: "r2" } },
      }),
      ["b", "c"],
    ],
  ])("from four to two: %s go first", (_, hosts, expected) => {
    const decision = decide(hosts, { Worker: toNodeSet(2, 0, RACK) });
    expect(decision.giveBack.map(({ host }) => host.replace("metal/", ""))).toEqual([...expected]);
    expect(decision.keep).toHaveLength(2);
    expect(decision.blocked).toEqual([]);
  });

  test("never by a host in use, which it names", () => {
    const hosts = four({ a: { isInUse: true }, b: { isInUse: true }, c: { isInUse: true } });
    const decision = decide(hosts, { Worker: toNodeSet(2) });
    expect(describeAssignments(decision.giveBack)).toEqual(["d Worker"]);
    expect(describeAssignments(decision.keep)).toEqual(["a Worker", "b Worker", "c Worker"]);
    expect(decision.blocked).toEqual([
      { host: "metal/c", role: "Worker", standby: false, why: "in use" },
    ]);
    expect(decision.isSatisfied).toBe(true);
  });

  test("by hosts in use if the spec says so, after all others", () => {
    const hosts = four({ a: { isInUse: true }, b: { isInUse: true }, c: { isInUse: true } });
    const decision = decide(hosts, { Worker: toNodeSet(2) }, { releaseConsumedHosts: true });
    expect(describeAssignments(decision.giveBack)).toEqual(["c Worker", "d Worker"]);
    expect(decision.blocked).toEqual([]);
  });

  test("active hosts and keeps the standby host, if only active ones are too many", () => {
    const hosts = four({ a: { standby: true } });
    const decision = decide(hosts, { Worker: toNodeSet(1, 1) });
    expect(describeAssignments(decision.giveBack)).toEqual(["c Worker", "d Worker"]);
    expect(describeAssignments(decision.keep)).toEqual(["a Worker standby", "b Worker"]);
  });

  test.each<[string, Parameters<typeof schedule>[0]["nodes"]]>([
    ["that the spec no longer has", { ControlPlane: toNodeSet(0) }],
    ["that wants none", { Worker: toNodeSet(0) }],
  ])("all hosts of a role %s", (_, nodes) => {
    const decision = decide(four({ b: { isInUse: true } }), nodes);
    expect(describeAssignments(decision.giveBack)).toEqual(["a Worker", "c Worker", "d Worker"]);
    expect(describeAssignments(decision.blocked)).toEqual(["b Worker"]);
  });
});

describe("schedule() replaces", () => {
  test("a broken host that nobody uses, in one decision", () => {
    const hosts = [toHost("a", { role: "Worker", trouble: "unhealthy" }), toHost("b")];
    const decision = decide(hosts, { Worker: toNodeSet(1) });
    expect(describeAssignments(decision.add)).toEqual(["b Worker"]);
    expect(decision.giveBack).toEqual([
      { host: "metal/a", role: "Worker", standby: false, why: "unhealthy" },
    ]);
  });

  test("no broken host for which there is no other", () => {
    const hosts = [toHost("a", { role: "Worker", trouble: "unhealthy" })];
    const decision = decide(hosts, { Worker: toNodeSet(1) });
    expect(writesNothing(hosts, decision)).toBe(true);
    expect(formatShortfalls(decision)).toEqual(["Worker: want 1, have 0, eligible 0"]);
  });

  test("no broken host that is in use", () => {
    const hosts = [
      toHost("a", { role: "Worker", trouble: "unhealthy", isInUse: true }),
      toHost("b"),
    ];
    expect(writesNothing(hosts, decide(hosts, { Worker: toNodeSet(1) }))).toBe(true);
  });

  test("no paused host, which it never touches", () => {
    const hosts = [
      toHost("a", { role: "Worker", standby: true, trouble: "paused", isUntouchable: true }),
      toHost("b"),
    ];
    expect(writesNothing(hosts, decide(hosts, { Worker: toNodeSet(1) }))).toBe(true);
    const none = decide(hosts, { Worker: toNodeSet(0) });
    expect(writesNothing(hosts, none)).toBe(true);
    expect(none.blocked.map(({ why }) => why)).toEqual(["paused"]);
  });

  test("a broken host that is not needed, without another one", () => {
    const hosts = [
      toHost("a", { role: "Worker", trouble: "unhealthy" }),
      toHost("b", { role: "Worker" }),
    ];
    const decision = decide(hosts, { Worker: toNodeSet(1) });
    expect(describeAssignments(decision.giveBack)).toEqual(["a Worker"]);
    expect(decision.add).toEqual([]);
  });
});

describe("schedule() changes over", () => {
  const change = (
    hosts: readonly HostFacts[],
    active: number,
    standby: number,
  ): readonly string[] => {
    const { keep, add } = decide(hosts, { Worker: toNodeSet(active, standby) });
    return describeAssignments([...keep, ...add]);
  };
  const worker = (name: string, standby = false, isInUse = false): HostFacts =>
    toHost(name, { role: "Worker", standby, isInUse });

  test("a standby host to an active one instead of taking a new host", () => {
    expect(change([worker("a"), worker("b", true), toHost("c")], 2, 0)).toEqual([
      "a Worker",
      "b Worker",
    ]);
  });

  test("no standby host if a new host fills the active place", () => {
    const hosts = [worker("a"), worker("b", true), toHost("c")];
    expect(change(hosts, 2, 1)).toEqual(["a Worker", "b Worker standby", "c Worker"]);
  });

  test("a standby host to an active one when nothing fills the place of an active one", () => {
    expect(change([worker("a"), worker("b", true)], 2, 1)).toEqual(["a Worker", "b Worker"]);
  });

  test("an idle active host to standby, and none in use", () => {
    const hosts = [worker("a"), worker("b", false, true)];
    expect(change(hosts, 1, 1)).toEqual(["a Worker standby", "b Worker"]);
    expect(change([worker("a", false, true), worker("b", false, true)], 1, 1)).toEqual([
      "a Worker",
      "b Worker",
    ]);
  });

  test("a standby host in use and an idle active one with each other", () => {
    const hosts = [worker("a"), worker("b", true, true)];
    expect(change(hosts, 1, 1)).toEqual(["a Worker standby", "b Worker"]);
  });

  test("a host that one role gives back to the role that misses it", () => {
    const hosts = [toHost("a", { role: "ControlPlane" }), toHost("b", { role: "ControlPlane" })];
    const decision = decide(hosts, { ControlPlane: toNodeSet(1), Worker: toNodeSet(1) });
    expect(describeAssignments(decision.keep)).toEqual(["a ControlPlane", "b Worker"]);
    expect(decision.giveBack).toEqual([]);
  });

  test("the only host that suits the other role, though others would leave first", () => {
    const hosts = [
      toHost("a", { role: "ControlPlane", labels: { big: "yes" } }),
      toHost("b", { role: "ControlPlane" }),
      toHost("c", { role: "ControlPlane", standby: true }),
    ];
    const big = { labelSelector: { matchLabels: { big: "yes" } }, count: { active: 1 } };
    const decision = decide(hosts, { ControlPlane: toNodeSet(1), Worker: big });
    expect(describeAssignments(decision.keep)).toEqual(["a Worker", "b ControlPlane"]);
    expect(describeAssignments(decision.giveBack)).toEqual(["c ControlPlane standby"]);
    const two = decide(hosts, {
      ControlPlane: toNodeSet(1),
      Worker: { ...big, count: { active: 2 } },
    });
    expect(describeAssignments(two.keep)).toEqual(["a ControlPlane"]);
  });

  test("the host of a rack that the other role needs, if anti-affinity holds between roles", () => {
    const hosts = [
      toHost("a", { role: "ControlPlane", labels: { [RACK]: "r1" } }),
      toHost("b", { role: "ControlPlane", labels: { [RACK]: "r2" } }),
      toHost("x", { labels: { [RACK]: "r1", big: "yes" } }),
    ];
    const big = { labelSelector: { matchLabels: { big: "yes" } }, count: { active: 1 } };
    const nodes = { ControlPlane: toNodeSet(1, 0, RACK), Worker: big };
    const decision = decide(hosts, nodes, { spreadAcrossRoles: true });
    expect(describeAssignments(decision.keep)).toEqual(["b ControlPlane"]);
    expect(describeAssignments(decision.add)).toEqual(["x Worker"]);
  });
});

describe("schedule() reports", () => {
  test("hosts of the cluster that share a domain, and keeps them", () => {
    const hosts = ["a", "b", "c"].map((name) =>
      toHost(name, { labels: { [RACK]: name === "c" ? "r2" : "r1" }, role: "Worker" }),
    );
    const decision = decide(hosts, { Worker: toNodeSet(3, 0, RACK) });
    expect(writesNothing(hosts, decision)).toBe(true);
    expect(decision.breaches).toEqual([
      { topologyKey: RACK, value: "r1", hosts: ["metal/a", "metal/b"] },
    ]);
  });

  test("why each host was refused to a role that misses hosts, and nothing for one that has all", () => {
    const hosts = [
      toHost("a", { labels: { [RACK]: "r1" }, role: "Worker" }),
      toHost("b", { labels: { [RACK]: "r1" } }),
      toHost("c", { labels: { [RACK]: "r2" }, trouble: "paused", isUntouchable: true }),
      toHost("d", { labels: { [RACK]: "r2" }, trouble: "in error" }),
      toHost("e", { labels: { [RACK]: "r2", no: "" } }),
    ];
    const workers = {
      ...toNodeSet(3, 0, RACK),
      labelSelector: { matchExpressions: [{ key: "no", operator: "DoesNotExist" as const }] },
    };
    const { reports } = decide(hosts, { Worker: workers, ControlPlane: toNodeSet(0) });
    const report = (role: Role) => reports.get(role);
    expect(report("ControlPlane")).toMatchObject({ wanted: 0, missing: 0, refused: new Map() });
    expect(report("Worker")).toEqual({
      wanted: 3,
      have: 1,
      missing: 2,
      eligible: 1,
      rejected: new Map([
        ["in error", 1],
        ["not matched by the selector", 1],
        ["paused", 1],
        [`same ${RACK}`, 1],
      ]),
      refused: new Map([
        ["metal/b", `same ${RACK}`],
        ["metal/c", "paused"],
        ["metal/d", "in error"],
      ]),
    });
  });

  test("only some of many refused hosts, and none that the selector does not match", () => {
    const count = REFUSED_MAX + 50;
    const many = Array.from({ length: count }, (_, at) => toHost(`x${at}`, { trouble: "paused" }));
    const labelSelector = { matchExpressions: [{ key: "no", operator: "DoesNotExist" as const }] };
    const hosts = [toHost("a", { labels: { no: "" } }), ...many];
    const { reports } = decide(hosts, { Worker: { ...toNodeSet(2), labelSelector } });
    const { rejected = new Map(), refused = new Map() } = reports.get("Worker") ?? {};
    expect([...rejected]).toEqual([
      ["paused", count],
      ["not matched by the selector", 1],
    ]);
    expect([refused.size, refused.has("metal/a")]).toEqual([REFUSED_MAX, false]);
  });

  test("that both roles need the same hosts", () => {
    const hosts = ["a", "b", "c"].map((name) => toHost(name));
    const decision = decide(hosts, { ControlPlane: toNodeSet(2), Worker: toNodeSet(2) });
    expect(formatShortfalls(decision)).toEqual([
      "Worker: want 2, have 0, eligible 3; rejected: 2 needed for ControlPlane",
    ]);
    expect(writesNothing(hosts, decision)).toBe(true);
  });
});

test("schedule() leaves hosts of other clusters alone", () => {
  const hosts = [toHost("a", { role: "Worker", cluster: "tenant/two" }), toHost("b")];
  const decision = decide(hosts, { Worker: toNodeSet(2) });
  expect(formatShortfalls(decision)).toEqual(["Worker: want 2, have 0, eligible 1"]);
  expect(applySchedule(hosts, decision)).toEqual(hosts);
});

test("hosts that the selector does not match any more stay, and are listed", () => {
  const words = { role: "Worker", labels: { [FLAVOR]: "old" } } as const;
  const fits = { role: "Worker", labels: { [FLAVOR]: "new" } } as const;
  const hosts = [toHost("a", words), toHost("b", fits), toHost("c", words)];
  const labelSelector = toSelector("new");
  const keeps = decide(hosts, { Worker: { labelSelector, count: { active: 3 } } });
  const note = "Kept, but not matched by the selector any more: metal/a, metal/c";
  expect([keeps.notes, keeps.giveBack]).toEqual([[note], []]);
  expect(writesNothing(hosts, keeps)).toBe(true);
  const shrinks = decide(hosts, { Worker: { labelSelector, count: { active: 1 } } });
  expect(shrinks.giveBack.map(({ host }) => host)).toEqual(["metal/a", "metal/c"]);
  expect(shrinks.notes).toEqual([]);
});
