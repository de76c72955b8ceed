import { expect, test } from "bun:test";
import {
  renderSipClusterList,
  type SipClusterListOptions,
} from "../../../../lib/http/page/sip_clusters/list_page.tsx";
import { PAGE_NOW } from "../../../support/page/node_views.ts";
import { HOSTS, SERVER, SHORT, toSipCluster } from "../../../support/page/sip_cluster_views.ts";

function render(over: Partial<SipClusterListOptions> = {}): Promise<string> {
  const clusters = [toSipCluster("well"), SHORT];
  const places = ["sipClusters"] as const;
  return renderSipClusterList({
    clusters,
    hosts: HOSTS,
    serving: { missing: [] },
    nowMs: PAGE_NOW,
    base: "",
    places,
    ...over,
  });
}

const WELL = toSipCluster("a");

test.each<[string, Partial<SipClusterListOptions>, string]>([
  ["none", { clusters: [], hosts: [] }, "No SIPClusters yet"],
  ["one that is well", { clusters: [WELL], hosts: [] }, "The only SIPCluster is well"],
  ["one in trouble", { hosts: [] }, "1 of 2 SIPClusters needs attention"],
  ["two in trouble", { clusters: [SHORT, SHORT], hosts: [] }, "2 of 2 SIPClusters need attention"],
  [
    "one that is not ready",
    { clusters: [WELL, toSipCluster("b", { state: "working" })], hosts: [] },
    "1 of 2 SIPClusters is not ready yet",
  ],
  ["one with a host in trouble", { clusters: [WELL] }, "1 host is in trouble"],
  ["trouble of both kinds", {}, "1 of 2 SIPClusters needs attention, and 1 host is in trouble"],
])("renderSipClusterList() of %s says it in the heading", async (_, over, expected) => {
  expect(await render(over)).toContain(`<h1>${expected}</h1>`);
});

test("renderSipClusterList() shows clusters in trouble first, and why they lack hosts", async () => {
  const html = await render();
  expect(html.indexOf("tenants/short")).toBeLessThan(html.indexOf("tenants/well"));
  expect(html).toContain("Worker: want 2, have 1, eligible 1");
  expect(html).toContain("refused: 1 paused");
});

test("renderSipClusterList() shows a ready cluster with a note before others, and says why", async () => {
  const notes = ["The same rack=r1 have metal3/h-1, metal3/h-2"];
  const html = await render({ clusters: [WELL, toSipCluster("close", { notes })], hosts: [] });
  expect(html.indexOf("tenants/close")).toBeLessThan(html.indexOf("tenants/a<"));
  expect(html).toContain(notes[0] ?? "");
  expect(html).toContain("1 of 2 SIPClusters needs attention");
});

test("renderSipClusterList() shows hosts in trouble before all others", async () => {
  const html = await render();
  const [, table = ""] = html.split("Hosts in trouble");
  expect(table.indexOf("metal3/h-6")).toBeLessThan(table.indexOf("h-1"));
  expect(html.indexOf("h-6<i>")).toBeLessThan(html.indexOf("h-1<i>"));
  expect(await render({ hosts: HOSTS.slice(0, 5) })).not.toContain("Hosts in trouble");
});

test("renderSipClusterList() shows each rack with its hosts, who has them and why not", async () => {
  const html = await render();
  const racks = [...html.matchAll(/<b>([^<]*)<\/b><\/span><span class="tally">/g)];
  expect(racks.map(([, name]) => name)).toEqual(["r1", "r2", "No rack"]);
  expect(html).not.toContain(">0 ");
  for (const text of [
    ">1 standby<",
    "h-1<i>tenants/well · ControlPlane</i>",
    "h-3<i>tenants/well · Worker, standby</i>",
    "h-4<i>paused</i>",
    "h-6<i>tenants/short · Worker, in error</i>",
  ]) {
    expect(html).toContain(text);
  }
});

test("renderSipClusterList() groups hosts by another label that clusters use, and by no other", async () => {
  expect(await render({ by: SERVER })).toContain("<b>h-3</b>");
  expect(await render({ by: "unknown" })).toContain("<b>r1</b>");
});

test("renderSipClusterList() without topology keys shows all hosts together", async () => {
  const clusters = [toSipCluster("a", { topologyKeys: [] })];
  expect(await render({ clusters })).toContain("<b>All hosts</b>");
});

test("renderSipClusterList() escapes what clusters and hosts say", async () => {
  const evil = "<script>";
  const [host = HOSTS[0]] = HOSTS;
  if (host === undefined) throw new Error("there is a host");
  const html = await render({
    clusters: [toSipCluster(evil, { namespace: evil })],
    hosts: [{ ...host, name: evil, cluster: `${evil}/${evil}`, trouble: evil, consumer: evil }],
  });
  expect(html.match(/<script>/g)).toHaveLength(1);
});

test("renderSipClusterList() names kinds that the API server lacks", async () => {
  const html = await render({ serving: { missing: ["a.example.org/v1", "b.example.org/v1"] } });
  expect(html).toContain("until you install a.example.org/v1 and b.example.org/v1.");
  expect(await render()).not.toContain("CustomResourceDefinition");
});

test("renderSipClusterList() of a standby says who leads", async () => {
  const election = { lease: "l", identity: "b", holder: "cp-1_a", isLeading: false };
  const ofStandby = await render({ serving: { election, missing: [] } });
  expect(ofStandby).toContain("The holder of the Lease l does: cp-1_a.");
  const none = { ...election, holder: "" };
  expect(await render({ serving: { election: none, missing: [] } })).toContain("there is none now");
  const leading = { ...election, isLeading: true };
  expect(await render({ serving: { election: leading, missing: [] } })).not.toContain("standby.");
});
