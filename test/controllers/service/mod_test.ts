import { describe, expect, test } from "bun:test";
import { startServices } from "../../support/services/service_rig.ts";

const KEY = "web/shop";

describe("the controller of Services", () => {
  test("gives a Service an address, after the finalizer, and says so", async () => {
    await using rig = await startServices();
    rig.server.add("shop");
    await rig.clock.advance(0);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    expect(rig.cloud.steps).toEqual(["take 192.0.2.1", "set TCP 80"]);
    expect(rig.listReasons(KEY)).toEqual(["EnsuringLoadBalancer", "EnsuredLoadBalancer"]);
    expect(rig.server.find(KEY)?.metadata.finalizers).toEqual([
      "service.kubernetes.io/load-balancer-cleanup",
    ]);
    expect(rig.cloud.clusterIds).toEqual(["cluster-1", "cluster-2"]);
  });

  test("removes everything of a Service that is deleted, the finalizer last", async () => {
    await using rig = await startServices();
    rig.server.add("shop");
    await rig.clock.advance(0);
    rig.server.remove(KEY);
    await rig.clock.advance(0);
    expect(rig.server.find(KEY)).toBeUndefined();
    expect([rig.cloud.addresses.size, rig.cloud.rules.size]).toEqual([0, 0]);
    expect(rig.listReasons(KEY).slice(2)).toEqual(["DeletingLoadBalancer", "DeletedLoadBalancer"]);
  });
});
