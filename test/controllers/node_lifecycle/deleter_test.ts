import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { Deleter, type DeletionResult } from "../../../lib/controllers/node_lifecycle/deleter.ts";
import { FleetWatch } from "../../../lib/controllers/fleet/fleet_watch.ts";
import { createLifecycleMetrics } from "../../../lib/controllers/node_lifecycle/metrics.ts";
import { isKubeError } from "../../../lib/kube/api/errors.ts";
import { createLifecycleWorld, type LifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";
import { toNode } from "../../support/nodes/nodes.ts";

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
  test("L-15 deletes the Node with its UID and its version as preconditions", async () => {
    await using world = await setUp();
    const { uid, resourceVersion } = world.server.find("gone")?.metadata ?? {};
    expect(await world.run()).toEqual({ kind: "deleted" });
    expect(world.server.writes).toMatchObject([
      { verb: "delete", path: { name: "gone" }, body: { uid, resourceVersion } },
    ]);
    expect([uid, world.server.find("gone")]).toEqual(["uid-gone", undefined]);
    const warnings = world.lines.filter((line) => line.includes('"message":"Node deleted"'));
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
      { node: "gone", providerId: "test://gone", evidence: "scripted" },
    ]);
  });

  test("counts the deletion, before the reply and after", async () => {
    await using world = await setUp();
    let before: number | undefined;
    world.server.beforeWrite = () => (before = world.fleet.read().deleted);
    await world.run();
    world.fleet.look();
    expect([before, world.fleet.read()]).toMatchObject([
      1,
      { deleted: 1, missing: 0, affected: 1 },
    ]);
  });

  const answers: readonly (readonly [what: string, Presence, message: string])[] = [
    ["cannot tell", { kind: "unknown", reason: "denied", message: "no right" }, "no right"],
    ["does not list it", { kind: "unknown", reason: "notListed", message: "m" }, "m"],
    [
      "calls it foreign",
      { kind: "foreign", providerId: "x" },
      "a direct request shows the machine",
    ],
  ];
  test.each(answers)("keeps the Node when the cloud %s", async (_what, answer, message) => {
    await using world = await setUp();
    world.provider.missing = () => answer;
    expect(await world.run()).toEqual({ kind: "unconfirmed", message });
    expect([world.server.requests, world.server.writes, world.events]).toEqual([[], [], []]);
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

  test("keeps the Node when its machine answers", async () => {
    await using world = await setUp();
    world.add("gone", { ready: "Unknown" });
    expect(await world.run()).toMatchObject({ kind: "unconfirmed" });
    expect(world.server.writes).toEqual([]);
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

  test("is done when the Node is gone already", async () => {
    await using world = await setUp();
    world.server.remove("gone");
    const error: unknown = await world.run().catch((thrown: unknown) => thrown);
    expect(isKubeError(error, "notFound")).toBe(true);
    expect([world.server.writes, world.events]).toEqual([[], []]);
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

  test.each(["forbidden", "unavailable", "throttled", "invalid"] as const)(
    "L-11 tells of a refusal and throws it: %s",
    async (kind) => {
      await using world = await setUp();
      world.server.refusals.set("delete", kind);
      const error: unknown = await world.run().catch((thrown: unknown) => thrown);
      expect(isKubeError(error, kind)).toBe(true);
      expect(world.events).toMatchObject([
        { reason: "DeletingNode" },
        { node: "gone", type: "Warning", reason: "DeletingNodeFailed" },
      ]);
      expect(world.metrics.render()).toContain('landfall_node_deletions_total{result="failed"} 1');
    },
  );

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
