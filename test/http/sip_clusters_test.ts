/**
 * The pages of SIPClusters, as requests see them, in a process without a cloud.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { formatNodePorts } from "../../lib/http/sip_clusters/pages.ts";
import type { SipClusterView, SipHostView } from "../../lib/http/sip_clusters/views.ts";
import type { ServingView } from "../../lib/http/views.ts";
import { findHeading, listRows, readData, readPage, toPages } from "../support/page/pages.ts";
import {
  HOSTS,
  RACK,
  SERVER,
  SHORT,
  toRole,
  toSipCluster,
  toSipSource,
} from "../support/page/sip_cluster_views.ts";

const LIST = "sipclusters";
const WELL = toSipCluster("well");

function show(
  clusters: readonly SipClusterView[] = [WELL, SHORT],
  hosts: readonly SipHostView[] = HOSTS,
  serving: ServingView = { missing: [] },
) {
  const sipClusters = { ...toSipSource(clusters, hosts), readServing: () => serving };
  return toPages({ sipClusters });
}

/** Names of the boxes of hosts, in order. */
function listRacks(html: string): readonly string[] {
  const boxes = html.matchAll(/<details class="box tall"[^]*?<b>([^<]*)<\/b>/g);
  return [...boxes].map(([, name = ""]) => name);
}

describe("the list", () => {
  test.each<[string, Parameters<typeof show>, string]>([
    ["none", [[], []], "No SIPClusters yet"],
    ["one that is well", [[WELL], []], "The only SIPCluster is well"],
    ["one in trouble", [[WELL, SHORT], []], "1 of 2 SIPClusters needs attention"],
    ["two in trouble", [[SHORT, SHORT], []], "2 of 2 SIPClusters need attention"],
    [
      "one that is not ready",
      [[WELL, toSipCluster("b", { state: "working" })], []],
      "1 of 2 SIPClusters is not ready yet",
    ],
    [
      "one that is deleted",
      [[toSipCluster("b", { isLeaving: true })], []],
      "The only SIPCluster is being removed",
    ],
    ["one with a host in trouble", [[WELL]], "1 host is in trouble"],
    ["trouble of both kinds", [], "1 of 2 SIPClusters needs attention, and 1 host is in trouble"],
    [
      "one that is ready, with a note",
      [[WELL, toSipCluster("close", { notes: ["two in a rack"] })], []],
      "1 of 2 SIPClusters needs attention",
    ],
  ])("of %s says it in the heading", async (_title, args, expected) => {
    expect(findHeading(await readPage(show(...args), LIST))).toBe(expected);
  });

  test("shows clusters in trouble first, and why they lack hosts", async () => {
    const note = toSipCluster("close", { notes: ["The same rack=r1 have metal3/h-1, h-2"] });
    const html = await readPage(show([WELL, note, SHORT]), LIST);
    expect(listRows(html)).toEqual(["tenants/close", "tenants/short", "tenants/well"]);
    expect(html).toContain("Worker: want 2, have 1, eligible 1");
    expect(html).toContain("refused: 1 paused");
    expect(html).toContain("The same rack=r1 have metal3/h-1, h-2");
    expect(html).toContain('<span class="mark s-differs">ready</span>');
  });

  test("shows hosts in trouble before all others", async () => {
    const html = await readPage(show(), LIST);
    const [, table = ""] = html.split("Hosts in trouble");
    expect(table.indexOf("metal3/h-6")).toBeLessThan(table.indexOf("h-1"));
    expect(html.indexOf("h-6<i>")).toBeLessThan(html.indexOf("h-1<i>"));
    const well = await readPage(show([WELL], HOSTS.slice(0, 5)), LIST);
    expect(well).not.toContain("Hosts in trouble");
  });

  test("shows each rack with its hosts, who has them and why not", async () => {
    const html = await readPage(show(), LIST);
    expect(listRacks(html)).toEqual(["r1", "r2", "No rack"]);
    for (const text of [
      ">1 standby<",
      "h-1<i>tenants/well · ControlPlane</i>",
      "h-2<i>tenants/well · Worker, taken</i>",
      "h-3<i>tenants/well · Worker, standby</i>",
      "h-4<i>paused</i>",
      ">h-5</span>",
      "h-6<i>tenants/short · Worker, in error</i>",
    ]) {
      expect(html).toContain(text);
    }
  });

  test("sorts racks and hosts as people count", async () => {
    const [host] = HOSTS.slice(4);
    if (host === undefined) throw new Error("there is a free host");
    const hosts = ["x1", "x10", "x2", "x11"].flatMap((rack) =>
      ["h-10", "h-2"].map((name) => ({ ...host, name, places: { [RACK]: rack } })),
    );
    const spread = toSipCluster("a", { topologyKeys: [RACK] });
    const html = await readPage(show([spread], hosts), LIST);
    expect(listRacks(html)).toEqual(["x1", "x2", "x10", "x11"]);
    expect(html.indexOf(">h-2<")).toBeLessThan(html.indexOf(">h-10<"));
  });

  test("groups hosts by another label that clusters use, and by no other", async () => {
    expect(listRacks(await readPage(show(), `${LIST}?by=${encodeURIComponent(SERVER)}`))).toContain(
      "h-3",
    );
    expect(listRacks(await readPage(show(), `${LIST}?by=unknown`))).toContain("r1");
    const plain = [toSipCluster("a", { topologyKeys: [] })];
    expect(listRacks(await readPage(show(plain), LIST))).toEqual(["All hosts"]);
  });

  test("finds clusters and hosts by a text", async () => {
    const clusters = await readPage(show(), `${LIST}?q=SHORT`);
    expect(listRows(clusters)).toEqual(["tenants/short"]);
    expect(clusters).toContain('value="SHORT"');
    const hosts = await readPage(show(), `${LIST}?q=h-5`);
    expect(listRacks(hosts)).toEqual(["No rack"]);
    const none = await readPage(show(), `${LIST}?q=none`);
    expect(findHeading(none)).toBe("No SIPCluster matches");
    expect(none).not.toContain("Hosts in trouble");
  });

  test("names kinds that the API server lacks", async () => {
    const missing = ["a.example.org/v1", "b.example.org/v1"];
    const html = await readPage(show([], [], { missing }), LIST);
    expect(html).toContain("until you install a.example.org/v1 and b.example.org/v1.");
    expect(await readPage(show(), LIST)).not.toContain("CustomResourceDefinition");
    const text = await readData(show([], [], { missing }), `${LIST}?format=text`);
    expect(text).toStartWith("waiting for CustomResourceDefinition a.example.org/v1\n");
  });

  test("of a standby says who leads", async () => {
    const election = { lease: "l", identity: "b", holder: "cp-1_a", isLeading: false };
    const read = (over: Partial<typeof election>): Promise<string> =>
      readPage(show([WELL], [], { missing: [], election: { ...election, ...over } }), LIST);
    expect(await read({})).toContain("The holder of the Lease l does: cp-1_a.");
    expect(await read({ holder: "" })).toContain("there is none now");
    expect(await read({ isLeading: true })).not.toContain("standby.");
  });

  test("is data for programs, and tables for terminals", async () => {
    const { sipclusters, hosts } = JSON.parse(await readData(show(), LIST));
    expect(sipclusters).toMatchObject([{ name: "well", state: "ready" }, { name: "short" }]);
    expect(hosts).toHaveLength(6);
    expect(hosts[3]).toMatchObject({ name: "h-4", trouble: "paused" });
    const text = await readData(show(), `${LIST}?format=text`);
    expect(text).toMatch(/^tenants +short +waiting +1 of 2 Worker, refused: 1 paused +30001 +ok /m);
    expect(text).toMatch(/^metal3\/h-3 +available +tenants\/well +Worker, standby +-/m);
  });
});

describe("the page of one", () => {
  const read = (cluster: SipClusterView): Promise<string> =>
    readPage(show([cluster]), `${LIST}/${cluster.namespace}/${cluster.name}`);

  test("shows what each role lacks, and why not each other host", async () => {
    const html = await read(SHORT);
    expect(html).toContain("Worker: want 2, have 1, eligible 1");
    expect(html).toContain('<td data-label="Refused">1 paused</td>');
    expect(html).toContain('<th scope="row">metal3/h-4</th>');
    expect(html).toContain("in error");
  });

  test("shows hosts with their roles, places and consumers", async () => {
    const html = await read(WELL);
    for (const text of [
      "Worker, standby",
      "rack r1, host h-1",
      "Metal3Machine metal3/well-1",
      "node port 30001",
    ]) {
      expect(html).toContain(text);
    }
    expect(html).not.toContain("Why not the other hosts");
  });

  test("names hosts in the same place", async () => {
    const breaches = [{ topologyKey: RACK, value: "r1", hosts: ["metal3/h-1", "metal3/h-3"] }];
    expect(await read(toSipCluster("well", { breaches }))).toContain("metal3/h-1, metal3/h-3");
  });

  test("shows the first refused hosts of very many", async () => {
    const refused = Array.from({ length: 300 }, (_, at) => ({ host: `m/${at}`, reason: "paused" }));
    const html = await read(toSipCluster("big", { roles: [toRole("Worker", { refused })] }));
    expect(html).toContain("These are the first 200 of 300.");
    expect(html).not.toContain("m/200<");
  });

  test("says the error of a failed attempt, else the condition", async () => {
    const lastReconcile = { at: "2026-01-02T03:04:05Z", outcome: "error", error: "no answer" };
    const html = await read({ ...SHORT, state: "failing", lastReconcile });
    expect(html).toContain('<p class="why soft">no answer</p>');
    expect(html.split("no answer")).toHaveLength(2);
    expect(await read({ ...SHORT, conditions: [] })).toContain("There are not enough hosts");
  });

  test("is data for programs, and tables for terminals", async () => {
    const { name, hosts } = JSON.parse(await readData(show(), `${LIST}/tenants/short`));
    expect([name, hosts]).toMatchObject(["short", [{ name: "h-6", trouble: "in error" }]]);
    const text = await readData(show(), `${LIST}/tenants/short?format=text`);
    expect(text).toMatch(/^Worker +2 +1 +1 +1 paused$/m);
    expect(text).toMatch(/^Ready +False +Unschedulable/m);
  });
});

test("nothing that clusters and hosts say becomes markup", async () => {
  const evil = "<script>";
  const [host] = HOSTS;
  if (host === undefined) throw new Error("there is a host");
  const html = await readPage(
    show(
      [toSipCluster(evil, { namespace: evil })],
      [{ ...host, name: evil, cluster: `${evil}/${evil}`, trouble: evil, consumer: evil }],
    ),
    LIST,
  );
  expect(html.match(/<script>/g)).toHaveLength(1);
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
