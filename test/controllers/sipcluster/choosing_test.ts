/**
 * Which hosts a cluster takes, gives back and replaces, where several would do.
 * @module
 */
import { expect, test } from "bun:test";
import type { SipClusterSpec } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { ObjectName } from "../../../lib/simulator/kubernetes/mod.ts";
import { OAM_NETWORK, patchHostStatus } from "../../../lib/simulator/metal3/hosts.ts";
import { until } from "../../support/nodes/rig.ts";
import { HOSTS, SipStage } from "../../support/sipcluster/stage.ts";

const RACKS = ["r1", "r2"].map((name) => ({ name, flavors: { worker: 3 } }));
const READY = "True ReconciliationSucceeded";

function toSpec(active: number): SipClusterSpec {
  const services = {
    loadBalancerControlPlane: [{ nodeInterfaceId: OAM_NETWORK, nodePort: 30001 }],
  };
  return { nodes: { Worker: { count: { active, standby: 0 } } }, services };
}

const toPath = (name: string): ObjectName => ({ namespace: HOSTS, name });

function label(
  { kubernetes }: SipStage,
  name: string,
  labels: Record<string, string | null>,
): void {
  kubernetes.objects.patch("baremetalhosts", toPath(name), { metadata: { labels } });
}

function setState({ kubernetes }: SipStage, name: string, state: string | null): void {
  patchHostStatus(kubernetes.objects, toPath(name), { provisioning: { state } });
}

const REUSE = "infrastructure.cluster.x-k8s.io/node-reuse";

test("hosts that Cluster API reserves are taken last, and given back last", async () => {
  await using stage = await SipStage.start(RACKS);
  for (const name of ["r1-worker-1", "r1-worker-3"]) label(stage, name, { [REUSE]: "workers" });
  await stage.untilQuiet();
  stage.create("a", toSpec(2));
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toEqual(["r1-worker-2 Worker", "r2-worker-1 Worker"]);
  label(stage, "r2-worker-1", { [REUSE]: "workers" });
  await stage.untilQuiet();
  stage.change("a", { nodes: { Worker: { count: { active: 1 } } } });
  await until("one is given back", () => stage.listHosts("a").length === 1);
  expect(stage.listHosts("a")).toEqual(["r2-worker-1 Worker"]);
  stage.change("a", { nodes: { Worker: { count: { active: 6 } } } });
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toHaveLength(6);
});

const UNUSABLE = "(not for Cluster API)";

test("hosts that can be installed are taken first, and those that never can only if they are labelled", async () => {
  await using stage = await SipStage.start(RACKS);
  setState(stage, "r1-worker-1", "unmanaged");
  setState(stage, "r1-worker-2", "externally provisioned");
  setState(stage, "r1-worker-3", null);
  await stage.untilQuiet();
  stage.create("a", toSpec(1));
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toEqual(["r2-worker-1 Worker"]);
  stage.change("a", { nodes: { Worker: { count: { active: 4 } } } });
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toContain("r1-worker-3 Worker");
  stage.change("a", { nodes: { Worker: { count: { active: 5 } } } });
  expect(await stage.untilCondition("a", "Scheduled", "False Unschedulable")).toBe(
    "Worker: want 5, have 4, eligible 0; rejected: " +
      `1 externally provisioned ${UNUSABLE}, 1 unmanaged ${UNUSABLE}`,
  );
  label(stage, "r1-worker-1", { "landfall.dev/without-metal3": "" });
  const message = await stage.untilCondition("a", "Scheduled", "True HostsLabelled");
  expect(stage.listHosts("a")).toContain("r1-worker-1 Worker");
  expect(message).toContain(`Not for Cluster API: ${HOSTS}/r1-worker-1 (unmanaged)`);
});
