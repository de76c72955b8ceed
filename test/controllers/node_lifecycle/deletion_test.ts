import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import {
  createLifecycleWorld,
  isGone,
  type LifecycleWorld,
  lose,
  startFleet,
} from "../../support/nodes/lifecycle_rig.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { Deleter, type DeletionResult } from "../../../lib/controllers/node_lifecycle/deleter.ts";
import { FleetWatch } from "../../../lib/controllers/fleet/fleet_watch.ts";
import { createLifecycleMetrics } from "../../../lib/controllers/node_lifecycle/metrics.ts";
import { isKubeError } from "../../../lib/kube/api/errors.ts";

const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
/** Longest time from the loss of a machine, whose Node is not Ready, to the end of its Node. */
const DELETED_WITHIN_MS = 90_000;
/** A machine that was never seen is not missed before. */
const NEVER_SEEN_MS = 600_000;
/** Time after which everything that would be deleted is. */
const LONG_MS = 300_000;

describe("a deletion", () => {
  test.each(["False", "Unknown", ""])(
    "L-01 a Node with Ready %p whose machine is gone is deleted, after an Event",
    async (ready) => {
      await using rig = await startFleet(3);
      rig.add("n0", { ready });
      rig.loseMachines("n0");
      await rig.advanceUntil(() => isGone(rig, "n0"), DELETED_WITHIN_MS);
      expect(rig.server.deletions).toEqual(["n0"]);
      expect(rig.listEvents("n0", "DeletingNode")).toEqual([
        {
          node: "n0",
          type: "Normal",
          reason: "DeletingNode",
          message: "Deleting node n0 because its machine is gone: scripted",
        },
      ]);
      expect(rig.readMetric('landfall_node_deletions_total{result="deleted"}')).toBe(1);
      const logged = rig.lines.filter((line) => line.includes('"message":"Node deleted"'));
      expect(logged.map((line) => JSON.parse(line))).toMatchObject([
        { node: "n0", providerId: "test://n0", evidence: "scripted" },
      ]);
    },
  );

  test.each([0, 1_300, 4_999, 9_000, 14_000, 22_500, 29_999])(
    "comes within 90 s of the loss with default settings, %d ms after the last refresh",
    async (phaseMs) => {
      await using rig = await startFleet(3);
      await rig.clock.advance(30_000 + phaseMs);
      lose(rig, "n1");
      const tookMs = await rig.advanceUntil(() => isGone(rig, "n1"), LONG_MS);
      expect(tookMs).toBeGreaterThanOrEqual(60_000);
      expect(tookMs).toBeLessThanOrEqual(DELETED_WITHIN_MS);
    },
  );

  test("comes as fast to a Node whose machine goes as soon as this process leads", async () => {
    // The next inventory is due before the first period is over.
    await using rig = await startFleet(3, { standbyMs: 29_000 });
    rig.loseMachines("n1");
    await rig.clock.advance(2_000);
    expect(rig.provider.lists).toBe(2);
    rig.server.setReady("n1", "Unknown");
    const tookMs = await rig.advanceUntil(() => isGone(rig, "n1"), LONG_MS);
    expect(tookMs).toBeLessThanOrEqual(DELETED_WITHIN_MS);
  });

  test("comes ten minutes after the start to a Node whose machine was never seen", async () => {
    await using rig = await startFleet(3, {
      prepare: (world) => {
        world.add("n0", { ready: "Unknown" });
        world.loseMachines("n0");
      },
    });
    await rig.clock.advance(DELETED_WITHIN_MS);
    expect(rig.describe("n0")?.deletion).toMatchObject({ state: "blocked", reason: "neverSeen" });
    const [told] = rig.listEvents("n0", "NodeDeletionBlocked");
    expect(told?.message).toContain("has not seen it since its first inventory");
    expect(rig.readMetric('landfall_node_deletions_blocked{reason="neverSeen"}')).toBe(1);
    const tookMs = await rig.advanceUntil(() => isGone(rig, "n0"), 2 * NEVER_SEEN_MS);
    expect(DELETED_WITHIN_MS + tookMs).toBeGreaterThanOrEqual(NEVER_SEEN_MS);
    expect(DELETED_WITHIN_MS + tookMs).toBeLessThanOrEqual(NEVER_SEEN_MS + 30_000);
  });

  test("comes as soon as to any other to a Node whose machine was only seen as it joined", async () => {
    await using rig = await startFleet(3, {
      prepare: ({ provider }) => provider.instances.set("n9", toInstance("n9")),
    });
    await rig.clock.advance(29_999);
    rig.add("n9");
    await rig.clock.advance(0);
    // No look in between: the next one comes with the refresh that lacks it.
    lose(rig, "n9");
    const tookMs = await rig.advanceUntil(() => isGone(rig, "n9"), LONG_MS);
    expect(tookMs).toBeLessThanOrEqual(DELETED_WITHIN_MS);
  });

  test.each<[string, NodeOptions & { name?: string }, boolean, boolean]>([
    ["by its name", {}, true, true],
    ["by its system UUID", { name: "other", systemUuid: "UU-9" }, true, true],
    ["but not by default", {}, false, false],
    ["but not while its kubelet reports", { ready: "True" }, true, false],
    ["but not one that was never seen", { name: "other" }, true, false],
  ])(
    "comes to a Node that was never initialised, and whose machine was seen before, %s",
    async (_title, { name = "n9", ...options }, includesUninitialized, isDeleted) => {
      await using rig = await startFleet(3, {
        deletion: { includesUninitialized },
        prepare: ({ provider }) =>
          provider.instances.set("n9", toInstance("n9", { systemUuid: "uu-9" })),
      });
      rig.loseMachines("n9");
      await rig.clock.advance(NEVER_SEEN_MS);
      rig.server.put(toNode(name, { ready: "Unknown", ...options }));
      const tookMs = await rig.advanceUntil(() => isGone(rig, name), LONG_MS);
      expect(isGone(rig, name)).toBe(isDeleted);
      if (!isDeleted) return;
      expect(tookMs).toBeGreaterThanOrEqual(60_000);
      const [said] = rig.listEvents(name, "DeletingNode");
      expect(said?.message).toContain("its machine is gone: scripted");
    },
  );

  test("of Nodes that were never initialised is within the fleet limit, too", async () => {
    const names = ["n6", "n7", "n8", "n9"];
    await using rig = await startFleet(3, {
      deletion: { includesUninitialized: true },
      prepare: ({ provider }) => {
        for (const name of names) provider.instances.set(name, toInstance(name));
      },
    });
    rig.loseMachines(...names);
    await rig.clock.advance(NEVER_SEEN_MS);
    for (const name of names) rig.server.put(toNode(name, { ready: "Unknown" }));
    await rig.clock.advance(LONG_MS);
    expect(rig.server.deletions).toEqual([]);
    expect(rig.describe("n9")?.deletion).toMatchObject({ reason: "fleetLimit" });
  });

  test("L-02 a Node that is not Ready is kept while its machine is there", async () => {
    await using rig = await startFleet(3);
    rig.server.setReady("n0", "Unknown");
    await rig.clock.advance(LONG_MS);
    expect([rig.server.writes, rig.events]).toEqual([[], []]);
  });

  test("L-03 L-08 a cloud that fails deletes nothing and taints nothing", async () => {
    await using rig = await startFleet(3);
    rig.provider.failure = new CloudError("unreachable", "down");
    lose(rig, "n0");
    rig.provider.instances.set("n1", toInstance("n1", { state: "stopped" }));
    rig.server.setReady("n1", "Unknown");
    await rig.clock.advance(LONG_MS);
    expect(rig.server.writes).toEqual([]);
    rig.provider.failure = undefined;
    await rig.clock.advance(60_000 + DELETED_WITHIN_MS);
    expect([isGone(rig, "n0"), rig.listTaints("n1")]).toEqual([true, [SHUTDOWN]]);
  });

  test("L-04 a Ready Node is never deleted nor asked about, though its machine is gone", async () => {
    await using rig = await startFleet(3);
    rig.loseMachines("n0");
    await rig.clock.advance(LONG_MS);
    expect([rig.server.writes, rig.provider.reads, rig.events]).toEqual([[], 0, []]);
    expect(rig.describe("n0")?.deletion).toMatchObject({ state: "waiting", reason: "ready" });
    expect(rig.metrics.render()).not.toContain("landfall_node_deletions_blocked{");
  });

  test("L-09 a Node whose machine was off and then went is deleted", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped", ready: "False" });
    await rig.clock.advance(30_000);
    expect(rig.listTaints("n0")).toEqual([SHUTDOWN]);
    rig.loseMachines("n0");
    await rig.clock.advance(30_000 + DELETED_WITHIN_MS);
    expect(isGone(rig, "n0")).toBe(true);
  });

  test("L-14 Nodes that are foreign, uninitialised or without a provider ID are left alone", async () => {
    await using rig = await startFleet(9, {
      prepare: ({ server }) => {
        const initialised = { uninitialized: false, ready: "Unknown" };
        server.put(toNode("foreign", { ...initialised, providerId: "aws:///i-1" }));
        server.put(toNode("empty", { ...initialised, providerId: "" }));
        server.put(toNode("none", initialised));
        server.put(toNode("new", { providerId: "test://new", ready: "Unknown" }));
      },
    });
    await rig.clock.advance(LONG_MS);
    expect([rig.server.writes, rig.events, rig.provider.reads]).toEqual([[], [], 0]);
    expect(rig.describe("foreign")).toEqual({ ready: "Unknown" });
  });

  test.each(["forbidden", "unavailable"] as const)(
    "L-11 a refused deletion (%s) is told and retried, and holds up no other",
    async (kind) => {
      await using rig = await startFleet(12);
      rig.server.beforeWrite = ({ path }) => {
        if (path.name === "n0") rig.server.refusals.set("delete", kind);
        else rig.server.refusals.clear();
      };
      lose(rig, "n0", "n1");
      await rig.advanceUntil(() => isGone(rig, "n1"), DELETED_WITHIN_MS);
      expect([isGone(rig, "n0"), isGone(rig, "n1")]).toEqual([false, true]);
      const [failed] = rig.listEvents("n0", "DeletingNodeFailed");
      expect(failed).toMatchObject({ type: "Warning" });
      expect(failed?.message).toStartWith("Failed deleting node n0: refused to delete");
      expect(rig.readMetric('landfall_node_deletions_total{result="failed"}')).toBe(1);
      rig.server.beforeWrite = () => rig.server.refusals.clear();
      await rig.clock.advance(10_000);
      expect(isGone(rig, "n0")).toBe(true);
    },
  );

  test.each(["notFound", "conflict"] as const)(
    "L-11 a deletion that somebody else overtook (%s) is no failure to tell of",
    async (kind) => {
      await using rig = await startFleet(3);
      rig.server.refusals.set("delete", kind);
      lose(rig, "n0");
      await rig.advanceUntil(() => rig.server.deletions.length > 0, DELETED_WITHIN_MS);
      rig.server.refusals.clear();
      await rig.clock.advance(15_000);
      expect(rig.listEvents("n0", "DeletingNodeFailed")).toEqual([]);
      expect(isGone(rig, "n0")).toBe(true);
    },
  );

  test("that is refused on and on is tried ever more rarely", async () => {
    await using rig = await startFleet(3);
    rig.server.refusals.set("delete", "forbidden");
    lose(rig, "n0");
    await rig.clock.advance(LONG_MS);
    expect(rig.server.deletions.length).toBeGreaterThanOrEqual(5);
    expect(rig.server.deletions.length).toBeLessThanOrEqual(10);
  });

  test("is not asked for again while a finalizer holds the Node", async () => {
    await using rig = await startFleet(3);
    rig.server.held.add("n0");
    lose(rig, "n0");
    await rig.clock.advance(LONG_MS);
    expect(rig.server.deletions).toEqual(["n0"]);
    expect(rig.provider.reads).toBe(1);
  });

  test("L-13 of a Node that hangs is tried once at a time, round after round", async () => {
    await using rig = await startFleet(12);
    const hung = Promise.withResolvers<void>();
    rig.server.onRead = () => hung.promise;
    lose(rig, "n0");
    await rig.advanceUntil(() => rig.provider.reads > 0, DELETED_WITHIN_MS);
    await rig.clock.advance(30_000);
    expect(rig.provider.reads).toBe(1);
    // Another Node is still looked after.
    rig.provider.instances.set("n1", toInstance("n1", { state: "stopped" }));
    rig.server.setReady("n1", "Unknown");
    await rig.clock.advance(10_000);
    expect(rig.listTaints("n1")).toEqual([SHUTDOWN]);
    hung.resolve();
    await rig.clock.advance(0);
    expect(rig.server.deletions).toEqual(["n0"]);
  });

  test("deletion.enabled: false only reports", async () => {
    await using rig = await startFleet(3, { deletion: { enabled: false } });
    lose(rig, "n0");
    await rig.clock.advance(LONG_MS);
    expect([rig.server.writes, rig.provider.reads]).toEqual([[], 0]);
    expect(rig.describe("n0")?.deletion).toMatchObject({ state: "blocked", reason: "disabled" });
    expect(rig.readMetric('landfall_node_deletions_blocked{reason="disabled"}')).toBe(1);
    const told = rig.listEvents("n0", "NodeDeletionBlocked");
    expect(told[0]?.type).toBe("Warning");
    // As often as the Event: not at each look.
    const records = rig.lines.filter((line) => line.includes("Keeping Node"));
    expect(records).toHaveLength(told.length);
    expect(JSON.parse(records[0] ?? "{}")).toMatchObject({
      level: "warn",
      node: "n0",
      reason: "disabled",
      explanation: told[0]?.message,
    });
  });

  test("starts again after a refresh that failed between two observations", async () => {
    await using rig = await startFleet(3);
    lose(rig, "n0");
    await rig.clock.advance(50_000);
    const { deletion } = rig.describe("n0") ?? {};
    expect(deletion).toMatchObject({ state: "waiting", reason: "holdOff" });
    rig.provider.failure = new CloudError("unreachable", "down");
    await rig.advanceUntil(() => rig.source.lastError !== undefined, 30_000);
    rig.provider.failure = undefined;
    const tookMs = await rig.advanceUntil(() => isGone(rig, "n0"), LONG_MS);
    expect(tookMs).toBeGreaterThan(60_000);
  });

  test("starts again when a Node was Ready for a moment between two looks", async () => {
    await using rig = await startFleet(3);
    lose(rig, "n0");
    await rig.clock.advance(62_000);
    rig.server.setReady("n0", "True");
    await rig.clock.advance(1);
    rig.server.setReady("n0", "Unknown");
    const tookMs = await rig.advanceUntil(() => isGone(rig, "n0"), LONG_MS);
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
  });

  test("starts again when the cloud does not confirm, which shows until it is settled", async () => {
    await using rig = await startFleet(3);
    const message = "the token may not see it";
    rig.provider.missing = () => ({ kind: "unknown", reason: "denied", message });
    lose(rig, "n0");
    await rig.advanceUntil(() => rig.provider.reads === 1, DELETED_WITHIN_MS);
    const tookMs = await rig.advanceUntil(() => rig.provider.reads === 2, LONG_MS);
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
    expect(rig.server.deletions).toEqual([]);
    expect(rig.describe("n0")?.deletion).toEqual({ state: "unconfirmed", message });
    expect(rig.readMetric('landfall_node_deletions_blocked{reason="unconfirmed"}')).toBe(1);
    const told = rig.listEvents("n0", "NodeDeletionBlocked");
    expect(told.map((event) => event.message)).toEqual([
      `The cloud did not confirm that its machine is gone: ${message}`,
    ]);
    rig.provider.instances.set("n0", toInstance("n0"));
    await rig.clock.advance(30_000);
    expect(rig.describe("n0")).toEqual({ ready: "Unknown" });
    expect(rig.readMetric('landfall_node_deletions_blocked{reason="unconfirmed"}')).toBeUndefined();
    rig.loseMachines("n0");
    await rig.clock.advance(30_000);
    expect(rig.describe("n0")?.deletion?.state).toBe("waiting");
  });

  test("a doubt ends when the kubelet is heard of", async () => {
    await using rig = await startFleet(3);
    rig.provider.missing = () => ({ kind: "unknown", reason: "denied", message: "m" });
    lose(rig, "n0");
    await rig.advanceUntil(() => rig.provider.reads === 1, DELETED_WITHIN_MS);
    expect(rig.describe("n0")?.deletion?.state).toBe("unconfirmed");
    rig.server.setReady("n0", "True");
    await rig.clock.advance(5_000);
    expect(rig.describe("n0")?.deletion).toMatchObject({ state: "waiting", reason: "ready" });
  });

  test("a Node that came again under its name inherits no doubt", async () => {
    await using rig = await startFleet(3);
    rig.provider.missing = () => ({ kind: "unknown", reason: "denied", message: "m" });
    lose(rig, "n0");
    await rig.advanceUntil(() => rig.provider.reads === 1, DELETED_WITHIN_MS);
    const node = rig.server.find("n0") ?? toNode("n0");
    rig.server.put({ ...node, metadata: { ...node.metadata, uid: "another" } });
    await rig.clock.advance(5_000);
    expect(rig.describe("n0")?.deletion).toMatchObject({ state: "waiting" });
  });

  test("a Node whose machine no pool covers is kept, and that is told", async () => {
    await using rig = await startFleet(3);
    const message = "pool p is lost";
    rig.provider.findInstance = () => ({ kind: "unknown", reason: "notCovered", message });
    lose(rig, "n0");
    await rig.clock.advance(LONG_MS);
    expect(rig.server.writes).toEqual([]);
    expect(rig.describe("n0")?.deletion).toEqual({
      state: "blocked",
      reason: "notCovered",
      message,
    });
    expect(rig.listEvents("n0", "NodeDeletionBlocked")[0]?.message).toBe(message);
    expect(rig.listEvents("n1", "NodeDeletionBlocked")).toEqual([]);
    const told = rig.listEvents("n0", "NodeDeletionBlocked").length;
    const node = rig.server.find("n0") ?? toNode("n0");
    rig.server.remove("n0");
    await rig.clock.advance(0);
    rig.server.put({ ...node, metadata: { ...node.metadata, uid: "another" } });
    await rig.clock.advance(5_000);
    expect(rig.listEvents("n0", "NodeDeletionBlocked")).toHaveLength(told + 1);
  });
});

interface SetUp extends LifecycleWorld, AsyncDisposable {
  readonly fleet: FleetWatch;
  /** Deletes Node `gone`, as it was when the guard let it pass. */
  run(signal?: AbortSignal): Promise<DeletionResult>;
}

/** Twelve Nodes; of one, `gone`, the machine was missing long enough for the guard to let it pass. */
async function setUp(deletion: DeletionSettings = DEFAULT_DELETION): Promise<SetUp> {
  const world = createLifecycleWorld();
  const { clock, source, context, metrics } = world;
  for (let at = 0; at < 11; at += 1) world.add(`n${at}`);
  const node = world.add("gone", { ready: "Unknown" });
  const fleet = new FleetWatch(context, deletion);
  const stop = new AbortController();
  const refreshing = source.run(stop.signal);
  for (let round = 0; round < 4; round += 1) {
    await clock.advance(round === 0 ? 0 : 30_000);
    fleet.look();
    // Seen once, and never again.
    world.loseMachines("gone");
  }
  expect(fleet.judge(node)).toEqual({ kind: "confirm" });
  const deleter = new Deleter({ ...context, fleet, metrics: createLifecycleMetrics(metrics) });
  return {
    ...world,
    fleet,
    run: (signal = new AbortController().signal) => deleter.delete(node, signal),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await clock.advance(0);
      await refreshing;
    },
  };
}

const OVERTAKEN: DeletionResult = { kind: "overtaken" };

describe("Deleter.delete()", () => {
  test("keeps the Node when the cloud calls it foreign, and starts again", async () => {
    await using world = await setUp();
    world.provider.missing = () => ({ kind: "foreign", providerId: "x" });
    const message = "a direct request shows the machine";
    expect(await world.run()).toEqual({ kind: "unconfirmed", message });
    const node = world.server.find("gone") ?? toNode("gone");
    expect(world.fleet.judge(node)).toMatchObject({ kind: "waiting", observations: 0 });
  });

  describe("while another part of the cloud is lost", () => {
    const LOST: Presence = { kind: "unknown", reason: "partLost", message: "pool b is lost" };
    const tolerant = { ...DEFAULT_DELETION, whileOtherPartsAreLost: true };

    test("names the setting and the way by hand, and starts again", async () => {
      await using world = await setUp();
      const asked: (boolean | undefined)[] = [];
      world.provider.missing = (_node, options) => {
        asked.push(options?.mayPartsBeLost);
        return LOST;
      };
      const result = await world.run();
      expect(result.kind).toBe("unconfirmed");
      const words = /pool b is lost; .*delete the Node by hand; deletion.whileOtherPoolsAreLost/;
      expect("message" in result ? result.message : "").toMatch(words);
      expect(asked).toEqual([false]);
      const node = world.server.find("gone") ?? toNode("gone");
      expect(world.fleet.judge(node)).toMatchObject({ kind: "waiting", observations: 0 });
    });

    test("asks again after ten minutes if the settings allow it, and then lets parts be lost", async () => {
      await using world = await setUp(tolerant);
      const { fleet, clock, server, provider } = world;
      provider.missing = (_node, options) =>
        options?.mayPartsBeLost ? { kind: "absent", evidence: "it stayed" } : LOST;
      expect(await world.run()).toMatchObject({ kind: "prolonged" });
      const node = server.find("gone") ?? toNode("gone");
      for (let atMs = 90_000; atMs < 600_000; atMs += 30_000) {
        expect(fleet.judge(node)).toMatchObject({ kind: "waiting", reason: "holdOff" });
        await clock.advance(30_000);
        fleet.look();
      }
      for (let round = 0; round < 2; round += 1) {
        await clock.advance(30_000);
        fleet.look();
      }
      expect(fleet.judge(node)).toEqual({ kind: "confirm" });
      expect(await world.run()).toEqual({ kind: "deleted" });
    });

    test("starts again when that is not enough either", async () => {
      await using world = await setUp(tolerant);
      const { fleet, clock, server, provider } = world;
      provider.missing = () => LOST;
      await world.run();
      for (let round = 0; round < 21; round += 1) {
        await clock.advance(30_000);
        fleet.look();
      }
      expect(await world.run()).toEqual({ kind: "unconfirmed", message: expect.any(String) });
      const node = server.find("gone") ?? toNode("gone");
      expect(fleet.judge(node)).toMatchObject({ kind: "waiting", observations: 0 });
    });
  });

  type Overtaking = (world: LifecycleWorld & { fleet: FleetWatch }) => void;
  const overtakings: readonly (readonly [what: string, Overtaking])[] = [
    ["is Ready", ({ server }) => server.setReady("gone", "True")],
    [
      "is another one of its name",
      ({ server }) => {
        const node = server.find("gone") ?? toNode("gone");
        server.put({ ...node, metadata: { ...node.metadata, uid: "another" } });
      },
    ],
    [
      "is on its way out",
      ({ server }) => {
        const node = server.find("gone") ?? toNode("gone");
        const deletionTimestamp = "2026-01-01T00:00:00Z";
        server.put({ ...node, metadata: { ...node.metadata, deletionTimestamp } });
      },
    ],
    [
      "has another provider ID",
      ({ server }) => {
        const node = server.find("gone") ?? toNode("gone");
        server.put({ ...node, spec: { ...node.spec, providerID: "test://n1" } });
      },
    ],
    [
      "is initialised anew",
      ({ server }) => {
        const key = "node.cloudprovider.kubernetes.io/uninitialized";
        server.setTaints("gone", [{ key, effect: "NoSchedule" }]);
      },
    ],
    [
      "is one of too many",
      ({ loseMachines, source, provider, clock, fleet, context }) => {
        loseMachines("n0", "n1", "n2", "n3");
        const inventory = { instances: new Map(provider.instances) };
        const observedAtMs = clock.monotonic();
        Object.defineProperty(source, "current", {
          value: { ...context.source.current, ...inventory, observedAtMs },
        });
        fleet.look();
      },
    ],
    [
      "starts anew",
      ({ fleet, server }) => fleet.restartCount(server.find("gone") ?? toNode("gone")),
    ],
  ];
  test.each(overtakings)("keeps the Node when meanwhile it %s", async (_what, overtake) => {
    await using world = await setUp();
    // The watch is late: only the fresh read can tell.
    world.server.isWatchHeld = true;
    world.server.onRead = () => overtake(world);
    expect(await world.run()).toEqual(OVERTAKEN);
    expect([world.server.writes, world.events, world.fleet.read().deleted]).toEqual([[], [], 0]);
  });

  test("L-15 deletes the version that it read last, whatever the watch shows", async () => {
    await using world = await setUp();
    world.server.isWatchHeld = true;
    world.server.onRead = () => {
      world.server.setTaints("gone", [{ key: "x", effect: "NoSchedule" }]);
    };
    expect(await world.run()).toEqual({ kind: "deleted" });
  });

  test("L-15 spares a Node that was created again between the fresh read and the DELETE", async () => {
    await using world = await setUp();
    world.server.beforeWrite = () => {
      const node = world.server.find("gone") ?? toNode("gone");
      world.server.put({ ...node, metadata: { ...node.metadata, uid: "another" } });
    };
    const error: unknown = await world.run().catch((thrown: unknown) => thrown);
    expect(isKubeError(error, "conflict")).toBe(true);
    expect(world.server.find("gone")?.metadata.uid).toBe("another");
    expect(world.events.map(({ reason }) => reason)).toEqual(["DeletingNode"]);
  });

  test("spares a Node that becomes Ready between the fresh read and the DELETE", async () => {
    await using world = await setUp();
    world.server.beforeWrite = () => world.server.setReady("gone", "True");
    const error: unknown = await world.run().catch((thrown: unknown) => thrown);
    expect(isKubeError(error, "conflict")).toBe(true);
    expect(world.server.find("gone")).toBeDefined();
  });

  test("sends nothing once its signal aborted, though everybody agrees", async () => {
    await using world = await setUp();
    const stop = new AbortController();
    const reason = new Error("leadership is lost");
    const { fleet } = world;
    const judge = fleet.judge.bind(fleet);
    // The last question before the DELETE.
    fleet.judge = (node) => {
      stop.abort(reason);
      return judge(node);
    };
    const error: unknown = await world.run(stop.signal).catch((thrown: unknown) => thrown);
    expect(error).toBe(reason);
    expect([world.server.writes, world.events, fleet.read().deleted]).toEqual([[], [], 0]);
  });

  test("L-11 tells when not even the last look at the Node is allowed", async () => {
    await using world = await setUp();
    world.server.refusals.set("read", "forbidden");
    const error: unknown = await world.run().catch((thrown: unknown) => thrown);
    expect(isKubeError(error, "forbidden")).toBe(true);
    expect(world.events).toMatchObject([{ node: "gone", reason: "DeletingNodeFailed" }]);
    expect(world.server.writes).toEqual([]);
  });

  test("reports no failure when the DELETE was cut off by the stop", async () => {
    await using world = await setUp();
    const stop = new AbortController();
    world.server.onWrite = () => {
      stop.abort(new Error("the process stops"));
      return new Promise(() => {});
    };
    await world.run(stop.signal).catch(() => undefined);
    expect(world.events.map(({ reason }) => reason)).toEqual(["DeletingNode"]);
  });
});
