/**
 * A small cloud from beginning to end: the real controller, an inventory file, and Nodes that join.
 * @module
 */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { type NodeOptions, toRegistration } from "../../support/nodes/nodes.ts";
import { type Rig, startRig, until } from "../../support/nodes/rig.ts";
import { PACE, PacedClock } from "../../support/paced_clock.ts";
import {
  CLOUDLYCKE,
  startStaticCloudOn,
  type StaticCloud,
} from "../../support/cloud/static_cloud.ts";

// Longer than until() waits, which says what it waited for.
setDefaultTimeout(20_000);

let cloud: StaticCloud<PacedClock>;
let rig: Rig;

beforeEach(async () => {
  const text = await readFile(CLOUDLYCKE, "utf8");
  const eager = text.replace("refreshInterval: 10s", "refreshInterval: 1s");
  const clock = new PacedClock(PACE);
  cloud = await startStaticCloudOn(clock, eager);
  rig = await startRig({ provider: cloud.provider, clock });
});
afterEach(async () => {
  await rig[Symbol.asyncDispose]();
  await cloud.stop();
});

function join(name: string, options: NodeOptions = {}): void {
  rig.kubernetes.objects.createNode(toRegistration(name, options));
}

async function untilSynced(name: string): Promise<void> {
  await until(`${name} is initialised`, () => rig.listEvents(name, "Synced").length === 1);
}

/** Writes machines of this name into the file, all at once. */
function addInstances(name: string, ...ids: readonly string[]): Promise<void> {
  const entries = ids.map((id) => `  - { id: ${id}, name: ${name}, type: vbox.vm.1g.2cpu }\n`);
  return cloud.edit((text) => `${text}\n${entries.join("")}`);
}

test("a Node that joins loses its taint and gets the labels and addresses of its machine", async () => {
  join("node-c2-1", { addresses: [] });
  await untilSynced("node-c2-1");
  const node = rig.readNode("node-c2-1");
  expect(node?.spec?.taints ?? []).toEqual([]);
  expect(node?.spec?.providerID).toBe("cloudlycke://n-c2-1");
  expect(node?.metadata.labels).toEqual({
    "node.kubernetes.io/instance-type": "vbox.vm.1g.2cpu",
    "beta.kubernetes.io/instance-type": "vbox.vm.1g.2cpu",
    "topology.kubernetes.io/zone": "virtualbox",
    "failure-domain.beta.kubernetes.io/zone": "virtualbox",
    "topology.kubernetes.io/region": "virtualbox",
    "failure-domain.beta.kubernetes.io/region": "virtualbox",
    "example.com/rack": "1",
  });
  // An inventory file is taken at its word: whoever writes one address down twice means both types.
  expect(node?.status?.addresses).toEqual([
    { type: "InternalIP", address: "192.168.20.11" },
    { type: "ExternalIP", address: "192.168.20.11" },
    { type: "Hostname", address: "node-c2-1" },
  ]);
});

test("an annotated node IP keeps both its types", async () => {
  join("node-c2-1", { nodeIp: "192.168.20.11" });
  await untilSynced("node-c2-1");
  const addresses = rig.readNode("node-c2-1")?.status?.addresses ?? [];
  expect(addresses.map(({ type }) => type)).toEqual(["InternalIP", "ExternalIP", "Hostname"]);
});

test("a Node that joins with its provider ID is found by it, whatever it is called", async () => {
  join("worker", { providerId: "cloudlycke://n-c2-1" });
  await untilSynced("worker");
  expect(rig.readNode("worker")?.spec?.providerID).toBe("cloudlycke://n-c2-1");
  expect(rig.readNode("worker")?.status?.addresses?.[0]?.address).toBe("192.168.20.11");
});

test("a Node is found by its system UUID in any case", async () => {
  join("renamed", { systemUuid: "5c1f6d0e-6b0e-4d51-9b1c-2d2e6e9a0c21" });
  await untilSynced("renamed");
  expect(rig.readNode("renamed")?.spec?.providerID).toBe("cloudlycke://m-c2-1");
});

test("C-01 a provider ID with its prefix twice is read, and stays as it is", async () => {
  join("worker", { providerId: "cloudlycke://cloudlycke://n-c2-1" });
  await untilSynced("worker");
  const node = rig.readNode("worker");
  expect(node?.spec?.providerID).toBe("cloudlycke://cloudlycke://n-c2-1");
  expect(node?.metadata.labels?.["node.kubernetes.io/instance-type"]).toBe("vbox.vm.1g.2cpu");
});

test("a machine that is written down late is found without a restart", async () => {
  join("late");
  await until("an Event says what is missing", () => {
    const [event] = rig.listEvents("late", "NodeInitializationFailed");
    return event?.message?.includes('lists none with the name "late"');
  });
  await addInstances("late", "l-1");
  await untilSynced("late");
  expect(rig.readNode("late")?.spec?.providerID).toBe("cloudlycke://l-1");
});

test("C-05 two machines with one name are told apart by nobody: the Node waits and an Event says why", async () => {
  await addInstances("twin", "t-1", "t-2");
  join("twin");
  join("node-c2-1");
  await until("an Event names both", () =>
    rig.listEvents("twin", "NodeInitializationFailed").some(({ type, message = "" }) => {
      return type === "Warning" && message.includes("t-1, t-2");
    }),
  );
  await untilSynced("node-c2-1");
  const twin = rig.readNode("twin");
  expect(twin?.spec?.providerID).toBeUndefined();
  expect(twin?.spec?.taints).toHaveLength(1);
  expect(rig.listEvents("twin", "Synced")).toEqual([]);
});

test("a file that was broken leaves the last good inventory in use, until it is mended", async () => {
  const good = await readFile(cloud.path, "utf8");
  await until("an inventory was taken", () => rig.metrics.render().includes('result="ok"'));
  await cloud.write("instances: 7\nrefreshInterval: soon\n");
  await until("the broken file was seen", () => rig.metrics.render().includes('result="protocol"'));
  join("node-c2-1");
  join("late");
  await untilSynced("node-c2-1");
  await until("an Event says what is wrong with the file", () =>
    rig
      .listEvents("late")
      .some(({ message = "" }) =>
        message.includes(`last good one stays in use): ${cloud.path}:1:`),
      ),
  );
  // Both mistakes are in one line, without signs for line breaks.
  for (const { message } of rig.listEvents("late")) expect(message).not.toMatch(/\n|\\u000a/);
  await cloud.write(`${good}\n  - { id: l-1, name: late }\n`);
  await untilSynced("late");
});
