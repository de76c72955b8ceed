/**
 * The life of clusters of tenants on a simulated API server.
 * @module
 */
import { expect, test } from "bun:test";
import type { SipClusterSpec } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { ObjectName } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  breakHost,
  changeNetworks,
  createHost,
  HOST_LABELS,
  OAM_NETWORK,
  planHosts,
} from "../../../lib/simulator/metal3/hosts.ts";
import { HOSTS, SipStage, TENANT } from "../../support/sipcluster/stage.ts";
import { until } from "../../support/nodes/rig.ts";

const RACKS = ["r1", "r2", "r3"].map((name) => ({
  name,
  flavors: { "control-plane": 1, worker: 2 },
}));

function toSpec(
  controlPlanes: number,
  workers: number,
  { standby = 0, nodePort = 30001 }: { standby?: number; nodePort?: number } = {},
): SipClusterSpec {
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
      loadBalancerControlPlane: [{ nodeInterfaceId: OAM_NETWORK, nodePort }],
    },
  };
}

const READY = "True ReconciliationSucceeded";
const SHORT = "False Unschedulable";
const HOST_PATH = (name: string): ObjectName => ({ namespace: HOSTS, name });

test("a host that is deleted is replaced, and an Event tells of it", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 1));
  await stage.untilCondition("a", "Ready", READY);
  const { objects } = stage.kubernetes;
  const gone = { namespace: HOSTS, name: "r1-worker-1" };
  expect(stage.listHosts("a")).toEqual(["r1-control-plane-1 ControlPlane", "r1-worker-1 Worker"]);
  objects.patch("baremetalhosts", gone, { metadata: { finalizers: null } });
  objects.delete("baremetalhosts", gone);
  await until("another host has its place", () =>
    stage.listHosts("a").includes("r1-worker-2 Worker"),
  );
  await stage.untilCondition("a", "Ready", READY);
  const says = `BareMetalHost ${HOSTS}/r1-worker-1 was deleted. The cluster does not have it any more`;
  await until("it is told", () => stage.listEvents("a").some((one) => one.includes(says)));
});

test("a cluster gets its hosts and its load balancer, grows, shrinks and goes without a trace", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3, 2, { standby: 1 }));
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toEqual([
    "r1-control-plane-1 ControlPlane",
    "r1-worker-1 Worker",
    "r1-worker-2 Worker",
    "r2-control-plane-1 ControlPlane",
    "r2-worker-1 Worker*",
    "r3-control-plane-1 ControlPlane",
  ]);
  expect(stage.listOwned("services").map(({ metadata }) => metadata.name)).toEqual([
    "loadbalancer-controlplane-a",
  ]);
  expect(stage.read("a")?.status).toMatchObject({
    counts: { Worker: { wanted: 3, active: 2, standby: 1, summary: "3/3" } },
    endpoints: [{ service: "loadBalancerControlPlane", nodePort: 30001 }],
  });
  stage.change("a", { nodes: { Worker: { count: { active: 5 } } } });
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toHaveLength(9);
  stage.change("a", { nodes: { Worker: { count: { active: 1, standby: 0 } } } });
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toHaveLength(4);
  stage.delete("a");
  await until("it is gone", () => stage.read("a") === undefined);
  expect([...stage.listHosts("a"), ...stage.listTaken()]).toEqual([]);
  await until("its objects are gone", () => stage.listOwned("services").length === 0);
});

test("a satisfied cluster writes nothing, also after a restart of the controller", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3, 4));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  await stage.stop();
  const writes = stage.countWrites();
  await stage.run();
  await until("it has looked", () => stage.countReconciles() > 0);
  await stage.untilQuiet();
  expect(stage.countWrites()).toBe(writes);
});

test("nothing is labelled until every role can have all that it wants, and a new host wakes the cluster", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(4, 2));
  const message = await stage.untilCondition("a", "Scheduled", SHORT);
  expect(message).toBe(
    "ControlPlane: want 4, have 0, eligible 3; rejected: 6 not matched by the selector",
  );
  expect(stage.listTaken()).toEqual([]);
  for (const plan of planHosts(HOSTS, [{ name: "r4", flavors: { "control-plane": 1 } }])) {
    createHost(stage.kubernetes.objects, plan);
  }
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toHaveLength(6);
});

test("of two clusters that want the same hosts one gets them all, and the other when they are free", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3, 0));
  await stage.untilCondition("a", "Ready", READY);
  stage.create("b", toSpec(2, 1, { nodePort: 30002 }));
  await stage.untilCondition("b", "Scheduled", SHORT);
  expect(stage.listHosts("b")).toEqual([]);
  stage.delete("a");
  await stage.untilCondition("b", "Ready", READY);
  expect(stage.listHosts("b")).toHaveLength(3);
});

test("hosts in use stay when a cluster shrinks, and are named", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3, 0));
  await stage.untilCondition("a", "Ready", READY);
  for (const rack of ["r1", "r2"]) stage.consume(`${rack}-control-plane-1`);
  stage.change("a", { nodes: { ControlPlane: { count: { active: 1 } } } });
  const message = await stage.untilCondition("a", "ContractionBlocked", "True HostsInUse");
  expect(stage.listHosts("a")).toEqual([
    "r1-control-plane-1 ControlPlane",
    "r2-control-plane-1 ControlPlane",
  ]);
  expect(message).toContain("metal3/r");
  stage.consume("r1-control-plane-1", false);
  stage.consume("r2-control-plane-1", false);
  await stage.untilCondition("a", "ContractionBlocked", "False NothingBlocked");
  expect(stage.listHosts("a")).toHaveLength(1);
});

test("a cluster that is deleted keeps all it has while hosts are in use, unless it is forced", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3, 0));
  await stage.untilCondition("a", "Ready", READY);
  stage.consume("r1-control-plane-1");
  const owned = ["deployments", "services", "secrets"] as const;
  const list = () =>
    owned.map((plural) => stage.listOwned(plural).map(({ metadata }) => metadata.uid));
  const [before, hosts] = [list(), stage.listHosts("a")];
  stage.delete("a");
  const message = await stage.untilCondition("a", "Ready", "False UnableToDecommission");
  expect(message).toContain("metal3/r1-control-plane-1");
  await stage.untilQuiet();
  expect([list(), stage.listHosts("a")]).toEqual([before, hosts]);
  await stage.untilCondition("a", "ServicesReady", "True ServicesAvailable");
  expect(await stage.untilCondition("a", "Scheduled", "False Progressing")).toContain(
    "takes no hosts",
  );
  expect(stage.read("a")?.status?.endpoints).toHaveLength(1);
  // What is kept is also looked after.
  stage.kubernetes.objects.delete("services", {
    namespace: TENANT,
    name: "loadbalancer-controlplane-a",
  });
  await until("the Service is back", () => stage.listOwned("services").length === 1);
  stage.annotate("a", { "landfall.dev/force-release": "true" });
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listTaken()).toEqual([]);
});

test("a cluster that is deleted takes services, then labels when no host is in use any more", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 0));
  await stage.untilCondition("a", "Ready", READY);
  const path = { namespace: HOSTS, name: "r1-control-plane-1", subresource: "status" };
  const setState = (state: string): void =>
    void stage.kubernetes.objects.patch("baremetalhosts", path, {
      status: { provisioning: { state } },
    });
  setState("provisioned");
  stage.delete("a");
  await stage.untilCondition("a", "Ready", "False UnableToDecommission");
  expect(stage.listOwned("services")).toHaveLength(1);
  const allow = stage.kubernetes.faults.deny({ verb: "delete", resource: "deployments" });
  setState("available");
  await until("its Service goes", () => stage.listOwned("services").length === 0);
  await stage.untilCondition("a", "ServicesReady", "False Progressing");
  expect(stage.read("a")?.status?.endpoints).toEqual([]);
  expect(stage.listHosts("a")).toHaveLength(1);
  allow();
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listTaken()).toEqual([]);
});

test("a cluster that Kubernetes deletes in the foreground makes no service again", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 0));
  await stage.untilCondition("a", "Ready", READY);
  stage.consume("r1-control-plane-1");
  const { objects } = stage.kubernetes;
  const path = { namespace: TENANT, name: "a" };
  const finalizers = ["sip.airship.airshipit.org/finalizer", "foregroundDeletion"];
  objects.patch("sipclusters", path, { metadata: { finalizers } });
  stage.delete("a");
  await stage.untilCondition("a", "Ready", "False UnableToDecommission");
  objects.delete("services", { namespace: TENANT, name: "loadbalancer-controlplane-a" });
  await stage.untilQuiet();
  expect(stage.listOwned("services")).toEqual([]);
  expect(stage.listHosts("a")).toHaveLength(1);
});

test("a broken host is replaced, and one without an address on the network is not taken", async () => {
  await using stage = await SipStage.start(RACKS, { "sip-host-error-grace": 1_000 });
  changeNetworks(stage.kubernetes.objects, HOST_PATH("r1-worker-1"), []);
  stage.create("a", toSpec(1, 4));
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).not.toContain("r1-worker-1 Worker");
  breakHost(stage.kubernetes.objects, HOST_PATH("r1-worker-2"), "no power");
  await until("it is replaced", () => !stage.listHosts("a").includes("r1-worker-2 Worker"));
  expect(stage.listHosts("a").filter((host) => host.endsWith("Worker"))).toHaveLength(4);
});

test("a spec that cannot be used changes nothing, and says which field", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 0));
  await stage.untilCondition("a", "Ready", READY);
  stage.change("a", { nodes: { ControlPlane: { count: { active: -1 } } } });
  const message = await stage.untilCondition("a", "Ready", "False InvalidSpec");
  expect(message).toContain("nodes.ControlPlane.count.active");
  expect(stage.listHosts("a")).toHaveLength(1);
  stage.delete("a");
  await until("it is gone", () => stage.read("a") === undefined);
});

test("a cluster that is deleted tries again if other programs change its hosts at the same moment", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 0));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  stage.kubernetes.faults.refuse({
    verb: "patch",
    resource: "baremetalhosts",
    status: 409,
    times: 4,
  });
  stage.delete("a");
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listTaken()).toEqual([]);
});

test("a cluster that is deleted says what the API server refuses", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 0));
  await stage.untilCondition("a", "Ready", READY);
  const allow = stage.kubernetes.faults.deny({ verb: "delete", resource: "deployments" });
  stage.delete("a");
  const message = await stage.untilCondition("a", "Ready", "False UnableToDecommission");
  expect(message).toContain("loadbalancer-controlplane-a");
  allow();
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listTaken()).toEqual([]);
});

test("a host gets labels back that a person removes or changes, and an Event tells of it", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 1));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const labels = { "sip.airshipit.org/cluster-namespace": null };
  stage.kubernetes.objects.patch("baremetalhosts", HOST_PATH("r1-worker-1"), {
    metadata: { labels },
  });
  await until("it has its labels", () => stage.listHosts("a").includes("r1-worker-1 Worker"));
  await stage.untilCondition("a", "Ready", READY);
  await until("it is told", () =>
    stage
      .listEvents("a")
      .some((one) => one.startsWith(`HostUnlabelled BareMetalHost ${HOSTS}/r1-worker-1 `)),
  );
  const stolen = {
    "sip.airshipit.org/cluster-name": "b",
    "sip.airshipit.org/node-type": "Storage",
  };
  stage.kubernetes.objects.patch("baremetalhosts", HOST_PATH("r1-worker-1"), {
    metadata: { labels: stolen },
  });
  await until("it has them again", () => stage.listHosts("a").includes("r1-worker-1 Worker"));
});

test("a shrink is told once, and not as the work of others", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 3));
  await stage.untilCondition("a", "Ready", READY);
  stage.change("a", { nodes: { Worker: { count: { active: 1 } } } });
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const reasons = stage.listEvents("a").map((event) => event.split(" ")[0]);
  expect(reasons.filter((reason) => reason === "HostReleased")).toHaveLength(2);
  expect(reasons).not.toContain("HostUnlabelled");
});

test("a standby label with another value is put right, and a paused host too many is called so", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 2));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const { objects } = stage.kubernetes;
  const readStandby = (): unknown => {
    const { metadata } = Object(objects.get("baremetalhosts", HOST_PATH("r1-worker-1")));
    return metadata.labels["sip.airshipit.org/standby"];
  };
  const labels = { "sip.airshipit.org/standby": "banana" };
  objects.patch("baremetalhosts", HOST_PATH("r1-worker-1"), { metadata: { labels } });
  expect(readStandby()).toBe("banana");
  await until("the label is right", () => readStandby() === undefined);
  await until("it is told", () =>
    stage
      .listEvents("a")
      .some((event) => event.startsWith(`HostUnlabelled BareMetalHost ${HOSTS}/r1-worker-1 `)),
  );
  const annotations = { "baremetalhost.metal3.io/paused": "" };
  objects.patch("baremetalhosts", HOST_PATH("r1-worker-1"), { metadata: { annotations } });
  stage.change("a", { nodes: { Worker: { count: { active: 0 } } } });
  await stage.untilCondition("a", "ContractionBlocked", "True HostsInUse");
  await until("it is told", () =>
    stage.listEvents("a").some((event) => event.endsWith(`${HOSTS}/r1-worker-1 (paused)`)),
  );
});

test("a field of old manifests without an effect is named, and none if all have one", async () => {
  await using stage = await SipStage.start(RACKS);
  const balancer = { nodeInterfaceId: OAM_NETWORK, nodePortRange: { start: 30_003, end: 30_020 } };
  const toServices = (nodePort: number): object => ({
    loadBalancerWorker: [{ ...balancer, nodePort }],
  });
  const { services: _, ...spec } = toSpec(0, 1);
  stage.create("a", { ...spec, services: toServices(30_002) });
  const says = await stage.untilCondition("a", "UnsupportedFields", "True FieldsWithoutMeaning");
  expect(says).toContain("spec.services.loadBalancerWorker[0].nodePort");
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.read("a")?.status?.endpoints).toHaveLength(18);
  stage.change("a", { services: toServices(30_003) });
  await stage.untilCondition("a", "UnsupportedFields", "False AllFieldsUsed");
});
