/**
 * When labels and addresses of Nodes are written, by which settings, on a simulated Xen Orchestra and Kubernetes.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import {
  FIRST_HOST,
  FULL_PASS_MS,
  HOST,
  LabelRig,
  REFRESH_MS,
} from "../../support/nodes/label_rig.ts";
import { toProvider } from "../../support/nodes/node_cloud.ts";
import { toNode, toRegistration } from "../../support/nodes/nodes.ts";
import { startRig, until } from "../../support/nodes/rig.ts";
import { BETA_ZONE, LabelStage, ZONE } from "../../support/nodes/label_stage.ts";

const TYPE = "node.kubernetes.io/instance-type";

test("NodeLabelController writes with the planned version, and not again before the watch shows it", async () => {
  await using rig = await LabelRig.start("a", "h1");
  const version = rig.server.find("a")?.metadata.resourceVersion;
  rig.server.isWatchHeld = true;
  rig.provider.place("a", "h2");
  await rig.clock.advance(FULL_PASS_MS + REFRESH_MS);
  expect(rig.server.writes.map(({ body }) => body["metadata"])).toEqual([
    expect.objectContaining({ resourceVersion: version }),
  ]);
});

test("NodeLabelController says of a machine that is left to another Landfall, and again after a while", async () => {
  await using rig = new LabelRig();
  const find = rig.provider.findInstance.bind(rig.provider);
  rig.provider.findInstance = (...asked) => {
    const presence = find(...asked);
    return presence.kind === "present" ? { ...presence, caution: "it is elsewhere" } : presence;
  };
  await rig.settle("a", "h1");
  const said = "a: Warning NodeMachineOutOfScope it is elsewhere";
  expect(rig.events).toEqual([said]);
  for (const host of ["h2", "h1"]) {
    rig.provider.place("a", host);
    await rig.clock.advance(REFRESH_MS);
  }
  expect(rig.events.filter((event) => event === said)).toHaveLength(1);
  await rig.clock.advance(2 * FULL_PASS_MS);
  expect(rig.events.filter((event) => event === said).length).toBeGreaterThan(1);
});

test("NodeLabelController tells nothing of a refused write, and all of it once one is taken", async () => {
  await using rig = await LabelRig.start("a", "h1");
  rig.refusal = new KubeError("unavailable", "the API server is not well");
  rig.provider.place("a", "h2");
  await rig.clock.advance(REFRESH_MS);
  expect(rig.server.writes.length).toBeGreaterThan(0);
  expect(rig.events).toEqual([]);
  expect(rig.labels("a")).toMatchObject({ [ZONE]: "h1", [HOST]: "h1" });
  rig.refusal = undefined;
  await rig.clock.advance(REFRESH_MS);
  expect(rig.writes).toHaveLength(1);
  expect(rig.labels("a")[FIRST_HOST]).toBe("h1");
  expect(rig.events).toHaveLength(1);
});

test("NodeLabelController sees by memory that a machine started elsewhere, and nothing when it did not", async () => {
  await using rig = await LabelRig.start("a", "h1");
  for (const host of [undefined, "h1", undefined]) {
    rig.provider.place("a", host);
    await rig.clock.advance(REFRESH_MS);
  }
  expect([rig.writes, rig.events]).toEqual([[], []]);
  // While it does not run nobody else can tell where it was: both labels are edited alike.
  await rig.edit("a", { [BETA_ZONE]: "mine", [HOST]: "mine" });
  rig.provider.place("a", "h2");
  await rig.clock.advance(REFRESH_MS);
  expect(rig.labels("a")).toMatchObject({ [ZONE]: "h2", [FIRST_HOST]: "h1" });
  expect(rig.events).toEqual([
    "a: Warning NodeZoneChanged The zone of the machine changed: old=h1, new=h2",
  ]);
});

test("NodeLabelController finds in a full pass what no difference told", async () => {
  await using rig = new LabelRig();
  const find = rig.provider.findInstance.bind(rig.provider);
  rig.provider.findInstance = () => ({
    kind: "unknown",
    reason: "notCovered",
    message: "",
  });
  rig.provider.place("a", "h1");
  await rig.clock.advance(0);
  rig.server.put(toNode("a", { providerId: "test://a", uninitialized: false }));
  await rig.clock.advance(0);
  rig.provider.findInstance = find;
  await rig.clock.advance(FULL_PASS_MS - 1);
  expect(rig.writes).toEqual([]);
  await rig.clock.advance(1);
  expect(rig.labels("a")[ZONE]).toBe("h1");
});

test("NodeLabelController decides nothing before the first inventory, and then about every Node", async () => {
  const inventory = Promise.withResolvers<void>();
  await using rig = new LabelRig(inventory.promise);
  rig.provider.place("a", "h1");
  for (const name of ["a", "b"]) {
    const labels = { [BETA_ZONE]: "mine", [ZONE]: "h1" };
    rig.server.put(toNode(name, { providerId: `test://${name}`, uninitialized: false, labels }));
  }
  await rig.clock.advance(0);
  expect(rig.server.writes).toEqual([]);
  inventory.resolve();
  await rig.clock.advance(0);
  // Of the second nothing is listed, so its beta label counts.
  expect(rig.labels("a")).toMatchObject({ [ZONE]: "h1", [BETA_ZONE]: "h1" });
  expect(rig.labels("b")).toMatchObject({ [ZONE]: "mine", [BETA_ZONE]: "mine" });
  expect(rig.events).toEqual([]);
});

test("NodeLabelController looks again after each refresh at a Node that no inventory was asked for yet", async () => {
  await using rig = new LabelRig();
  const find = rig.provider.findInstance.bind(rig.provider);
  rig.provider.findInstance = () => ({ kind: "unknown", reason: "noInventory", message: "" });
  await rig.clock.advance(0);
  const labels = { [BETA_ZONE]: "mine" };
  rig.server.put(toNode("a", { providerId: "test://a", uninitialized: false, labels }));
  await rig.clock.advance(REFRESH_MS);
  expect(rig.writes).toEqual([]);
  rig.provider.findInstance = find;
  await rig.clock.advance(REFRESH_MS);
  expect(rig.writes).toEqual([{ [ZONE]: "mine" }]);
});

test("NodeLabelController remembers nothing of a Node that came again under its name", async () => {
  await using rig = await LabelRig.start("a", "h1");
  rig.provider.place("a", undefined);
  await rig.clock.advance(REFRESH_MS);
  const options = { providerId: "test://a", uninitialized: false, resourceVersion: "2000" };
  const node = toNode("a", options);
  rig.server.put({ ...node, metadata: { ...node.metadata, uid: "another" } });
  await rig.clock.advance(0);
  rig.provider.place("a", "h2");
  await rig.clock.advance(REFRESH_MS);
  expect(rig.labels("a")[HOST]).toBe("h2");
  expect(rig.labels("a")).not.toContainKey(FIRST_HOST);
  expect(rig.events).toEqual([]);
});

test("NodeLabelController forgets a Node that is gone, and who fought over its labels", async () => {
  await using rig = await LabelRig.start("a", "h1");
  for (let round = 0; round < 6; round += 1) await rig.edit("a", { [TYPE]: "mine" });
  expect(rig.labels("a")[TYPE]).toBe("mine");
  rig.provider.place("a", undefined);
  await rig.clock.advance(REFRESH_MS - 1);
  rig.server.remove("a");
  await rig.clock.advance(1);
  // The same UID, which never happens: only what was forgotten can make it a stranger.
  const options = { providerId: "test://a", uninitialized: false, resourceVersion: "2001" };
  rig.server.put(toNode("a", options));
  await rig.clock.advance(0);
  await rig.edit("a", { [TYPE]: "mine" });
  expect(rig.labels("a")[TYPE]).toBe("t");
  rig.provider.place("a", "h2");
  await rig.clock.advance(REFRESH_MS);
  expect(rig.labels("a")[HOST]).toBe("h2");
  expect(rig.labels("a")).not.toContainKey(FIRST_HOST);
});

test("NodeLabelController puts labels back five times a minute at most, and says so once", async () => {
  await using rig = await LabelRig.start("a", "h1");
  for (let second = 0; second < 115; second += 1) {
    if (rig.labels("a")[ZONE] === "h1") await rig.edit("a", { [ZONE]: "mine" });
    await rig.clock.advance(1_000);
  }
  expect(rig.writes).toHaveLength(10);
  expect(rig.events).toEqual([
    expect.stringMatching(
      /^a: Warning NodeLabelsContested .* 5 times .*: topology\.kubernetes\.io\/zone$/,
    ),
  ]);
  // Once the other has given up, the label is right within a minute.
  await rig.clock.advance(60_000);
  expect(rig.labels("a")[ZONE]).toBe("h1");
});

test("NodeLabelController follows the machine at once, though somebody fights over its labels", async () => {
  await using rig = await LabelRig.start("a", "h1");
  for (let round = 0; round < 6; round += 1) await rig.edit("a", { [TYPE]: "mine" });
  expect(rig.labels("a")[TYPE]).toBe("mine");
  rig.provider.place("a", "h2");
  await rig.clock.advance(REFRESH_MS);
  expect(rig.labels("a")).toMatchObject({ [ZONE]: "h2", [BETA_ZONE]: "h2", [HOST]: "h2" });
});

test("NodeLabelController follows a machine that moves ten times a minute, and blames nobody", async () => {
  await using rig = new LabelRig();
  rig.provider.refreshIntervalMs = 1_000;
  await rig.settle("a", "h0");
  for (let move = 1; move <= 20; move += 1) {
    rig.provider.place("a", `h${move}`);
    await rig.clock.advance(6_000);
    expect(rig.labels("a")).toMatchObject({ [ZONE]: `h${move}`, [FIRST_HOST]: "h0" });
  }
  // Nor do the moves count against somebody who edits a label after them.
  await rig.edit("a", { [TYPE]: "mine" });
  expect(rig.labels("a")[TYPE]).toBe("t");
  expect(rig.events.filter((event) => event.includes("Contested"))).toEqual([]);
});

test("N-15 an initialised Node gets the stable twin of a beta label, and one that is gone is no failure", async () => {
  const beta = { [BETA_ZONE]: "z" };
  await using rig = await startRig({
    provider: toProvider(),
    controllers: ["cloud-node-label-sync"],
  });
  rig.kubernetes.faults.refuse({ verb: "patch", name: "gone", status: 404 });
  for (const name of ["gone", "a"]) {
    const options = { uninitialized: false, labels: beta, providerId: `test://${name}` };
    rig.kubernetes.objects.createNode(toRegistration(name, options));
  }
  const zone = { ...beta, [ZONE]: "z" };
  await until("the twin is there", () => Bun.deepEquals(rig.readNode("a")?.metadata.labels, zone));
  const notFound =
    'landfall_reconciles_total{controller="cloud-node-label-sync",outcome="notFound"} 1';
  await until("the other was tried", () => rig.metrics.render().includes(notFound));
  expect(rig.metrics.render()).not.toMatch(/outcome="(error|conflict)"/);
  expect(rig.kubernetes.requests.count({ verb: "patch", name: "gone" })).toBe(1);
});

test("N-02 an initialised Node without a provider ID, or of another cloud, keeps its labels", async () => {
  const provider = toProvider("a", "last");
  provider.refreshIntervalMs = 20;
  await using rig = await startRig({ provider, controllers: ["cloud-node-label-sync"] });
  const labels = { [BETA_ZONE]: "mine" };
  const foreign = { uninitialized: false, labels, providerId: "aws:///i-1" };
  rig.kubernetes.objects.createNode(toRegistration("a", { uninitialized: false, labels }));
  rig.kubernetes.objects.createNode(toRegistration("b", foreign));
  rig.kubernetes.objects.createNode(
    toRegistration("last", { uninitialized: false, providerId: "test://last" }),
  );
  await until("the other is right", () => rig.readNode("last")?.metadata.labels?.[ZONE] === "z");
  const { lists } = provider;
  await until("the cloud was listed again", () => provider.lists >= lists + 3);
  for (const name of ["a", "b"]) expect(rig.readNode(name)?.metadata.labels).toEqual(labels);
  expect(rig.kubernetes.requests.count({ verb: "patch", resource: "nodes" })).toBe(1);
});

test("both controllers together write the labels of a new Node once", async () => {
  const names = Array.from({ length: 5 }, (_, at) => `n-${at}`);
  const provider = toProvider(...names);
  provider.refreshIntervalMs = 20;
  for (const [name, instance] of provider.instances) {
    provider.instances.set(name, { ...instance, labels: { "a.b/c": "d" } });
  }
  await using rig = await startRig({
    provider,
    controllers: ["cloud-node", "cloud-node-label-sync"],
    fullPassIntervalMs: 20,
  });
  for (const name of names) rig.kubernetes.objects.createNode(toRegistration(name));
  await until("they are initialised", () =>
    names.every((name) => rig.listEvents(name, "Synced").length === 1),
  );
  const { lists } = provider;
  await until("the cloud was listed again", () => provider.lists >= lists + 5);
  expect(rig.kubernetes.requests.count({ verb: "patch", resource: "nodes" })).toBe(names.length);
  expect(rig.kubernetes.requests.count({ verb: "patch", resource: "nodes/status" })).toBe(
    names.length,
  );
  expect(rig.readNode("n-0")?.metadata.labels).toMatchObject({
    [ZONE]: "z",
    [BETA_ZONE]: "z",
    "a.b/c": "d",
  });
  expect(names.flatMap((name) => rig.listEvents(name)).map(({ reason }) => reason)).toEqual(
    names.map(() => "Synced"),
  );
});

const REGION = "topology.kubernetes.io/region";
const RECORD = "landfall.dev/labels-from-tags";
const RACK = "example.com/rack";
const TAGS = { nodeLabelsFromTags: { prefixes: ["example.com/"] } };
const SHORT_PASS_MS = 40;

function setTags(stage: LabelStage, ...tags: readonly string[]): void {
  stage.cloud.state.setVm(stage.vmId("worker-1"), { tags });
}

function readRecord(stage: LabelStage): string | undefined {
  return stage.rig.readNode("worker-1")?.metadata.annotations?.[RECORD];
}

function editLabel(stage: LabelStage, value: string | null): void {
  stage.rig.kubernetes.objects.patchNode("worker-1", { metadata: { labels: { [RACK]: value } } });
}

function listReasons(stage: LabelStage): string[] {
  return stage.listChanges("worker-1").map((change) => change.split(" ")[1] ?? "");
}

async function untilRack(stage: LabelStage, value: string | undefined): Promise<void> {
  await until(`the label is ${value}`, () => stage.labels("worker-1")[RACK] === value);
}

describe("labels from tags", () => {
  test("come with the first write, follow their tag, and go with it, in one write each", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS, TAGS);
    setTags(stage, "k8s", `${RACK}=a 7`, "example.com/flag=", "other.com/x=1");
    await stage.join("worker-1");
    expect(stage.labels("worker-1")).toMatchObject({ [RACK]: "a-7", "example.com/flag": "" });
    expect(stage.labels("worker-1")).not.toHaveProperty(["other.com/x"]);
    expect(readRecord(stage)).toBe(`{"example.com/flag":"","${RACK}":"a-7"}`);
    setTags(stage, `${RACK}=b`);
    await untilRack(stage, "b");
    expect(stage.labels("worker-1")).not.toHaveProperty(["example.com/flag"]);
    setTags(stage);
    await untilRack(stage, undefined);
    await stage.pass(10);
    expect(readRecord(stage)).toBeUndefined();
    expect(stage.countWrites("worker-1")).toEqual([2, 0]);
    expect(stage.listChanges("worker-1")).toEqual([]);
  });

  test("go when a new leader finds their tag gone, and nothing else goes", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS, TAGS);
    setTags(stage);
    const labels = { [RACK]: "7", "example.com/mine": "x", "example.com/edited": "y" };
    const annotations = { [RECORD]: JSON.stringify({ [RACK]: "7", "example.com/edited": "z" }) };
    stage.register("worker-1", { labels, annotations });
    await untilRack(stage, undefined);
    const { [RACK]: _, ...others } = labels;
    expect(stage.labels("worker-1")).toMatchObject(others);
    expect(readRecord(stage)).toBeUndefined();
  });

  test("go when the setting is gone", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS);
    setTags(stage, `${RACK}=7`);
    const annotations = { [RECORD]: JSON.stringify({ [RACK]: "7" }) };
    stage.register("worker-1", { labels: { [RACK]: "7" }, annotations });
    await untilRack(stage, undefined);
    expect(readRecord(stage)).toBeUndefined();
  });

  test("stay while Xen Orchestra does not show the machine", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS, TAGS);
    setTags(stage, `${RACK}=7`);
    await stage.join("worker-1");
    const { paris } = stage.world.poolIds;
    stage.cloud.state.dropPool(paris);
    await stage.pass(10);
    stage.cloud.state.restorePool(paris);
    await stage.pass(10);
    expect(stage.labels("worker-1")[RACK]).toBe("7");
    expect(stage.countWrites("worker-1")).toEqual([0, 0]);
  });

  test("leave the label of somebody else, say so once, and write nothing", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS, TAGS);
    setTags(stage, `${RACK}=7`, "example.com/kubernetes.io/x=日");
    stage.register("worker-1", { labels: { [RACK]: "mine" } });
    await until("it is said", () => listReasons(stage).length === 2);
    stage.rig.kubernetes.requests.clear();
    await stage.pass(10);
    expect(listReasons(stage)).toEqual(["NodeTagLabelConflict", "NodeTagRefused"]);
    expect(stage.labels("worker-1")[RACK]).toBe("mine");
    expect(stage.countWrites("worker-1")).toEqual([0, 0]);
    // Whoever takes the label away gives it to the tag.
    editLabel(stage, null);
    await untilRack(stage, "7");
    expect(readRecord(stage)).toBe(`{"${RACK}":"7"}`);
  });

  test("become somebody else's by an edit, with one write for the record, and are never fought over", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS, TAGS);
    setTags(stage, `${RACK}=7`);
    await stage.join("worker-1");
    editLabel(stage, "mine");
    await until("it is said", () => listReasons(stage).includes("NodeTagLabelConflict"));
    await stage.pass(10);
    expect(stage.labels("worker-1")[RACK]).toBe("mine");
    expect(readRecord(stage)).toBeUndefined();
    // The edit is the first.
    expect(stage.countWrites("worker-1")).toEqual([1, 0]);
    setTags(stage);
    await stage.pass(10);
    expect(stage.labels("worker-1")[RACK]).toBe("mine");
  });

  test("are put back a few times a minute at most when somebody goes on removing them", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS, TAGS);
    setTags(stage, `${RACK}=7`);
    await stage.join("worker-1");
    for (let round = 0; round < 5; round += 1) {
      editLabel(stage, null);
      await untilRack(stage, "7");
    }
    editLabel(stage, null);
    await until("it is said", () => listReasons(stage).includes("NodeLabelsContested"));
    await stage.pass(10);
    expect(stage.labels("worker-1")).not.toHaveProperty([RACK]);
    expect(stage.countWrites("worker-1")).toEqual([5, 0]);
  });

  test("of hundreds of tags are 64, in few writes", async () => {
    await using stage = await LabelStage.start(SHORT_PASS_MS, TAGS);
    setTags(stage, ...Array.from({ length: 400 }, (_, at) => `example.com/${1_000 + at}=1`));
    await stage.join("worker-1");
    const keys = Object.keys(stage.labels("worker-1")).filter((key) => key.startsWith("example."));
    expect(keys).toHaveLength(64);
    await until("it is said", () => listReasons(stage).length > 0);
    await stage.pass(10);
    expect(stage.countWrites("worker-1")).toEqual([0, 0]);
    expect(listReasons(stage)).toEqual(["NodeTagRefused"]);
  });
});

test("addresses that are left alone are not written, not even when a Node is initialised", async () => {
  await using stage = await LabelStage.start(SHORT_PASS_MS, { addresses: { mode: "leave" } });
  const addresses = [
    ["InternalIP", "100.64.0.7"],
    ["Hostname", "worker-1"],
  ] as const;
  stage.register("worker-1", { addresses, nodeIp: "10.0.0.9" });
  await until("it is initialised", () => stage.rig.listEvents("worker-1", "Synced").length === 1);
  stage.cloud.state.setVm(stage.vmId("worker-1"), { addresses: { "0/ipv4/0": "10.20.0.77" } });
  await stage.pass(10);
  expect(stage.countWrites("worker-1")).toEqual([1, 0]);
  const shown = stage.rig.readNode("worker-1")?.status?.addresses;
  expect(shown?.map(({ type, address }) => [type, address])).toEqual(
    addresses.map((one) => [...one]),
  );
});

test("zones that are left alone are neither written nor changed", async () => {
  await using stage = await LabelStage.start(SHORT_PASS_MS, { zoneLabelFrom: "none" });
  stage.register("worker-1", { labels: { [BETA_ZONE]: "mine" } });
  await until("it is initialised", () => stage.rig.listEvents("worker-1", "Synced").length === 1);
  stage.cloud.state.migrateLive(stage.vmId("worker-1"), stage.world.hostIds["xcp-par-2"]);
  await stage.untilLabels("worker-1", {
    "topology.k8s.xenorchestra/host_id": stage.world.hostIds["xcp-par-2"],
  });
  expect(stage.labels("worker-1")[BETA_ZONE]).toBe("mine");
  expect(stage.labels("worker-1")).not.toHaveProperty([ZONE]);
});

test("regions and zones have the names that the settings give them, and a move follows them", async () => {
  const regions = { paris: "eu-west", lyon: "eu-west" };
  const zones = { paris: "par", "xcp-lyo-2": "lyo-2" };
  await using stage = await LabelStage.start(SHORT_PASS_MS, { regions, zones });
  const { state } = stage.cloud;
  const vmId = stage.vmId("worker-1");
  await stage.join("worker-1");
  expect(stage.labels("worker-1")).toMatchObject({ [REGION]: "eu-west", [ZONE]: "par" });
  // Another host of the same zone, and no host at all.
  state.migrateLive(vmId, stage.world.hostIds["xcp-par-2"]);
  await stage.pass(5);
  state.setPower(vmId, "Halted");
  await stage.pass(5);
  expect(stage.labels("worker-1")).toMatchObject({ [REGION]: "eu-west", [ZONE]: "par" });
  state.setPower(vmId, "Running", stage.world.hostIds["xcp-par-2"]);
  await stage.pass(5);
  const hostId = stage.world.hostIds["xcp-lyo-2"];
  state.migratePool(vmId, stage.world.poolIds.lyon, { hostId });
  await stage.untilLabels("worker-1", { [REGION]: "eu-west", [ZONE]: "lyo-2" });
  expect(stage.labels("worker-1")["topology.k8s.xenorchestra/pool_id"]).toBe(
    stage.world.poolIds.lyon,
  );
  await until("it is said", () => listReasons(stage).length > 0);
  expect(listReasons(stage)).toEqual(["NodeZoneChanged"]);
});

test("a second pool of a name leaves the labels of both as they are", async () => {
  await using stage = await LabelStage.start(SHORT_PASS_MS, { regions: { paris: "eu-west" } });
  await stage.join("worker-1");
  const { state } = stage.cloud;
  const lyon = state.read("pools", stage.world.poolIds.lyon);
  state.put("pools", { ...lyon, id: stage.world.poolIds.lyon, name_label: "paris" });
  await stage.pass(10);
  expect(stage.labels("worker-1")[REGION]).toBe("eu-west");
  expect(stage.countWrites("worker-1")).toEqual([0, 0]);
});
