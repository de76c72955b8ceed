/**
 * Settings that say which labels and addresses a Node gets, on a simulated Xen Orchestra and Kubernetes.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { BETA_ZONE, LabelStage, ZONE } from "../../support/nodes/label_stage.ts";
import { until } from "../../support/nodes/rig.ts";

const REGION = "topology.kubernetes.io/region";
const RECORD = "landfall.dev/labels-from-tags";
const RACK = "example.com/rack";
const TAGS = { nodeLabelsFromTags: { prefixes: ["example.com/"] } };
const FULL_PASS_MS = 40;

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
    await using stage = await LabelStage.start(FULL_PASS_MS, TAGS);
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
    await using stage = await LabelStage.start(FULL_PASS_MS, TAGS);
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
    await using stage = await LabelStage.start(FULL_PASS_MS);
    setTags(stage, `${RACK}=7`);
    const annotations = { [RECORD]: JSON.stringify({ [RACK]: "7" }) };
    stage.register("worker-1", { labels: { [RACK]: "7" }, annotations });
    await untilRack(stage, undefined);
    expect(readRecord(stage)).toBeUndefined();
  });

  test("stay while Xen Orchestra does not show the machine", async () => {
    await using stage = await LabelStage.start(FULL_PASS_MS, TAGS);
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
    await using stage = await LabelStage.start(FULL_PASS_MS, TAGS);
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
    await using stage = await LabelStage.start(FULL_PASS_MS, TAGS);
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
    await using stage = await LabelStage.start(FULL_PASS_MS, TAGS);
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
    await using stage = await LabelStage.start(FULL_PASS_MS, TAGS);
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
  await using stage = await LabelStage.start(FULL_PASS_MS, { addresses: { mode: "leave" } });
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
  await using stage = await LabelStage.start(FULL_PASS_MS, { zoneLabelFrom: "none" });
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
  await using stage = await LabelStage.start(FULL_PASS_MS, { regions, zones });
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
  await using stage = await LabelStage.start(FULL_PASS_MS, { regions: { paris: "eu-west" } });
  await stage.join("worker-1");
  const { state } = stage.cloud;
  const lyon = state.read("pools", stage.world.poolIds.lyon);
  state.put("pools", { ...lyon, id: stage.world.poolIds.lyon, name_label: "paris" });
  await stage.pass(10);
  expect(stage.labels("worker-1")[REGION]).toBe("eu-west");
  expect(stage.countWrites("worker-1")).toEqual([0, 0]);
});
