/**
 * Which hosts a cluster takes, gives back and replaces, where several would do.
 * @module
 */
import { expect, test } from "bun:test";
import type { SipClusterSpec } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { JsonObject, ObjectName } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  breakHost,
  changeNetworks,
  mendHost,
  OAM_NETWORK,
  patchHostStatus,
} from "../../../lib/simulator/metal3/hosts.ts";
import { until } from "../../support/nodes/rig.ts";
import { HOSTS, SipStage, TENANT } from "../../support/sipcluster/stage.ts";

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

test("a host that metal3 has not seen yet counts as what its spec will make it", async () => {
  await using stage = await SipStage.start([]);
  stage.create("a", { nodes: { Worker: { count: { active: 2 } } }, services: {} });
  await stage.untilCondition("a", "Scheduled", "False Unschedulable");
  const bmc = { address: "redfish://bmc.example.org/1", credentialsName: "bmc" };
  for (const [name, spec] of [
    ["external", { externallyProvisioned: true, bmc }],
    ["unmanaged", {}],
    ["good", { bmc }],
  ] as const) {
    stage.kubernetes.objects.create("baremetalhosts", { metadata: { ...toPath(name) }, spec });
  }
  await until("all were looked at", () => {
    const { conditions = [] } = stage.read("a")?.status ?? {};
    const { message = "" } = conditions.find(({ type }) => type === "Scheduled") ?? {};
    return [
      "eligible 1",
      "1 unmanaged (not for Cluster API)",
      "1 externally provisioned (not for Cluster API)",
    ].every((words) => message.includes(words));
  });
  label(stage, "external", { "landfall.dev/without-metal3": "" });
  await until("it has two", () => stage.listHosts("a").length === 2);
  expect(stage.listHosts("a")).toEqual(["external Worker", "good Worker"]);
});

/** Since when the status says that a host is in error. */
function findErrorSince(stage: SipStage, name: string): string | undefined {
  return stage.read("a")?.status?.hosts?.find((host) => host.name === name)?.errorSince;
}

test("an error that passes replaces no host, and a status that says so goes", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3));
  await stage.untilCondition("a", "Ready", READY);
  const before = stage.listHosts("a");
  breakHost(stage.kubernetes.objects, toPath("r1-worker-1"), "the BMC does not answer");
  await until("it is noted", () => findErrorSince(stage, "r1-worker-1") !== undefined);
  const told = `In error, and replaced if that lasts: ${HOSTS}/r1-worker-1`;
  const readMessage = (): Promise<string> =>
    stage.untilCondition("a", "Scheduled", "True HostsLabelled");
  // The status has it before the condition.
  await until("it is told", async () => (await readMessage()).includes(told));
  mendHost(stage.kubernetes.objects, toPath("r1-worker-1"));
  await until("it is mended", () => findErrorSince(stage, "r1-worker-1") === undefined);
  await stage.untilQuiet();
  expect(stage.listHosts("a")).toEqual(before);
  expect(stage.listEvents("a").filter((one) => one.startsWith("HostReleased"))).toEqual([]);
});

test("errors that last replace one host at a time, also of a controller that starts later", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3));
  await stage.untilCondition("a", "Ready", READY);
  const before = stage.listHosts("a");
  for (const name of ["r1-worker-1", "r1-worker-2", "r1-worker-3"])
    breakHost(stage.kubernetes.objects, toPath(name), "the BMC does not answer");
  await until("all are noted", () => before.every((one) => isNoted(stage, one)));
  await stage.stop();
  expect(stage.listHosts("a")).toEqual(before);
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const hosts = stage.read("a")?.status?.hosts?.map((host) => ({ ...host, errorSince: hourAgo }));
  const path = { namespace: TENANT, name: "a", subresource: "status" };
  stage.kubernetes.objects.patch("sipclusters", path, { status: { hosts } } as JsonObject);
  await stage.run();
  await until("one is replaced", () => !stage.listHosts("a").includes("r1-worker-1 Worker"));
  await stage.untilQuiet();
  expect(stage.listHosts("a")).toEqual([
    "r1-worker-2 Worker",
    "r1-worker-3 Worker",
    "r2-worker-1 Worker",
  ]);
  const restarted = Date.parse(findErrorSince(stage, "r1-worker-2") ?? "");
  expect(Date.now() - restarted).toBeLessThan(60_000);
});

test("an error of a time that is to come begins now", async () => {
  await using stage = await SipStage.start(RACKS, { "sip-host-error-grace": 1_000 });
  stage.create("a", toSpec(1));
  await stage.untilCondition("a", "Ready", READY);
  await stage.stop();
  const errorSince = "2100-01-01T00:00:00Z";
  const hosts = stage.read("a")?.status?.hosts?.map((host) => ({ ...host, errorSince }));
  const path = { namespace: TENANT, name: "a", subresource: "status" };
  stage.kubernetes.objects.patch("sipclusters", path, { status: { hosts } } as JsonObject);
  breakHost(stage.kubernetes.objects, toPath("r1-worker-1"), "the BMC does not answer");
  await stage.run();
  await until("it is replaced", () => stage.listHosts("a")[0] === "r1-worker-2 Worker");
});

function isNoted(stage: SipStage, host: string): boolean {
  return findErrorSince(stage, host.replace(" Worker", "")) !== undefined;
}

test("a host in error is the first to be given back, and is not taken for another role", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(3));
  await stage.untilCondition("a", "Ready", READY);
  breakHost(stage.kubernetes.objects, toPath("r1-worker-1"), "the BMC does not answer");
  await until("it is noted", () => findErrorSince(stage, "r1-worker-1") !== undefined);
  const count = (active: number): object => ({ count: { active, standby: 0 } });
  stage.change("a", { nodes: { Worker: count(2), ControlPlane: count(1) } });
  await until("it is given back", () => !stage.listHosts("a").includes("r1-worker-1 Worker"));
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toEqual([
    "r1-worker-2 Worker",
    "r1-worker-3 Worker",
    "r2-worker-1 ControlPlane",
  ]);
});

test("hosts with the address of another one are taken only if no other is free, and that is told", async () => {
  await using stage = await SipStage.start([{ name: "r1", flavors: { worker: 4 } }]);
  const { objects } = stage.kubernetes;
  const address = "10.23.1.1";
  for (const name of ["r1-worker-2", "r1-worker-3"])
    changeNetworks(objects, toPath(name), [{ id: OAM_NETWORK, address }]);
  stage.create("a", toSpec(1));
  await stage.untilCondition("a", "Ready", READY);
  stage.change("a", { nodes: { Worker: { count: { active: 2 } } } });
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toEqual(["r1-worker-1 Worker", "r1-worker-4 Worker"]);
  stage.change("a", { nodes: { Worker: { count: { active: 3 } } } });
  const message = await stage.untilCondition("a", "ServicesReady", "True AddressConflict");
  const twins = `${HOSTS}/r1-worker-1, ${HOSTS}/r1-worker-2`;
  const says = `hosts have the same address: ${address} on network "${OAM_NETWORK}" (${twins})`;
  expect(message).toContain(says);
  await until("it is told", () =>
    stage.listEvents("a").some((one) => one.startsWith(`AddressConflict hosts: ${says}`)),
  );
  expect(stage.listEvents("a").filter((one) => one.startsWith("NetworkDataMissing"))).toEqual([]);
});
