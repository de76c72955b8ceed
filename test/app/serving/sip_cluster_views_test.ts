import { expect, test } from "bun:test";
import type { Parts } from "../../../lib/app/parts.ts";
import { listObjectPages } from "../../../lib/app/serving/debug_views.ts";
import { toSipClusterSource } from "../../../lib/app/serving/sip_cluster_views.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { SIP_CLUSTERS } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function choose(): Pick<Parts, "caches" | "controllers" | "groups"> {
  const [definition] = CONTROLLERS;
  if (definition === undefined) throw new Error("there is no controller");
  const objects = new Store({ resource: SIP_CLUSTERS, log: silentLogger });
  const toCluster = (name: string, namespace: string) => ({
    metadata: { name, namespace, uid: `uid-${name}` },
  });
  objects.replace([toCluster("b", "z"), toCluster("a", "y")], "1");
  const clock = new ManualClock();
  const caches = new Caches({ client: new ScriptedKubeClient(clock), clock, log: silentLogger });
  const controllers: Parts["controllers"] = [
    {
      definition: { ...definition, kind: SIP_CLUSTERS },
      controller: {
        run: async () => {},
        objects,
        describe: () => ({ state: "ready" }),
        listHosts: () => [{ key: "m/h", places: {}, state: "available", cluster: "z/b" }],
      },
    },
  ];
  return { caches, controllers, groups: [{ controllers }] };
}

test("toSipClusterSource() lists clusters in order, and hosts by namespace and name", () => {
  const source = toSipClusterSource(choose());
  expect(source?.readServing()).toEqual({ missing: [] });
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", roles: [], lastReconcile: null },
    { namespace: "z", name: "b" },
  ]);
  expect(source?.find("z/b")).toMatchObject({ name: "b" });
  expect(source?.find("z/none")).toBeUndefined();
  expect([...(source?.listHosts() ?? [])]).toMatchObject([
    { namespace: "m", name: "h", state: "available", cluster: "z/b" },
  ]);
});

test("toSipClusterSource() has nothing without a controller that has hosts", () => {
  expect(toSipClusterSource({ ...choose(), groups: [] })).toBeUndefined();
});

test("listObjectPages() leaves SIPClusters to their own pages", () => {
  expect(listObjectPages(choose().controllers)).toEqual([]);
});
