/**
 * The life of clusters of tenants on a simulated API server.
 * @module
 */
import { expect, test } from "bun:test";
import type { SipClusterSpec } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { HOST_LABELS, OAM_NETWORK } from "../../../lib/simulator/metal3/hosts.ts";
import { SipStage } from "../../support/sipcluster/stage.ts";
import { until } from "../../support/nodes/rig.ts";

const RACKS = ["r1", "r2", "r3"].map((name) => ({
  name,
  flavors: { "control-plane": 1, worker: 2 },
}));

function toSpec(controlPlanes: number, workers: number, standby = 0): SipClusterSpec {
  return {
    nodes: {
      ControlPlane: {
        labelSelector: { matchLabels: { [HOST_LABELS.flavor]: "control-plane" } },
        topologyKey: HOST_LABELS.rack,
        count: { active: controlPlanes, standby: 0 },
      },
      Worker: {
        labelSelector: { matchLabels: { [HOST_LABELS.flavor]: "worker" } },
        count: { active: workers, standby },
      },
    },
    services: {
      loadBalancerControlPlane: [{ nodeInterfaceId: OAM_NETWORK, nodePort: 30001 }],
    },
  };
}

test("a cluster gets its hosts and its load balancer, grows, shrinks and goes without a trace", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3, 2, 1));
  await stage.untilCondition("a", "Ready", "True ReconciliationSucceeded");
  expect(stage.listHosts("a")).toHaveLength(6);
  expect(stage.listOwned("services").map(({ metadata }) => metadata.name)).toEqual([
    "loadbalancer-controlplane-a",
  ]);
  stage.change("a", { nodes: { Worker: { count: { active: 5 } } } });
  await stage.untilCondition("a", "Ready", "True ReconciliationSucceeded");
  expect(stage.listHosts("a")).toHaveLength(9);
  stage.change("a", { nodes: { Worker: { count: { active: 1, standby: 0 } } } });
  await stage.untilCondition("a", "Ready", "True ReconciliationSucceeded");
  expect(stage.listHosts("a")).toHaveLength(4);
  stage.kubernetes.objects.delete("sipclusters", { namespace: "tenant", name: "a" });
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listHosts("a")).toEqual([]);
  await until("its objects are gone", () => stage.listOwned("services").length === 0);
});
