/**
 * Labels of Nodes whose machines move, stop, change and get lost in a simulated Xen Orchestra.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listNodePlans } from "../../../lib/cli/check/nodes.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { toDeps, toSettings } from "../../providers/xenorchestra/fake_server.ts";
import {
  BETA_ZONE,
  LabelStage,
  PREFIX,
  REFRESH_MS,
  ZONE,
} from "../../support/nodes/label_stage.ts";
import type { NodeOptions } from "../../support/nodes/nodes.ts";
import { until } from "../../support/nodes/rig.ts";
import { longTest } from "../../support/long_tests.ts";

/** How long after a change its labels may be wrong. */
const RIGHT_WITHIN_MS = REFRESH_MS + 1_000;

const TYPE = "node.kubernetes.io/instance-type";
const BETA_TYPE = "beta.kubernetes.io/instance-type";
const NAME = "vm.k8s.xenorchestra/name_label";
const FIRST_HOST = `${PREFIX}original_host_id`;
const FIRST_POOL = `${PREFIX}original_pool_id`;

test("labels of eight Nodes take one write each, and none after that over refreshes and full passes", async () => {
  await using stage = await LabelStage.start(40);
  const names = [...stage.world.machines.keys()];
  await stage.join(...names);
  await stage.pass(10);
  for (const name of names) expect(stage.countWrites(name)).toEqual([0, 0]);
  expect(stage.labels("worker-1")).toEqual({
    ...stage.toPlace("xcp-par-1"),
    [TYPE]: "2vCPU-8GB",
    [BETA_TYPE]: "2vCPU-8GB",
    [NAME]: "worker-1",
  });
});

test("a live migration is followed within a second of the refresh, in one write; the first host stays", async () => {
  await using stage = await LabelStage.startWith("worker-1");
  const { hostIds } = stage.world;
  stage.cloud.state.migrateLive(stage.vmId("worker-1"), hostIds["xcp-par-2"]);
  const first = { [FIRST_HOST]: hostIds["xcp-par-1"] };
  const tookMs = await stage.untilLabels("worker-1", { ...stage.toPlace("xcp-par-2"), ...first });
  expect(tookMs).toBeLessThan(RIGHT_WITHIN_MS);
  await stage.pass();
  expect(stage.countWrites("worker-1")).toEqual([1, 0]);
  const told = `old=${hostIds["xcp-par-1"]}, new=${hostIds["xcp-par-2"]}`;
  expect(stage.listChanges("worker-1")).toEqual([`Warning NodeZoneChanged ${told}`]);
  stage.cloud.state.migrateLive(stage.vmId("worker-1"), hostIds["xcp-par-3"]);
  await stage.untilLabels("worker-1", { ...stage.toPlace("xcp-par-3"), ...first });
  expect(stage.labels("worker-1")).not.toContainKey(FIRST_POOL);
});

test("a migration to another pool is followed in one write, and the provider ID stays", async () => {
  await using stage = await LabelStage.startWith("worker-1");
  const { poolIds, hostIds } = stage.world;
  const providerId = stage.rig.readNode("worker-1")?.spec?.providerID;
  expect(providerId).toContain(poolIds.paris);
  const hostId = hostIds["xcp-lyo-2"];
  stage.cloud.state.migratePool(stage.vmId("worker-1"), poolIds.lyon, { hostId });
  const first = { [FIRST_HOST]: hostIds["xcp-par-1"], [FIRST_POOL]: poolIds.paris };
  const tookMs = await stage.untilLabels("worker-1", { ...stage.toPlace("xcp-lyo-2"), ...first });
  expect(tookMs).toBeLessThan(RIGHT_WITHIN_MS);
  await stage.pass();
  expect(stage.countWrites("worker-1")).toEqual([1, 0]);
  expect(stage.rig.readNode("worker-1")?.spec?.providerID).toBe(providerId);
  expect(stage.listChanges("worker-1")).toEqual([
    expect.stringMatching(
      RegExp(`old=${poolIds.paris}, new=${poolIds.lyon}; .*CSI driver.* replace the Node`),
    ),
    `Warning NodeZoneChanged old=${hostIds["xcp-par-1"]}, new=${hostId}`,
  ]);
});

test("a Node whose machine went before it was initialised again should be deleted, says an Event", async () => {
  await using stage = await LabelStage.startWith("worker-1", "worker-2");
  const vmId = stage.vmId("worker-1");
  stage.rig.kubernetes.objects.deleteNode("worker-1");
  // From now on only the other machine is asked for.
  await stage.pass();
  stage.cloud.state.removeVm(vmId);
  stage.register("worker-1", { ready: "Unknown" });
  await until("an Event says so", () =>
    stage.rig
      .listEvents("worker-1", "NodeInitializationFailed")
      .some(({ message = "" }) =>
        RegExp(`The machine of this Node is gone .*${vmId}.*: delete this Node`).test(message),
      ),
  );
  const [node] = [stage.rig.readNode("worker-1")].flatMap((one) => one ?? []);
  const { url, token } = stage.cloud;
  const provider = xenOrchestra.create(toSettings(url, { token }), toDeps());
  const signal = AbortSignal.timeout(5_000);
  const inventory = await provider.listInventory([], signal);
  const acting = { hasLifecycle: true, deletion: DEFAULT_DELETION };
  const sources = { provider, inventory, acting, selector: [] };
  const [plan] = await listNodePlans(node ? [node] : [], sources, signal);
  expect(plan?.level).toBe("failure");
  expect(plan?.problems.join()).toContain("if the machine is gone, delete this Node");
});

test("a migration with new addresses is right in time, though two controllers write at once", async () => {
  await using stage = await LabelStage.startWith("worker-1");
  const { poolIds, hostIds } = stage.world;
  const vmId = stage.vmId("worker-1");
  stage.cloud.state.migratePool(vmId, poolIds.lyon, { hostId: hostIds["xcp-lyo-1"] });
  stage.cloud.state.setVm(vmId, { addresses: { "0/ipv4/0": "10.20.0.77" } });
  const startedMs = performance.now();
  await stage.untilLabels("worker-1", stage.toPlace("xcp-lyo-1"));
  await until("the address is right", () =>
    stage.rig.readNode("worker-1")?.status?.addresses?.some((one) => one.address === "10.20.0.77"),
  );
  // Whoever writes second may meet a conflict, but waits for no back-off.
  expect(performance.now() - startedMs).toBeLessThan(RIGHT_WITHIN_MS);
});

describe("a machine that stops keeps its labels and addresses, and is followed when it starts", () => {
  test.each(["Halted", "Suspended", "Paused"] as const)("%s", async (power) => {
    await using stage = await LabelStage.startWith("worker-2");
    const before = stage.rig.readNode("worker-2");
    const vmId = stage.vmId("worker-2");
    const { state } = stage.cloud;
    const { hostIds } = stage.world;
    state.setPower(vmId, power);
    await stage.pass();
    state.setPower(vmId, "Running", hostIds["xcp-par-2"]);
    await stage.pass();
    expect(stage.countWrites("worker-2")).toEqual([0, 0]);
    expect(stage.labels("worker-2")).toEqual(before?.metadata.labels ?? {});
    expect(stage.rig.readNode("worker-2")?.status?.addresses).toEqual(before?.status?.addresses);
    expect(stage.listChanges("worker-2")).toEqual([]);

    state.setPower(vmId, power);
    await stage.pass();
    state.setPower(vmId, "Running", hostIds["xcp-par-3"]);
    const first = { [FIRST_HOST]: hostIds["xcp-par-2"] };
    await stage.untilLabels("worker-2", { ...stage.toPlace("xcp-par-3"), ...first });
    await stage.pass();
    expect(stage.countWrites("worker-2")[0]).toBe(1);
    expect(stage.listChanges("worker-2")).toHaveLength(1);
  });
});

describe("nothing is written when", () => {
  const cases: readonly (readonly [
    string,
    (stage: LabelStage) => void,
    (stage: LabelStage) => void,
  ])[] = [
    [
      "a balloon takes or gives memory",
      (stage) => stage.cloud.state.balloon(stage.vmId("worker-2"), 3 * 1024 ** 3),
      (stage) => stage.cloud.state.balloon(stage.vmId("worker-2"), 7 * 1024 ** 3),
    ],
    [
      "the host cannot be looked up",
      ({ cloud, world }) => cloud.state.forbid(world.hostIds["xcp-par-2"]),
      ({ cloud, world }) => cloud.state.forbid(world.hostIds["xcp-par-2"], false),
    ],
    [
      "hosts cannot be listed",
      ({ cloud }) =>
        void cloud.faults.set({ kind: "status", status: 500 }, { route: "GET /hosts", times: 1 }),
      () => undefined,
    ],
    [
      "the pool cannot be looked up",
      ({ cloud, world }) => cloud.state.forbid(world.poolIds.paris),
      ({ cloud, world }) => cloud.state.forbid(world.poolIds.paris, false),
    ],
    [
      "the pool is lost and comes back",
      ({ cloud, world }) => cloud.state.dropPool(world.poolIds.paris),
      ({ cloud, world }) => cloud.state.restorePool(world.poolIds.paris),
    ],
    [
      "machines are missing while their pool shows",
      ({ cloud, world }) => cloud.state.hideVms(world.poolIds.paris),
      ({ cloud, world }) => cloud.state.hideVms(world.poolIds.paris, false),
    ],
  ];
  longTest.each(cases)("%s", async (_title, begin, end) => {
    await using stage = await LabelStage.startWith("worker-2");
    const before = stage.labels("worker-2");
    begin(stage);
    await stage.pass();
    end(stage);
    await stage.pass();
    expect(stage.countWrites("worker-2")).toEqual([0, 0]);
    expect(stage.labels("worker-2")).toEqual(before);
    expect(stage.listChanges("worker-2")).toEqual([]);
  });
});

test("a machine that stops in another pool while its old pool is lost is followed once that pool is back", async () => {
  await using stage = await LabelStage.startWith("worker-1");
  const { poolIds, hostIds } = stage.world;
  const vmId = stage.vmId("worker-1");
  const { state } = stage.cloud;
  // Nothing but the coverage changes when the pool is back.
  for (const { vmId: id } of stage.world.machines.values()) {
    if (id !== vmId) state.migratePool(id, poolIds.lyon);
  }
  await stage.pass();
  state.dropPool(poolIds.paris);
  state.migratePool(vmId, poolIds.lyon, { hostId: hostIds["xcp-lyo-1"] });
  state.setPower(vmId, "Halted");
  await stage.pass();
  expect(stage.countWrites("worker-1")).toEqual([0, 0]);
  state.restorePool(poolIds.paris);
  const tookMs = await stage.untilLabels("worker-1", { [`${PREFIX}pool_id`]: poolIds.lyon });
  expect(tookMs).toBeLessThan(RIGHT_WITHIN_MS);
});

test("a machine that moves to a host that cannot be looked up keeps the old name until it can", async () => {
  await using stage = await LabelStage.startWith("worker-1");
  const hostId = stage.world.hostIds["xcp-par-2"];
  stage.cloud.state.forbid(hostId);
  stage.cloud.state.migrateLive(stage.vmId("worker-1"), hostId);
  await stage.untilLabels("worker-1", { [ZONE]: hostId, [`${PREFIX}host_id`]: hostId });
  expect(stage.labels("worker-1")[`${PREFIX}host_name_label`]).toBe("xcp-par-1");
  stage.cloud.state.forbid(hostId, false);
  await stage.untilLabels("worker-1", stage.toPlace("xcp-par-2"));
});

test("a machine that is renamed or resized is followed; only the size is an Event", async () => {
  await using stage = await LabelStage.startWith("worker-1");
  stage.cloud.state.setVm(stage.vmId("worker-1"), {
    name_label: "nœud 1",
    CPUs: { max: 8, number: 2 },
  });
  const type = { [TYPE]: "8vCPU-8GB", [BETA_TYPE]: "8vCPU-8GB" };
  await stage.untilLabels("worker-1", { ...type, [NAME]: "n-ud-1" });
  await stage.pass();
  expect(stage.countWrites("worker-1")).toEqual([1, 0]);
  expect(stage.listChanges("worker-1")).toEqual([
    "Normal NodeInstanceTypeHasChanged old=2vCPU-8GB, new=8vCPU-8GB",
  ]);
});

test("hands that edit and delete labels are put right at once, without an Event or a first host", async () => {
  await using stage = await LabelStage.startWith("worker-1");
  const before = stage.labels("worker-1");
  const labels = { [BETA_ZONE]: "mine", [`${PREFIX}host_id`]: "mine", [TYPE]: null, role: "web" };
  stage.rig.kubernetes.objects.patchNode("worker-1", { metadata: { labels } });
  await stage.untilLabels("worker-1", before);
  await stage.pass();
  expect(stage.labels("worker-1")).toEqual({ ...before, role: "web" });
  expect(stage.countWrites("worker-1")).toEqual([1, 0]);
  expect(stage.listChanges("worker-1")).toEqual([]);
});

describe("a Node that was labelled before the controller started", () => {
  function toInitialised(stage: LabelStage, labels: Record<string, string>): NodeOptions {
    const poolId = stage.world.poolIds.paris;
    const providerId = `xenorchestra://${poolId}/${stage.vmId("worker-1")}`;
    return { uninitialized: false, providerId, labels };
  }

  test("is told to have moved when its labels agree on another place", async () => {
    await using stage = await LabelStage.start();
    const place = stage.toPlace("xcp-lyo-1");
    stage.register("worker-1", toInitialised(stage, place));
    await stage.untilLabels("worker-1", {
      ...stage.toPlace("xcp-par-1"),
      [FIRST_HOST]: stage.world.hostIds["xcp-lyo-1"],
      [FIRST_POOL]: stage.world.poolIds.lyon,
    });
    await until("it is told", () => stage.listChanges("worker-1").length === 2);
  });

  test("is made right in silence when the Go controller had labelled it while it was halted", async () => {
    await using stage = await LabelStage.start();
    const { poolIds, hostIds } = stage.world;
    const vmId = stage.vmId("worker-1");
    stage.cloud.state.setPower(vmId, "Halted");
    stage.register(
      "worker-1",
      toInitialised(stage, {
        ...stage.toPlace("xcp-par-1"),
        [ZONE]: poolIds.paris,
        [BETA_ZONE]: poolIds.paris,
        [`${PREFIX}host_id`]: poolIds.paris,
        [`${PREFIX}host_name_label`]: "unknown",
      }),
    );
    await stage.untilLabels("worker-1", { [NAME]: "worker-1" });
    await stage.pass();
    stage.cloud.state.setPower(vmId, "Running", hostIds["xcp-par-2"]);
    await stage.untilLabels("worker-1", stage.toPlace("xcp-par-2"));
    await stage.pass();
    expect(stage.labels("worker-1")).not.toContainAnyKeys([FIRST_HOST, FIRST_POOL]);
    expect(stage.listChanges("worker-1")).toEqual([]);
  });
});
