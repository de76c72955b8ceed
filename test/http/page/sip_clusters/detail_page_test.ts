import { expect, test } from "bun:test";
import { renderSipClusterPage } from "../../../../lib/http/page/sip_clusters/detail_page.tsx";
import type { SipClusterView } from "../../../../lib/http/sip_clusters/views.ts";
import { PAGE_NOW } from "../../../support/page/node_views.ts";
import {
  HOSTS,
  RACK,
  SHORT,
  toRole,
  toSipCluster,
} from "../../../support/page/sip_cluster_views.ts";

const FRAME = { base: "../../", places: ["sipClusters"] } as const;

function render(cluster: SipClusterView): Promise<string> {
  const key = `${cluster.namespace}/${cluster.name}`;
  const hosts = HOSTS.filter((host) => host.cluster === key);
  return renderSipClusterPage({ cluster, hosts, nowMs: PAGE_NOW, ...FRAME });
}

test("renderSipClusterPage() shows what each role lacks, and why not each other host", async () => {
  const html = await render(SHORT);
  expect(html).toContain('<p class="soft">Worker: want 2, have 1, eligible 1</p>');
  expect(html).toContain('<td data-label="Refused">1 paused</td>');
  expect(html).toContain('<th scope="row">metal3/h-4</th>');
  expect(html).toContain("in error");
});

test("renderSipClusterPage() shows hosts with their roles, places and consumers", async () => {
  const html = await render(toSipCluster("well"));
  expect(html).toContain("Worker, standby");
  expect(html).toContain("rack r1, host h-1");
  expect(html).toContain("Metal3Machine metal3/well-1");
  expect(html).toContain("node port 30001");
  expect(html).not.toContain("Why not the other hosts");
});

test("renderSipClusterPage() names hosts in the same place", async () => {
  const breaches = [{ topologyKey: RACK, value: "r1", hosts: ["metal3/h-1", "metal3/h-3"] }];
  expect(await render(toSipCluster("well", { breaches }))).toContain("metal3/h-1, metal3/h-3");
});

test("renderSipClusterPage() shows the first refused hosts of very many", async () => {
  const refused = Array.from({ length: 300 }, (_, at) => ({ host: `m/${at}`, reason: "paused" }));
  const html = await render(toSipCluster("big", { roles: [toRole("Worker", { refused })] }));
  expect(html).toContain("These are the first 200 of 300.");
  expect(html).not.toContain("m/200<");
});
