/**
 * The life of Vinos on a simulated API server, with a cloud in memory.
 * @module
 */
import { expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { until } from "../../support/nodes/rig.ts";
import { MachinesDouble, POOL, toDoubleHost } from "../../support/vino/machines_double.ts";
import { VinoStage } from "../../support/vino/stage.ts";

const READY = "True ReconciliationSucceeded";

function toSpec(
  count: number,
  change: Partial<NonNullable<VinoSpec["xenOrchestra"]>> = {},
): VinoSpec {
  return {
    networks: [{ name: "oam" }],
    nodes: [
      {
        name: "worker",
        count,
        networkInterfaces: [{ name: "eth0", network: "oam" }],
      },
    ],
    xenOrchestra: {
      template: "debian",
      cpus: 2,
      memory: "4Gi",
      countPer: "Total",
      disks: [{ name: "root", size: "20Gi" }],
      ...change,
    },
  };
}

function startStage(): Promise<VinoStage<MachinesDouble>> {
  return VinoStage.start((clock) => {
    const cloud = new MachinesDouble();
    cloud.refreshIntervalMs = 2_000;
    cloud.clock = () => clock.monotonic();
    return cloud;
  });
}

/** Waits until an inventory shows what is there now. */
async function untilInventory(cloud: MachinesDouble): Promise<void> {
  const { lists } = cloud;
  await until("an inventory came", () => cloud.lists > lists + 1);
}

test("three machines are made, spread over hosts, published, and then left alone", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(3));
  await stage.untilCondition("edge", "Ready", READY);
  expect(stage.listMachines("edge")).toEqual([
    "worker-0 Ready",
    "worker-1 Ready",
    "worker-2 Ready",
  ]);
  expect([...cloud.world.values()].map(({ hostId }) => hostId).toSorted()).toEqual([
    "h1",
    "h2",
    "h3",
  ]);
  expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1", "edge-worker-2"]);
  expect(stage.read("edge")?.status?.counts).toEqual({
    wanted: 3,
    machines: 3,
    ready: 3,
    unwanted: 0,
    published: 3,
    summary: "3/3",
  });
  await stage.untilQuiet();
  const [calls, writes, lists] = [cloud.calls.length, stage.countWrites(), cloud.lists];
  await until("some inventories came", () => cloud.lists > lists + 3);
  expect(cloud.calls.slice(calls)).toEqual([]);
  expect(stage.countWrites()).toBe(writes);
});

test("a Vino that deletes shrinks by its newest machine, with its host first", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(3, { deletionPolicy: "Delete" }));
  await stage.untilCondition("edge", "Ready", READY);
  cloud.onStep = ({ kind }) => {
    if (kind === "detach") expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1"]);
  };
  stage.change("edge", { nodes: [{ name: "worker", count: 2 }] });
  await stage.untilCondition("edge", "Ready", READY);
  await until("the machine is gone", () => cloud.world.size === 2);
  await until("the status lost it", () => stage.listMachines("edge").length === 2);
  expect(stage.listMachines("edge")).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1"]);
  expect(stage.listEvents("edge").filter((one) => one.startsWith("MachineRemoved"))).toHaveLength(
    1,
  );
});

test("a Vino that retains leaves machines that it does not want, and takes them again", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(3));
  await stage.untilCondition("edge", "Ready", READY);
  const ids = [...cloud.world.values()].map(({ id }) => id);
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  await until("hosts are gone", () => stage.listHosts().length === 1);
  await stage.untilCondition("edge", "Ready", READY);
  await until("it is told", () =>
    stage.listEvents("edge").some((one) => one.startsWith("MachineKept")),
  );
  expect([...cloud.world.values()].map(({ id }) => id)).toEqual(ids);
  stage.change("edge", { nodes: [{ name: "worker", count: 3 }] });
  await until("hosts are back", () => stage.listHosts().length === 3);
  expect([...cloud.world.values()].map(({ id }) => id)).toEqual(ids);
});

test("a machine whose host is in use stays until it is not", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(2, { deletionPolicy: "Delete" }));
  await stage.untilCondition("edge", "Ready", READY);
  stage.consume("edge-worker-0");
  stage.consume("edge-worker-1");
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  const message = await stage.untilCondition("edge", "ContractionBlocked", "True HostsInUse");
  expect(message).toContain("edge-worker-1");
  expect(cloud.world.size).toBe(2);
  stage.consume("edge-worker-1", false);
  await until("it is gone", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "ContractionBlocked", "False NothingBlocked");
  expect(stage.listHosts()).toEqual(["edge-worker-0"]);
});

test("too many removals at once wait for a person, who confirms one spec", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(6, { deletionPolicy: "Delete" }));
  await stage.untilCondition("edge", "Ready", READY);
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  const message = await stage.untilCondition("edge", "ContractionBlocked", "True FleetLimit");
  const generation = stage.read("edge")?.metadata.generation;
  expect(message).toContain(`landfall.dev/confirm-removal=${generation}`);
  expect(await stage.untilCondition("edge", "Ready", "False FleetLimit")).toContain(message);
  stage.annotate("edge", { "landfall.dev/confirm-removal": "1" });
  const isSaid = (): boolean =>
    stage
      .listEvents("edge")
      .some((one) => one.includes('confirm-removal is "1", but the generation'));
  await until("the wrong confirmation is said", isSaid);
  await stage.untilQuiet();
  expect(stage.read("edge")?.status?.counts).toEqual({
    wanted: 1,
    machines: 6,
    ready: 1,
    unwanted: 5,
    published: 6,
    summary: "1/1",
  });
  expect(cloud.world.size).toBe(6);
  expect(stage.listHosts()).toHaveLength(6);
  stage.annotate("edge", { "landfall.dev/confirm-removal": String(generation) });
  await until("they are gone", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "Ready", READY);
});

test.each(["Retain", "Delete"] as const)(
  "a deleted Vino with the policy %s ends",
  async (deletionPolicy) => {
    await using stage = await startStage();
    const { provider: cloud } = stage;
    stage.create("edge", toSpec(3, { deletionPolicy }));
    await stage.untilCondition("edge", "Ready", READY);
    stage.consume("edge-worker-1");
    await until("the use is seen", () => stage.host("edge-worker-1") !== undefined);
    stage.delete("edge");
    await stage.untilCondition("edge", "Ready", "False UnableToDecommission");
    await until("free hosts are gone", () => stage.listHosts().length === 1);
    expect(stage.listHosts()).toEqual(["edge-worker-1"]);
    const isCounted = (): boolean => stage.read("edge")?.status?.counts?.published === 1;
    await until("the last host is counted", isCounted);
    const unwanted = deletionPolicy === "Retain" ? 3 : 1;
    await until("the last machines are counted", () => {
      return stage.read("edge")?.status?.counts?.unwanted === unwanted;
    });
    expect(stage.read("edge")?.status?.counts).toMatchObject({ wanted: 0, summary: "0/0" });
    const machines = await stage.untilCondition("edge", "MachinesReady", "False Progressing");
    expect(machines).toContain("BareMetalHost edge-worker-1 is used by");
    stage.consume("edge-worker-1", false);
    await until("the Vino is gone", () => stage.read("edge") === undefined);
    expect(stage.listHosts()).toEqual([]);
    expect(cloud.world.size).toBe(deletionPolicy === "Retain" ? 3 : 0);
  },
);

test("a machine that was deleted by hand is made again, unless its host is in use", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(2));
  await stage.untilCondition("edge", "Ready", READY);
  stage.consume("edge-worker-1");
  await untilInventory(cloud);
  const [free, used] = [...cloud.world.keys()].toSorted();
  const ids = new Set([...cloud.world.values()].map(({ id }) => id));
  cloud.world.delete(free ?? "");
  cloud.world.delete(used ?? "");
  await until("one is made again", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "MachinesReady", "False DecisionNeeded");
  expect(stage.listMachines("edge")).toContain("worker-1 Blocked");
  expect([...cloud.world.keys()]).toEqual([free ?? ""]);
  stage.consume("edge-worker-1", false);
  await stage.untilCondition("edge", "Ready", READY);
  expect(cloud.world.size).toBe(2);
  expect([...cloud.world.values()].some(({ id }) => ids.has(id))).toBe(false);
});

test("a cloud that does not answer is said, and removes nothing", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(2, { deletionPolicy: "Delete" }));
  await stage.untilCondition("edge", "Ready", READY);
  cloud.failure = new CloudError("unreachable", "connection refused");
  stage.change("edge", { nodes: [{ name: "worker", count: 3 }] });
  await stage.untilCondition("edge", "Ready", "False CloudUnreachable");
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  await stage.untilQuiet();
  expect(cloud.world.size).toBe(2);
  cloud.failure = undefined;
  await until("one is gone", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "Ready", READY);
});

test("a lost pool removes and makes nothing", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  stage.create("edge", toSpec(2));
  await stage.untilCondition("edge", "Ready", READY);
  await untilInventory(cloud);
  const world = new Map(cloud.world);
  cloud.pools = [{ ...POOL, isComplete: false }];
  cloud.hosts = [];
  cloud.world.clear();
  const calls = cloud.calls.length;
  await stage.untilCondition("edge", "Ready", "False CloudUnreachable");
  await stage.untilQuiet();
  expect(cloud.calls.slice(calls).filter((one) => !one.startsWith("look"))).toEqual([]);
  expect(stage.listHosts()).toHaveLength(2);
  for (const [name, machine] of world) cloud.world.set(name, machine);
  cloud.pools = [POOL];
  cloud.hosts = ["h1", "h2", "h3"].map((id) => toDoubleHost(id));
  await stage.untilCondition("edge", "Ready", READY);
  expect(cloud.calls.slice(calls).filter((one) => !one.startsWith("look"))).toEqual([]);
});

test("a machine that fails waits by itself, and others go on", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  cloud.onStep = ({ name, kind }) => {
    if (kind === "configure" && name.endsWith("-1")) throw new CloudError("protocol", "SR is full");
  };
  stage.create("edge", toSpec(3));
  const message = await stage.untilCondition("edge", "MachinesReady", "False MachineFailure");
  expect(message).toContain("SR is full");
  await until("others are ready", () => stage.listHosts().length === 2);
  cloud.onStep = () => undefined;
  await stage.untilCondition("edge", "Ready", READY);
});
