import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { isGone, lose, startFleet } from "../../support/nodes/lifecycle_rig.ts";
import { toNode } from "../../support/nodes/nodes.ts";

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
