import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import { DeletionHolds } from "../../../lib/controllers/node_context.ts";
import { FleetWatch } from "../../../lib/controllers/fleet/fleet_watch.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { createLifecycleWorld, type LifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { toNode } from "../../support/nodes/nodes.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { toFleetMember } from "../../../lib/controllers/fleet/fleet_member.ts";
import {
  EXCLUSION_LABEL,
  findRecord,
  formatRecord,
  formatReleasedRecord,
  isOutOfServiceByUs,
  listForeignlyTainted,
  listOutOfServiceTaints,
  OUT_OF_SERVICE_RECORD,
  OUT_OF_SERVICE_TAINT,
} from "../../../lib/controllers/fleet/out_of_service.ts";

interface SetUp extends LifecycleWorld, AsyncDisposable {
  readonly fleet: FleetWatch;
  /** Takes an inventory after `ms`, and looks. */
  observe(ms?: number): Promise<boolean>;
}

/** Eleven Nodes that are well, and `gone`, which misses its machine since it was seen; an inventory every 30 s. */
async function setUp(settings: Partial<DeletionSettings> = {}): Promise<SetUp> {
  const world = createLifecycleWorld();
  for (let at = 0; at < 11; at += 1) world.add(`n${at}`);
  world.add("gone", { ready: "Unknown" });
  const fleet = new FleetWatch(world.context, { ...DEFAULT_DELETION, ...settings });
  const stop = new AbortController();
  const refreshing = world.source.run(stop.signal);
  await world.clock.advance(0);
  fleet.look();
  world.loseMachines("gone");
  await world.clock.advance(30_000);
  return {
    ...world,
    fleet,
    async observe(ms = 30_000) {
      await world.clock.advance(ms);
      return fleet.look();
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await world.clock.advance(0);
      await refreshing;
    },
  };
}

const SAME = { isOtherCloud: false };

function find(world: LifecycleWorld, name: string): Node {
  const node = world.server.find(name);
  if (node === undefined) throw new TypeError(`no Node ${name}`);
  return node;
}

describe("FleetWatch.reconfigure()", () => {
  test("judges by the new settings, and counts again", async () => {
    await using world = await setUp();
    const { fleet } = world;
    fleet.look();
    await world.observe();
    fleet.reconfigure({ ...DEFAULT_DELETION, confirmations: 2, holdOffMs: 0 }, SAME);
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ kind: "waiting", observations: 0 });
    await world.observe();
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ kind: "waiting", observations: 1 });
    await world.observe();
    expect(fleet.judge(find(world, "gone"))).toEqual({ kind: "confirm" });
    fleet.reconfigure(
      { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0, enabled: false },
      SAME,
    );
    await world.observe();
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ kind: "blocked", reason: "disabled" });
  });
});

test("FleetWatch.judge() lets a Node wait for what another controller has to do before it goes", async () => {
  await using world = await setUp({ confirmations: 1, holdOffMs: 0 });
  const holds = new DeletionHolds();
  let why: string | undefined = "its volumes are attached";
  holds.add(() => why);
  const settings = { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0 };
  const fleet = new FleetWatch({ ...world.context, holds }, settings);
  fleet.noteSeen(find(world, "gone"));
  fleet.look();
  expect(fleet.judge(find(world, "gone"))).toMatchObject({
    kind: "waiting",
    reason: "held",
    message: why,
  });
  why = undefined;
  expect(fleet.judge(find(world, "gone"))).toEqual({ kind: "confirm" });
});

describe("FleetWatch.reconfigure() to another cloud", () => {
  test("misses no machine for ten minutes, for it never saw one there", async () => {
    await using world = await setUp({ confirmations: 1, holdOffMs: 0 });
    const { fleet } = world;
    const verdict = () => fleet.judge(find(world, "gone"));
    fleet.look();
    expect(verdict()).toEqual({ kind: "confirm" });
    fleet.reconfigure(
      { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0 },
      { isOtherCloud: true },
    );
    // The inventory in use is still the old cloud's.
    fleet.look();
    expect(verdict()).toMatchObject({ kind: "waiting", observations: 0 });
    await world.observe();
    expect(verdict()).toMatchObject({ kind: "blocked", reason: "neverSeen" });
    await world.observe(570_000);
    expect(verdict()).toMatchObject({ kind: "blocked", reason: "neverSeen" });
    await world.observe();
    expect(verdict()).toEqual({ kind: "confirm" });
  });
});

describe("FleetWatch.noteSeen()", () => {
  test("does not take the inventory of another cloud for a sighting in this one", async () => {
    await using world = await setUp();
    const { fleet } = world;
    const settings = { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0 };
    fleet.reconfigure(settings, { isOtherCloud: true });
    fleet.noteSeen(find(world, "gone"));
    await world.observe();
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ reason: "neverSeen" });
  });

  test("lets a machine be missed that was seen between two looks, in this cloud", async () => {
    await using world = await setUp({ confirmations: 1, holdOffMs: 0 });
    const { fleet } = world;
    const settings = { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0 };
    const gone = find(world, "gone");
    fleet.noteSeen(gone);
    fleet.reconfigure(settings, { isOtherCloud: true });
    await world.observe();
    expect(fleet.judge(gone)).toMatchObject({ kind: "blocked", reason: "neverSeen" });
    fleet.noteSeen(gone);
    await world.observe();
    expect(fleet.judge(gone)).toEqual({ kind: "confirm" });
  });
});

describe("FleetWatch.standBy()", () => {
  const settings = { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0 };

  /** A process that stands by: it takes inventory, sees Nodes change, and looks at nothing. */
  async function standBy(): Promise<SetUp & { end(): void }> {
    const world = await setUp();
    const fleet = new FleetWatch(world.context, settings);
    const end = fleet.standBy();
    await world.clock.advance(30_000);
    return { ...world, fleet, end, observe: world.observe };
  }

  test("lets a machine be missed that was seen meanwhile, and no other", async () => {
    await using world = await standBy();
    const { fleet } = world;
    world.loseMachines("n0");
    await world.clock.advance(30_000);
    world.end();
    fleet.look();
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ reason: "neverSeen" });
    world.server.setReady("n0", "False");
    await world.clock.advance(30_000);
    fleet.look();
    expect(fleet.judge(find(world, "n0"))).toEqual({ kind: "confirm" });
  });

  test("sees the machine of a Node that comes after the inventory, in this cloud", async () => {
    await using world = await standBy();
    const { fleet, server, provider } = world;
    provider.instances.set("late", toInstance("late"));
    await world.clock.advance(30_000);
    server.put(toNode("late", { providerId: "test://late", uninitialized: false, ready: "False" }));
    world.loseMachines("late");
    await world.clock.advance(30_000);
    world.end();
    fleet.look();
    expect(fleet.judge(find(world, "late"))).toEqual({ kind: "confirm" });
  });

  test("counts the ten minutes of what was never seen from the first inventory on", async () => {
    await using world = await standBy();
    const { fleet } = world;
    await world.clock.advance(600_000);
    world.end();
    fleet.look();
    expect(fleet.judge(find(world, "gone"))).toEqual({ kind: "confirm" });
  });

  test("counts no observation of absence, and nothing once it ended", async () => {
    await using world = await standBy();
    const { fleet } = world;
    for (let round = 0; round < 5; round += 1) await world.clock.advance(30_000);
    expect(fleet.judge(find(world, "gone"))).toEqual({ kind: "keep" });
    world.end();
    fleet.look();
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ kind: "blocked" });
    world.add("late", { ready: "False" });
    await world.clock.advance(30_000);
    world.loseMachines("late");
    await world.clock.advance(30_000);
    fleet.look();
    expect(fleet.judge(find(world, "late"))).toMatchObject({ reason: "neverSeen" });
    world.server.remove("late");
    expect(fleet.read().deleted).toBe(0);
  });

  test("counts Nodes that went while they were not Ready as deleted, for the window", async () => {
    await using world = await standBy();
    const { fleet } = world;
    world.server.remove("n0");
    world.server.put(toNode("new", { providerId: "test://new" }));
    world.server.remove("new");
    expect(fleet.read().deleted).toBe(0);
    world.server.remove("gone");
    expect(fleet.read()).toMatchObject({ deleted: 1, affected: 1 });
    await world.clock.advance(600_001);
    expect(fleet.read()).toMatchObject({ deleted: 0, affected: 0 });
  });
});

describe("FleetWatch.look()", () => {
  test("does not count an inventory that it looks at first when a later refresh failed", async () => {
    await using world = await setUp({ confirmations: 1, holdOffMs: 0 });
    const fleet = new FleetWatch(world.context, { ...DEFAULT_DELETION, confirmations: 2 });
    world.provider.failure = new CloudError("unreachable", "down");
    await world.clock.advance(30_000);
    expect(world.source.lastError).toBeDefined();
    fleet.look();
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ observations: 0 });
    world.provider.failure = undefined;
    await world.clock.advance(60_000);
    expect(world.source.lastError).toBeUndefined();
    fleet.look();
    expect(fleet.judge(find(world, "gone"))).toMatchObject({ observations: 1 });
  });

  test("takes no look before all Nodes are known: part of them would be a small fleet", async () => {
    await using world = await setUp({ fleetShare: 0.5 });
    const nodes = new Store<Node>({ resource: NODES, log: world.context.log });
    nodes.apply(find(world, "gone"));
    const fleet = new FleetWatch({ ...world.context, nodes }, DEFAULT_DELETION);
    expect([fleet.look(), fleet.read().sizeAtStart]).toEqual([false, 0]);
    expect(fleet.judge(find(world, "gone"))).toEqual({ kind: "keep" });
  });
});

describe("FleetWatch", () => {
  test("judge() keeps a Node without a UID, and one that was never looked at", async () => {
    await using world = await setUp();
    world.fleet.look();
    expect(world.fleet.judge({ ...toNode("gone"), metadata: { name: "gone" } })).toEqual({
      kind: "keep",
    });
    expect(world.fleet.judge(toNode("other"))).toEqual({ kind: "keep" });
  });
});

const PRESENT: Presence = {
  kind: "present",
  instance: toInstance("n"),
  matchedBy: "providerId",
};

test("toFleetMember() counts a Node as out of service only by the taint and the record together", () => {
  const options = { providerId: "test://n", uninitialized: false };
  const tainted = toNode("n", { ...options, taints: [OUT_OF_SERVICE_TAINT] });
  const annotations = { "landfall.dev/out-of-service": "2026-01-01T00:00:00Z boot" };
  const recorded = toNode("n", options);
  const both = { ...tainted, metadata: { ...tainted.metadata, annotations } };
  const record = { ...recorded, metadata: { ...recorded.metadata, annotations } };
  expect(toFleetMember(tainted, PRESENT, DEFAULT_DELETION)).not.toHaveProperty("outOfService");
  expect(toFleetMember(record, PRESENT, DEFAULT_DELETION)).not.toHaveProperty("outOfService");
  expect(toFleetMember(both, PRESENT, DEFAULT_DELETION)).toHaveProperty("outOfService", "done");
});

function toRecorded(record: string, taints: readonly { key: string; effect: string }[] = []): Node {
  const node = toNode("n", { taints });
  return {
    ...node,
    metadata: { ...node.metadata, annotations: { [OUT_OF_SERVICE_RECORD]: record } },
  };
}

test("the words are frozen", () => {
  expect(OUT_OF_SERVICE_TAINT).toEqual({
    key: "node.kubernetes.io/out-of-service",
    value: "nodeshutdown",
    effect: "NoExecute",
  });
  expect(OUT_OF_SERVICE_RECORD).toBe("landfall.dev/out-of-service");
  expect(EXCLUSION_LABEL).toBe("landfall.dev/exclude-from-out-of-service");
});

describe("findRecord()", () => {
  test.each([
    { timeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6), bootId: "9f3c" },
    { timeMs: 0, bootId: "" },
  ])("reads what formatRecord() writes: %p", (record) => {
    expect(findRecord(toRecorded(formatRecord(record)))).toEqual(record);
  });

  test("finds none without the annotation, and no time in nonsense", () => {
    expect(findRecord(toNode("n"))).toBeUndefined();
    expect(findRecord(toRecorded("yesterday"))).toEqual({ timeMs: NaN, bootId: "" });
  });
});

test.each(["2026-01-02T03:04:05.006Z 9f3c", "2026-01-02T03:04:05.006Z", "yesterday"])(
  "formatReleasedRecord() keeps what %p says, and that the taint is not ours any more",
  (text) => {
    const before = findRecord(toRecorded(text));
    if (before === undefined) throw new TypeError("it has a record");
    const released = toRecorded(formatReleasedRecord(toRecorded(text)), [OUT_OF_SERVICE_TAINT]);
    expect(findRecord(released)).toEqual({ ...before, isReleased: true });
    expect(isOutOfServiceByUs(released)).toBe(false);
    expect(listForeignlyTainted([released])).toEqual(["n"]);
  },
);

test("isOutOfServiceByUs() needs the record and the very taint", () => {
  const { key, effect } = OUT_OF_SERVICE_TAINT;
  const other = { key, effect, value: "mine" };
  expect(isOutOfServiceByUs(toRecorded("", [OUT_OF_SERVICE_TAINT]))).toBe(true);
  expect(isOutOfServiceByUs(toRecorded("", [other]))).toBe(false);
  expect(isOutOfServiceByUs(toRecorded(""))).toBe(false);
  expect(isOutOfServiceByUs(toNode("n", { taints: [OUT_OF_SERVICE_TAINT] }))).toBe(false);
});

test("listOutOfServiceTaints() goes by the key alone", () => {
  const other = { key: OUT_OF_SERVICE_TAINT.key, effect: "NoSchedule" };
  const taints = [other, { key: "example.com/x", effect: "NoExecute" }];
  expect(listOutOfServiceTaints(toNode("n", { taints }))).toEqual([other]);
});

test("listForeignlyTainted() names the Nodes with the taint and without our record", () => {
  const foreign = toNode("a", { taints: [OUT_OF_SERVICE_TAINT] });
  const ours = toRecorded("", [OUT_OF_SERVICE_TAINT]);
  expect(listForeignlyTainted([foreign, ours, toNode("b")])).toEqual(["a"]);
});
