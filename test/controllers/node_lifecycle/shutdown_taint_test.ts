import { describe, expect, test } from "bun:test";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { startFleet } from "../../support/nodes/lifecycle_rig.ts";
import { toNode } from "../../support/nodes/nodes.ts";

const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
const OTHER = { key: "example.com/mine", effect: "NoSchedule" };
/** Time after which everything that would be deleted is. */
const LONG_MS = 300_000;

describe("the shutdown taint", () => {
  test("L-06 comes to a Node that is not Ready and whose machine is off, once", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped", taints: [OTHER] });
    await rig.clock.advance(40_000);
    rig.server.setReady("n0", "Unknown");
    await rig.clock.advance(LONG_MS);
    expect(rig.listTaints("n0")).toEqual([OTHER.key, SHUTDOWN]);
    expect(rig.server.writes).toHaveLength(1);
  });

  test("comes within 3 s of NotReady when the inventory knows that the machine is off", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped" });
    await rig.clock.advance(31_000);
    const { lists } = rig.provider;
    rig.server.setReady("n0", "Unknown");
    await rig.clock.advance(0);
    expect([rig.listTaints("n0"), rig.provider.lists]).toEqual([[SHUTDOWN], lists]);
  });

  test("comes as soon as a refresh shows that the machine is off", async () => {
    await using rig = await startFleet(3);
    await rig.clock.advance(20_000);
    rig.provider.instances.set("n0", toInstance("n0", { state: "stopped" }));
    rig.server.setReady("n0", "Unknown");
    await rig.clock.advance(0);
    expect(rig.listTaints("n0")).toEqual([SHUTDOWN]);
  });

  test("L-05 does not come to a Ready Node, though its machine is said to be off", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped" });
    await rig.clock.advance(LONG_MS);
    expect(rig.server.writes).toEqual([]);
  });

  test("L-07 goes when the Node is Ready again, and no other with it", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped", ready: "False", taints: [OTHER] });
    await rig.clock.advance(30_000);
    expect(rig.listTaints("n0")).toEqual([OTHER.key, SHUTDOWN]);
    // The inventory still says that it is off: the kubelet knows better.
    rig.server.setReady("n0", "True");
    await rig.clock.advance(0);
    expect(rig.listTaints("n0")).toEqual([OTHER.key]);
  });

  test("is taken away five times a minute at most when somebody puts it back, with an Event", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { taints: [{ key: SHUTDOWN, effect: "NoSchedule" }] });
    for (let round = 0; round < 20; round += 1) {
      await rig.clock.advance(1_000);
      if ((rig.listTaints("n0") ?? []).length > 0) continue;
      rig.add("n0", { taints: [{ key: SHUTDOWN, effect: "NoSchedule" }] });
    }
    expect(rig.server.writes).toHaveLength(5);
    expect(rig.listEvents("n0", "ShutdownTaintContested")).toHaveLength(1);
    expect(rig.listEvents("n0", "ShutdownTaintRemoved")).toHaveLength(5);
    await rig.clock.advance(60_000);
    expect(rig.listTaints("n0")).toEqual([]);
  });

  test("is reported by an Event when it comes, and by another when it goes", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped", ready: "False" });
    await rig.clock.advance(LONG_MS);
    const taint = `${SHUTDOWN}:NoSchedule`;
    const set = {
      node: "n0",
      type: "Normal" as const,
      reason: "ShutdownTaintSet",
      message: `Set the taint ${taint}: the machine is off and the Node is not Ready`,
    };
    expect(rig.events).toEqual([set]);
    rig.server.setReady("n0", "True");
    await rig.clock.advance(LONG_MS);
    const message = `Removed the taint ${taint}: the Node is Ready again`;
    expect(rig.events).toEqual([set, { ...set, reason: "ShutdownTaintRemoved", message }]);
  });

  test("is reported by no Event when Kubernetes refuses to write it", async () => {
    await using rig = await startFleet(3);
    rig.server.onWrite = () => {
      throw new KubeError("forbidden", "no");
    };
    rig.add("n0", { state: "stopped", ready: "False" });
    await rig.clock.advance(40_000);
    expect([rig.listTaints("n0"), rig.events]).toEqual([[], []]);
  });

  test("L-07 leaves no empty list behind", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped", ready: "False" });
    await rig.clock.advance(30_000);
    rig.server.setReady("n0", "True");
    await rig.clock.advance(0);
    expect(rig.server.find("n0")?.spec).toEqual({ providerID: "test://n0" });
  });

  test("L-10 comes to a Node without a provider ID, whose machine is known by its name", async () => {
    await using rig = await startFleet(3);
    rig.provider.instances.set("by-name", toInstance("by-name", { state: "stopped" }));
    rig.server.put(toNode("by-name", { uninitialized: false, ready: "Unknown" }));
    await rig.clock.advance(30_000);
    expect(rig.listTaints("by-name")).toEqual([SHUTDOWN]);
  });

  test("L-12 is written again after a conflict, and loses nobody's taint", async () => {
    await using rig = await startFleet(3);
    let races = 2;
    rig.server.beforeWrite = ({ verb, path }) => {
      if (verb !== "patch" || races === 0) return;
      races -= 1;
      rig.server.isWatchHeld = races > 0;
      rig.server.setTaints(path.name ?? "", [{ key: `race-${races}`, effect: "NoSchedule" }]);
    };
    rig.add("n0", { state: "stopped", ready: "False" });
    await rig.clock.advance(60_000);
    expect([races, rig.listTaints("n0")]).toEqual([0, ["race-0", SHUTDOWN]]);
  });

  test("is not written twice while the watch has not shown it yet", async () => {
    await using rig = await startFleet(3);
    rig.add("n0", { state: "stopped", ready: "False" });
    rig.server.isWatchHeld = true;
    await rig.clock.advance(60_000);
    expect(rig.server.writes).toHaveLength(1);
  });

  test("waits for another controller's write that the watch has not shown yet", async () => {
    await using rig = await startFleet(3);
    const before = rig.add("n0", { state: "stopped" });
    await rig.clock.advance(31_000);
    rig.server.isWatchHeld = true;
    const body = { metadata: {}, spec: { taints: [OTHER] } };
    const patch = { type: "merge", body } as const;
    await rig.context.client.patch(NODES, { name: "n0" }, patch, new AbortController().signal);
    rig.server.writes.length = 0;
    rig.nodes.apply({ ...before, status: { conditions: [{ type: "Ready", status: "False" }] } });
    await rig.clock.advance(10_000);
    expect(rig.server.writes).toEqual([]);
    rig.server.isWatchHeld = false;
    rig.server.setReady("n0", "False");
    await rig.clock.advance(0);
    expect(rig.listTaints("n0")).toEqual([OTHER.key, SHUTDOWN]);
    expect(rig.server.writes).toHaveLength(1);
  });
});
