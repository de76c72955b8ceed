import { expect, test } from "bun:test";
import { groupHosts } from "../../../../lib/controllers/sipcluster/schedule/candidates.ts";
import { Domains } from "../../../../lib/controllers/sipcluster/schedule/domains.ts";
import { findMatching } from "../../../../lib/controllers/sipcluster/schedule/matching/matching.ts";
import {
  REFUSED_MAX,
  reportSearch,
  type Search,
} from "../../../../lib/controllers/sipcluster/schedule/report.ts";
import { toHost, toNodeSet } from "../../../support/sipcluster/scheduling.ts";

function search(controlPlanes: number, workers: number): Search {
  const hosts = [
    toHost("a", { labels: { rack: "1" } }),
    toHost("b", { labels: { rack: "1" } }),
    toHost("c", { labels: { rack: "1" }, trouble: "paused" }),
    toHost("d", { labels: { rack: "2" }, trouble: "paused" }),
    toHost("e", { labels: { rack: "3" }, trouble: "in error" }),
  ];
  const nodes = { ControlPlane: toNodeSet(controlPlanes), Worker: toNodeSet(workers, 0, "rack") };
  const domains = new Domains(nodes);
  const wishes = [
    { role: "ControlPlane", set: nodes.ControlPlane, need: controlPlanes },
    { role: "Worker", set: nodes.Worker, need: workers },
  ] as const;
  const { groups, orders } = groupHosts(hosts, { wishes, domains });
  const problem = {
    needs: wishes.map(({ need }) => need),
    groups,
    orders,
    held: [],
    scopes: wishes.map(({ role }) => domains.listScopes(role)),
    sharesDomains: false,
  };
  const matching = findMatching(problem, { maxSteps: 1_000, maxGroups: 100 });
  return {
    wishes,
    hosts,
    eligible: orders.map(({ length }) => length),
    held: [],
    matching,
    domains,
  };
}

test("reportSearch() counts reasons, the most frequent first", () => {
  const report = reportSearch(search(0, 2), 1);
  expect(report).toMatchObject({ missing: 1, eligible: 2 });
  expect([...report.rejected]).toEqual([
    ["paused", 2],
    ["in error", 1],
    ["same rack", 1],
  ]);
  expect([...report.refused.keys()]).toEqual(["metal/b", "metal/c", "metal/d", "metal/e"]);
});

test("reportSearch() says which role needs a host", () => {
  const { refused } = reportSearch(search(2, 1), 1);
  expect([refused.get("metal/a"), refused.get("metal/b")]).toEqual([
    "needed for ControlPlane",
    "needed for ControlPlane",
  ]);
});

test("reportSearch() has no reasons for a role that misses nothing", () => {
  expect(reportSearch(search(0, 1), 1)).toEqual({
    missing: 0,
    eligible: 2,
    rejected: new Map(),
    refused: new Map(),
  });
});

test("reportSearch() names some hosts, and none that the selector does not match", () => {
  const one = search(0, 2);
  const many = Array.from({ length: REFUSED_MAX + 50 }, (_, at) =>
    toHost(`x${at}`, { trouble: "paused" }),
  );
  const worker = { ...one.wishes[1], role: "Worker", need: 2 } as const;
  const labelSelector = { matchExpressions: [{ key: "rack", operator: "DoesNotExist" as const }] };
  const set = { ...toNodeSet(2), labelSelector };
  const wishes = [
    { role: "ControlPlane", set: undefined, need: 0 },
    { ...worker, set },
  ] as const;
  const { rejected, refused } = reportSearch({ ...one, wishes, hosts: [...one.hosts, ...many] }, 1);
  expect([...rejected]).toEqual([
    ["paused", REFUSED_MAX + 50],
    ["not matched by the selector", 4],
  ]);
  expect(refused.size).toBe(REFUSED_MAX);
});
