import { expect, test } from "bun:test";
import {
  findRefusal,
  listCandidates,
} from "../../../../lib/controllers/sipcluster/schedule/candidates.ts";
import { Domains } from "../../../../lib/controllers/sipcluster/schedule/domains.ts";
import { type HostWords, toHost, toNodeSet } from "../../../support/sipcluster/scheduling.ts";

const WORKERS = { labelSelector: { matchLabels: { flavor: "worker" } } };
const labels = { flavor: "worker" };

test.each<[string, HostWords, string | undefined]>([
  ["a free host", { labels }, undefined],
  [
    "a host of another flavor",
    { labels: { flavor: "other" }, trouble: "paused" },
    "not matched by the selector",
  ],
  ["a host with a trouble", { labels, trouble: "in error" }, "in error"],
  ["an untouchable host", { labels, isUntouchable: true }, "untouchable"],
  ["a free host that another program provisioned", { labels, isInUse: true }, undefined],
  ["a host of the cluster in use", { labels, isInUse: true, role: "Worker" }, "in use"],
  ["an idle host of the cluster", { labels, role: "ControlPlane" }, undefined],
])("findRefusal() of %s", (_, words, expected) => {
  expect(findRefusal(toHost("a", words), WORKERS)).toBe(expected);
});

test("listCandidates() puts hosts of the cluster first, then hosts whose place is known", () => {
  const hosts = [
    toHost("a"),
    toHost("b", { labels: { rack: "1" } }),
    toHost("c", { role: "Worker" }),
    toHost("d", { labels: { rack: "2" }, role: "Worker" }),
    toHost("e", { labels: { rack: "3" }, trouble: "paused" }),
  ];
  const set = toNodeSet(1, 0, "rack");
  const wishes = [
    { role: "ControlPlane", set, need: 1 },
    { role: "Worker", set: undefined, need: 0 },
  ] as const;
  const candidates = listCandidates(hosts, { wishes, domains: new Domains({ ControlPlane: set }) });
  expect(candidates.map(({ host }) => host)).toEqual(["metal/d", "metal/c", "metal/b", "metal/a"]);
  expect(candidates.every(({ demands }) => demands[1] === undefined)).toBe(true);
});
