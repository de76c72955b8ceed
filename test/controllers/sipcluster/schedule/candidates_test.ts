import { expect, test } from "bun:test";
import { groupHosts } from "../../../../lib/controllers/sipcluster/schedule/candidates.ts";
import { Domains } from "../../../../lib/controllers/sipcluster/schedule/domains.ts";
import { toHost, toNodeSet } from "../../../support/sipcluster/scheduling.ts";

test("groupHosts() puts hosts of the cluster first, then hosts whose place is known", () => {
  const hosts = [
    toHost("a"),
    toHost("b", { labels: { rack: "1" } }),
    toHost("c", { role: "Worker" }),
    toHost("d", { labels: { rack: "2" }, role: "Worker" }),
    toHost("e", { labels: { rack: "3" }, trouble: "paused" }),
    toHost("f", { labels: { rack: "1" } }),
  ];
  const set = toNodeSet(1, 0, "rack");
  const needs = [
    { role: "ControlPlane", set, need: 1 },
    { role: "Worker", set: undefined, need: 0 },
  ] as const;
  const domains = new Domains({ ControlPlane: set });
  const { groups, orders } = groupHosts(hosts, { needs, domains });
  const names = groups.map((group) => group.hosts.map((host) => host.slice(6)).join(" "));
  expect(orders.map((order) => order.map((group) => names[group]))).toEqual([
    ["d", "c", "b f", "b f", "a"],
    [],
  ]);
  expect(groups.every(({ demands }) => demands[1] === undefined)).toBe(true);
  expect(new Set(groups.map(({ demands }) => demands[0]?.alone[0]))).toHaveLength(3);
});
