import { expect, test } from "bun:test";
import { describeSipCluster, formatNodePorts } from "../../../lib/http/sip_clusters/replies.ts";
import { createSipClusterRoutes } from "../../../lib/http/page/sip_clusters/mod.ts";
import { SHORT, toSipCluster, toSipSource } from "../../support/page/sip_cluster_views.ts";

const NOW = Date.parse("2026-01-02T03:05:05Z");

async function read(path: string): Promise<string> {
  const routes = createSipClusterRoutes(toSipSource(), { now: () => NOW, places: [] });
  return await (await routes.request(`/debug/sipclusters${path}`)).text();
}

test("/debug/sipclusters has all clusters and all hosts as JSON", async () => {
  const { sipclusters, hosts } = JSON.parse(await read(""));
  expect(sipclusters).toMatchObject([{ name: "short" }, { name: "well", state: "ready" }]);
  expect(hosts).toHaveLength(6);
  expect(hosts[3]).toMatchObject({ name: "h-4", trouble: "paused" });
});

test("/debug/sipclusters?format=text has a table of clusters and one of hosts", async () => {
  const text = await read("?format=text");
  expect(text).toMatch(/^tenants +short +waiting +1 of 2 Worker +30001 +ok .*have 1, eligible 1$/m);
  expect(text).toMatch(/^metal3 +h-3 +available +tenants\/well +Worker, standby +-/m);
});

test("/debug/sipclusters/<namespace>/<name> has one cluster with its hosts", async () => {
  const { name, hosts } = JSON.parse(await read("/tenants/short"));
  expect([name, hosts]).toMatchObject(["short", [{ name: "h-6", trouble: "in error" }]]);
  const text = await read("/tenants/short?format=text");
  expect(text).toMatch(/^Worker +2 +1 +1 +1 paused$/m);
  expect(text).toMatch(/^Ready +False +Unschedulable/m);
});

test("describeSipCluster() is empty when it is ready, else the error or the condition", () => {
  expect(describeSipCluster(toSipCluster("a"))).toBe("");
  expect(describeSipCluster(SHORT)).toBe("Worker: want 2, have 1, eligible 1");
  const lastReconcile = { at: "2026-01-02T03:04:05Z", outcome: "error", error: "no answer" };
  expect(describeSipCluster({ ...SHORT, state: "failing", lastReconcile })).toBe("no answer");
  expect(describeSipCluster({ ...SHORT, conditions: [] })).toBe("");
});

test("describeSipCluster() of a ready one says what to know of it besides", () => {
  expect(describeSipCluster(toSipCluster("a", { notes: ["one", "two"] }))).toBe("one. two");
});

test.each<[readonly number[], string]>([
  [[], ""],
  [[30_001], "30001"],
  [[30_003, 30_001, 30_002, 30_009], "30001-30003, 30009"],
  [[30_002, 30_001, 30_002], "30001-30002"],
])("formatNodePorts() of %p is %p", (ports, expected) => {
  const endpoints = ports.map((nodePort) => ({ service: "loadBalancerWorker", nodePort }));
  expect(formatNodePorts(endpoints)).toBe(expected);
});
