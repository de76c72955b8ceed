import { expect, test } from "bun:test";
import type { KubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { type FakeProvider, toInstance } from "../../support/cloud/instances.ts";
import { INSTANCE, toProvider } from "../../support/nodes/node_cloud.ts";
import { type NodeOptions, toRegistration } from "../../support/nodes/nodes.ts";
import { type Rig, startRig, until } from "../../support/nodes/rig.ts";
import { PACE } from "../../support/paced_clock.ts";

const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
/** Everything as by default but the pace. */
const QUICK = {
  controllers: ["cloud-node-lifecycle"],
  monitorPeriodMs: 20 * PACE,
  deletion: { holdOffMs: 50 * PACE },
};

/** A cloud that is listed every 20 ms at the soonest; the source itself keeps a second between two lists. */
function toQuickProvider(...names: readonly string[]): ReturnType<typeof toProvider> {
  const provider = toProvider(...names);
  provider.refreshIntervalMs = 20;
  return provider;
}

function register(kubernetes: KubernetesSimulator, name: string, options: NodeOptions = {}): void {
  const usual = { providerId: `test://${name}`, uninitialized: false, ready: "True" };
  const node = toRegistration(name, { ...usual, ...options });
  kubernetes.objects.createNode(node);
  kubernetes.objects.patchNodeStatus(name, node["status"] ?? {});
}

function setReady(rig: Rig, name: string, status: string): void {
  const conditions = [{ type: "Ready", status }];
  rig.kubernetes.objects.patchNodeStatus(name, { conditions });
}

function listTaints(rig: Rig, name: string): (string | undefined)[] {
  return (rig.readNode(name)?.spec?.taints ?? []).map(({ key }) => key);
}

/** A machine that was never seen is not missed for long: waits until all are, and were looked at. */
async function untilSeen(rig: Rig, provider: FakeProvider, count: number): Promise<void> {
  const known = `landfall_instances{presence="present"} ${count}`;
  await until("they are known", () => rig.metrics.render().includes(known));
  const { lists } = provider;
  await until("they are looked at", () => provider.lists >= lists + 3);
}

test("L-01 L-02 a Node whose machine is gone is deleted over HTTP, others stay", async () => {
  const provider = toQuickProvider("a", "b", "c");
  await using rig = await startRig({ provider, ...QUICK });
  for (const name of ["a", "b", "c"]) register(rig.kubernetes, name);
  await untilSeen(rig, provider, 3);
  provider.instances.delete("a");
  setReady(rig, "a", "Unknown");
  setReady(rig, "b", "Unknown");
  await until("it is deleted", () => rig.readNode("a") === undefined);
  await until("that is told", () => rig.listEvents("a", "DeletingNode").length === 1);
  expect([rig.readNode("b"), rig.readNode("c")]).not.toContain(undefined);
  const [event] = rig.listEvents("a", "DeletingNode");
  expect(event).toMatchObject({
    type: "Normal",
    source: { component: "cloud-node-lifecycle-controller" },
    involvedObject: { kind: "Node", name: "a" },
  });
  expect(rig.kubernetes.requests.count({ verb: "delete" })).toBe(1);
});

test("L-06 L-07 the shutdown taint comes and goes over HTTP, others stay", async () => {
  const provider = toQuickProvider();
  provider.instances.set("a", toInstance("a", { ...INSTANCE, state: "stopped" }));
  await using rig = await startRig({ provider, ...QUICK });
  const taints = [{ key: "example.com/mine", effect: "NoSchedule" }];
  register(rig.kubernetes, "a", { ready: "Unknown", taints });
  await until("it is tainted", () => listTaints(rig, "a").includes(SHUTDOWN));
  expect(listTaints(rig, "a")).toEqual(["example.com/mine", SHUTDOWN]);
  setReady(rig, "a", "True");
  await until("the taint is gone", () => !listTaints(rig, "a").includes(SHUTDOWN));
  expect(listTaints(rig, "a")).toEqual(["example.com/mine"]);
  expect(rig.kubernetes.requests.count({ verb: "patch", resource: "nodes" })).toBe(2);
});

test.each([403, 404, 500])("L-11 a DELETE refused with %d is tried again", async (status) => {
  const provider = toQuickProvider("a", "b", "c");
  await using rig = await startRig({ provider, ...QUICK });
  rig.kubernetes.faults.refuse({ verb: "delete", name: "a", status, times: 1 });
  for (const name of ["a", "b", "c"]) register(rig.kubernetes, name);
  await untilSeen(rig, provider, 3);
  provider.instances.delete("a");
  setReady(rig, "a", "Unknown");
  await until("it is deleted", () => rig.readNode("a") === undefined);
  expect(rig.kubernetes.requests.count({ verb: "delete", name: "a" })).toBe(2);
  // Both attempts are one Event with a count, written after whatever was told between them.
  await until("that is told", () => rig.listEvents("a", "DeletingNode")[0]?.count === 2);
  const failed = rig.listEvents("a", "DeletingNodeFailed");
  expect(failed.map(({ type }) => type)).toEqual(status === 404 ? [] : ["Warning"]);
});

test("L-12 a conflict over HTTP is read again and loses nobody's taint", async () => {
  const provider = toQuickProvider();
  provider.instances.set("a", toInstance("a", { ...INSTANCE, state: "stopped" }));
  await using rig = await startRig({ provider, ...QUICK });
  register(rig.kubernetes, "a");
  await until("it is known", () => rig.metrics.render().includes('{presence="present"} 1'));
  const patches = { verb: "patch", name: "a" };
  const endRefusals = rig.kubernetes.faults.refuse({ ...patches, status: 409 });
  setReady(rig, "a", "Unknown");
  await until("it met the conflict", () => rig.kubernetes.requests.count(patches) > 0);
  const taints = [{ key: "example.com/mine", effect: "NoSchedule" }];
  rig.kubernetes.objects.patchNode("a", { spec: { taints } });
  endRefusals();
  await until("it is tainted", () => listTaints(rig, "a").includes(SHUTDOWN));
  expect(listTaints(rig, "a")).toEqual(["example.com/mine", SHUTDOWN]);
  expect(rig.kubernetes.requests.count(patches)).toBeGreaterThanOrEqual(2);
  await until("that is told", () => rig.listEvents("a").length > 0);
  const told = rig.listEvents("a").map(({ reason, count }) => [reason, count]);
  expect(told).toEqual([["ShutdownTaintSet", 1]]);
});

test("all controllers that write one Node come to an end, and lose nothing of each other", async () => {
  const provider = toQuickProvider();
  const controllers = ["cloud-node", "cloud-node-label-sync", "cloud-node-lifecycle"];
  const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
  for (const name of names) {
    provider.instances.set(name, toInstance(name, { ...INSTANCE, state: "stopped" }));
  }
  await using rig = await startRig({ provider, ...QUICK, controllers });
  for (const name of names) rig.kubernetes.objects.createNode(toRegistration(name));
  await until("they are initialised and tainted", () =>
    names.every((name) => String(listTaints(rig, name)) === SHUTDOWN),
  );
  // The machines move and start at once: labels, taints and addresses change together.
  const toAddress = (name: string): string => `10.1.0.${name.slice(1)}`;
  for (const name of names) {
    const addresses = [{ type: "InternalIP", address: toAddress(name) }] as const;
    provider.instances.set(name, toInstance(name, { ...INSTANCE, zone: "z2", addresses }));
    setReady(rig, name, "True");
  }
  await until("labels, taints and addresses are right", () =>
    names.every((name) => {
      const { metadata, status } = rig.readNode(name) ?? {};
      return (
        listTaints(rig, name).length === 0 &&
        metadata?.labels?.["topology.kubernetes.io/zone"] === "z2" &&
        status?.addresses?.[0]?.address === toAddress(name)
      );
    }),
  );
});
