import { describe, expect, test } from "bun:test";
import { toInstance } from "../../support/cloud/instances.ts";
import { isGone, lose, startFleet } from "../../support/nodes/lifecycle_rig.ts";
import { toNode } from "../../support/nodes/nodes.ts";

/** Time after which everything that would be deleted is. */
const LONG_MS = 300_000;
const REFRESH_MS = 30_000;

describe("NodeLifecycleController", () => {
  test("L-13 every Node is looked at once in a period", async () => {
    await using rig = await startFleet(3, { monitorPeriodMs: 7_000 });
    let finds = 0;
    rig.provider.findInstance = () => {
      finds += 1;
      return { kind: "unknown", reason: "unreachable", message: "" };
    };
    for (const name of ["n0", "n1", "n2"]) rig.server.setReady(name, "False");
    await rig.clock.advance(0);
    finds = 0;
    await rig.clock.advance(6_999);
    expect(finds).toBe(0);
    await rig.clock.advance(1);
    const each = finds;
    expect(each).toBeGreaterThanOrEqual(3);
    await rig.clock.advance(14_000);
    expect(finds).toBe(3 * each);
  });

  test("while all is well nothing is looked at, and a fall or a lost machine ends that", async () => {
    await using rig = await startFleet(3);
    rig.provider.refreshIntervalMs = 3_600_000;
    await rig.clock.advance(60_000);
    let looks = 0;
    const values = rig.context.nodes.values.bind(rig.context.nodes);
    rig.context.nodes.values = () => {
      looks += 1;
      return values();
    };
    await rig.clock.advance(60_000);
    expect(looks).toBe(0);
    rig.server.setReady("n0", "False");
    await rig.clock.advance(10_000);
    expect(looks).toBeGreaterThan(0);
  });

  test("a refresh that lacks the machine of a Ready Node ends the rest", async () => {
    await using rig = await startFleet(3);
    await rig.clock.advance(60_000);
    rig.loseMachines("n0");
    await rig.clock.advance(REFRESH_MS + 60_000);
    let looks = 0;
    const values = rig.context.nodes.values.bind(rig.context.nodes);
    rig.context.nodes.values = () => {
      looks += 1;
      return values();
    };
    await rig.clock.advance(20_000);
    expect(looks).toBeGreaterThan(0);
  });

  test("while all is well an instance that was read by itself makes it look for no Node but its own", async () => {
    await using rig = await startFleet(3);
    rig.provider.refreshIntervalMs = 3_600_000;
    await rig.clock.advance(60_000);
    const names: string[] = [];
    const find = rig.provider.findInstance.bind(rig.provider);
    rig.provider.findInstance = (inventory, node) => {
      names.push(node.name);
      return find(inventory, node);
    };
    rig.provider.instances.set("n1", toInstance("n1", { zone: "other" }));
    rig.provider.hint(new Set(["n1"]));
    await rig.clock.advance(10_000);
    expect(names).toEqual(["n1"]);
  });

  test("an instance that was read by itself was seen: its Node is deleted when it goes", async () => {
    await using rig = await startFleet(9);
    const find = rig.provider.findInstance.bind(rig.provider);
    rig.provider.findInstance = (inventory, node) =>
      inventory.instances.get("late")?.zone === undefined && node.name === "late"
        ? { kind: "unknown", reason: "notCovered", message: "it may be a copy" }
        : find(inventory, node);
    rig.add("late");
    await rig.clock.advance(REFRESH_MS);
    rig.provider.instances.set("late", toInstance("late", { zone: "here" }));
    rig.provider.hint(new Set(["late"]));
    await rig.clock.advance(1_000);
    // It goes before anybody looks at every Node again.
    rig.loseMachines("late");
    const place = { kind: "unknown", reason: "notListed", message: "not listed" } as const;
    rig.provider.findInstance = (inventory, node) =>
      node.name === "late" ? place : find(inventory, node);
    await rig.clock.advance(REFRESH_MS);
    rig.server.setReady("late", "Unknown");
    expect(await rig.advanceUntil(() => isGone(rig, "late"), LONG_MS)).toBeLessThan(LONG_MS);
  });

  test("a machine that was read by itself is not the one that its Node names later", async () => {
    await using rig = await startFleet(3);
    rig.provider.instances.set("late", toInstance("late"));
    rig.server.put(toNode("late", { ready: "True" }));
    await rig.clock.advance(REFRESH_MS);
    rig.provider.instances.set("late", toInstance("late", { zone: "here" }));
    rig.provider.hint(new Set(["late"]));
    await rig.clock.advance(1_000);
    // Of that one nobody knows anything.
    const other = { providerId: "test://other", uninitialized: false, ready: "Unknown" };
    rig.server.put(toNode("late", other));
    await rig.clock.advance(300_000);
    expect(rig.describe("late")?.deletion).toMatchObject({ state: "blocked", reason: "neverSeen" });
    expect(rig.server.deletions).toEqual([]);
  });

  test("a Node that falls asks for a newer inventory at once", async () => {
    await using rig = await startFleet(3);
    await rig.clock.advance(10_000);
    expect(rig.provider.lists).toBe(1);
    rig.server.setReady("n0", "False");
    await rig.clock.advance(0);
    expect(rig.provider.lists).toBe(2);
  });

  test("a Node that falls takes an inventory for good enough until it is 5 s old", async () => {
    await using rig = await startFleet(3);
    await rig.clock.advance(4_000);
    rig.server.setReady("n0", "False");
    await rig.clock.advance(900);
    expect(rig.provider.lists).toBe(1);
    await rig.clock.advance(5_100);
    expect(rig.provider.lists).toBe(2);
  });

  test("a cloud that takes 6 s to answer is left in peace for 10 s after each request", async () => {
    await using rig = await startFleet(3, { deletion: { enabled: false } });
    const { clock, provider } = rig;
    const askedMs: number[] = [];
    provider.clock = () => {
      askedMs.push(clock.monotonic());
      provider.gate = clock.sleep(6_000, new AbortController().signal);
      return clock.monotonic();
    };
    lose(rig, "n0");
    await clock.advance(120_000);
    provider.clock = () => clock.monotonic();
    await clock.advance(6_000);
    const gapsMs = askedMs.slice(1).map((atMs, at) => atMs - (askedMs[at] ?? 0));
    expect(gapsMs.length).toBeGreaterThanOrEqual(8);
    expect(Math.min(...gapsMs.slice(1))).toBeGreaterThanOrEqual(10_000);
  });

  test("a Node that falls again, or comes again under its name, asks again", async () => {
    await using rig = await startFleet(3);
    await rig.clock.advance(10_000);
    rig.server.setReady("n0", "False");
    await rig.clock.advance(10_000);
    rig.server.setReady("n0", "True");
    await rig.clock.advance(0);
    expect(rig.provider.lists).toBe(2);
    rig.server.setReady("n0", "False");
    await rig.clock.advance(10_000);
    expect(rig.provider.lists).toBe(3);
    const node = rig.server.find("n0") ?? toNode("n0");
    rig.server.remove("n0");
    await rig.clock.advance(0);
    rig.server.put({ ...node, metadata: { ...node.metadata, uid: "another" } });
    await rig.clock.advance(0);
    expect(rig.provider.lists).toBe(4);
  });

  test.each([true, false])(
    "the cloud is looked at about every 10 s while a machine is missing (deletion.enabled: %p)",
    async (enabled) => {
      await using rig = await startFleet(3, { deletion: { enabled, holdOffMs: 3_600_000 } });
      await rig.clock.advance(30_000);
      lose(rig, "n0");
      await rig.clock.advance(10_000);
      const { lists } = rig.provider;
      await rig.clock.advance(600_000);
      expect(rig.provider.lists - lists).toBeGreaterThanOrEqual(55);
      expect(rig.provider.lists - lists).toBeLessThanOrEqual(60);
    },
  );

  test("the cloud is not looked at oftener for what is blocked", async () => {
    await using rig = await startFleet(3, { deletion: { enabled: false } });
    lose(rig, "n0");
    await rig.clock.advance(120_000);
    expect(rig.describe("n0")?.deletion?.state).toBe("blocked");
    const { lists } = rig.provider;
    await rig.clock.advance(600_000);
    expect(rig.provider.lists - lists).toBeLessThanOrEqual(60);
  });

  test.each([20_000, 300_000])(
    "a monitor period of %d ms leaves the cloud in peace while a machine is missing",
    async (monitorPeriodMs) => {
      await using rig = await startFleet(3, { monitorPeriodMs, deletion: { enabled: false } });
      lose(rig, "n0");
      await rig.clock.advance(600_000);
      expect(rig.provider.lists).toBeLessThanOrEqual(62);
    },
  );

  test("a thousand Nodes that fall together cost two inventories at most", async () => {
    await using rig = await startFleet(1_000);
    await rig.clock.advance(10_000);
    const { lists } = rig.provider;
    for (let at = 0; at < 1_000; at += 1) rig.server.setReady(`n${at}`, "Unknown");
    await rig.clock.advance(19_000);
    expect(rig.provider.lists - lists).toBeGreaterThanOrEqual(1);
    expect(rig.provider.lists - lists).toBeLessThanOrEqual(2);
  });

  test.each([["aws:///i-1"], [undefined]])(
    "a Node that is not ours, or not yet (provider ID %p), asks for nothing when it falls",
    async (providerId) => {
      const id = providerId === undefined ? {} : { providerId };
      const other = toNode("x", { ...id, uninitialized: providerId === undefined, ready: "True" });
      await using rig = await startFleet(3, { prepare: ({ server }) => server.put(other) });
      await rig.clock.advance(10_000);
      rig.server.setReady("x", "Unknown");
      await rig.clock.advance(15_000);
      expect(rig.provider.lists).toBe(1);
    },
  );
});

test("no Node is deleted after the stop", async () => {
  await using rig = await startFleet(3);
  lose(rig, "n0");
  await rig.clock.advance(50_000);
  rig.stop();
  await rig.clock.advance(LONG_MS);
  expect(rig.server.deletions).toEqual([]);
});
