import { beforeEach, describe, expect, test } from "bun:test";
import { Kubelets, SILENCE_MS } from "../../../lib/cli/demo/kubelets.ts";
import { Registry } from "../../../lib/simulator/kubernetes/registry.ts";
import { ObjectAccess } from "../../../lib/simulator/kubernetes/object_access.ts";
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const MACHINE = { nodeName: "n", vmId: "v", systemUuid: "u" };
const LEASE = { name: "n", namespace: "kube-node-lease" };

describe("Kubelets", () => {
  let clock: ManualClock;
  let objects: ObjectAccess;
  let kubelets: Kubelets;
  let stop: AbortController;

  beforeEach(() => {
    clock = new ManualClock();
    objects = new ObjectAccess(new Registry(clock, 1_000));
    kubelets = new Kubelets({ objects, clock });
    stop = new AbortController();
  });

  const ready = (): Record<string, unknown> | undefined => {
    const status: { conditions?: Record<string, unknown>[] } = { ...toObject("status") };
    return status.conditions?.find(({ type }) => type === "Ready");
  };
  const toObject = (field: string): object => {
    const value = objects.getNode("n")?.[field];
    return typeof value === "object" && value !== null ? value : {};
  };
  const renewedAt = (lease: ApiObject | undefined): unknown => {
    const spec: { renewTime?: unknown } = { ...(lease?.["spec"] as object | undefined) };
    return spec.renewTime;
  };

  test("register tainted Nodes, Ready, each with a Lease", () => {
    kubelets.register(MACHINE);
    expect(toObject("spec")).toHaveProperty("taints.0.key");
    expect(ready()).toMatchObject({ status: "True", reason: "KubeletReady" });
    expect(renewedAt(objects.get("leases", LEASE))).toBe("2026-01-01T00:00:00.000000Z");
  });

  test("renew their Leases all the time, but report an unchanged status every five minutes", async () => {
    kubelets.register(MACHINE);
    const running = kubelets.run(stop.signal);
    const version = objects.getNode("n")?.metadata["resourceVersion"];
    await clock.advance(60_000);
    expect(renewedAt(objects.get("leases", LEASE))).toBe("2026-01-01T00:01:00.000000Z");
    expect(objects.getNode("n")?.metadata["resourceVersion"]).toBe(version);
    await clock.advance(240_000);
    expect(ready()).toMatchObject({
      lastHeartbeatTime: "2026-01-01T00:05:00.000Z",
      lastTransitionTime: "2026-01-01T00:00:00.000Z",
    });
    stop.abort();
    await running;
  });

  test("are given up after a while of silence, and are Ready again once they are heard of", async () => {
    kubelets.register(MACHINE);
    const running = kubelets.run(stop.signal);
    await clock.advance(10_000);
    kubelets.silence("n");
    await clock.advance(SILENCE_MS - 500);
    expect(ready()).toMatchObject({ status: "True" });
    await clock.advance(500);
    expect(ready()).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      lastHeartbeatTime: "2026-01-01T00:00:00.000Z",
      lastTransitionTime: "2026-01-01T00:00:12.000Z",
    });
    kubelets.resume("n");
    await clock.advance(500);
    expect(ready()).toMatchObject({
      status: "True",
      lastTransitionTime: "2026-01-01T00:00:12.500Z",
    });
    stop.abort();
    await running;
  });

  test("report another boot after a reboot, and none after a silence", async () => {
    kubelets.register(MACHINE);
    const running = kubelets.run(stop.signal);
    const boot = (): unknown => {
      const status: { nodeInfo?: Record<string, unknown> } = { ...toObject("status") };
      return status.nodeInfo?.["bootID"];
    };
    const first = boot();
    expect(first).toBeString();
    kubelets.silence("n");
    await clock.advance(10_000);
    kubelets.resume("n");
    await clock.advance(1_000);
    expect(boot()).toBe(first);
    kubelets.silence("n");
    await clock.advance(10_000);
    kubelets.reboot("n");
    await clock.advance(1_000);
    expect(boot()).not.toBe(first);
    expect(ready()).toMatchObject({ status: "True" });
    stop.abort();
    await running;
  });

  test("stay away once their Node is deleted, and their Lease goes with it", async () => {
    kubelets.register(MACHINE);
    const running = kubelets.run(stop.signal);
    objects.deleteNode("n");
    await clock.advance(1_000);
    expect(objects.getNode("n")).toBeUndefined();
    expect(objects.get("leases", LEASE)).toBeUndefined();
    stop.abort();
    await running;
  });
});
