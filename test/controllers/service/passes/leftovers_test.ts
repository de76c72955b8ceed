import { describe, expect, test } from "bun:test";
import type {
  LiveServices,
  LoadBalancerLeftover,
} from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { LOAD_BALANCERS } from "../../../../lib/cloud/pools/settings.ts";
import { LoadBalancersDouble } from "../../../support/cloud/load_balancers_double.ts";
import { type ServiceRig, startServices } from "../../../support/services/service_rig.ts";

/** Shows an address of each Service; those without one in Kubernetes are leftovers. */
class Tagged extends LoadBalancersDouble {
  readonly tagged = new Map([["uid-gone", "192.0.2.99"]]);
  listLeftovers(_view: object, { uids }: LiveServices): readonly LoadBalancerLeftover[] {
    const all = [...this.addresses, ...this.tagged];
    return all
      .filter(([uid]) => !uids.has(uid))
      .map(([serviceUid, ip]) => ({
        ip,
        id: `id-${ip}`,
        service: "web/old",
        serviceUid,
        rules: 1,
      }));
  }
}

const PERIOD_MS = 700_000;

async function start(): Promise<{ readonly rig: ServiceRig; readonly cloud: Tagged }> {
  const cloud = new Tagged();
  return { rig: await startServices({ cloud }), cloud };
}

function listWarnings({ lines }: ServiceRig): string[] {
  return lines.filter((line) => line.includes("have no Service"));
}

describe("Leftovers", () => {
  test("shows what a look found without a Service, and costs no look", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    // Nobody serves it here; another process may.
    rig.server.add("other", { spec: { type: "LoadBalancer", loadBalancerClass: "x" } });
    cloud.tagged.set(rig.server.find("web/other")?.metadata.uid ?? "", "192.0.2.98");
    await rig.clock.advance(0);
    const looks = cloud.looks.length;
    expect(rig.controller.listLeftovers().map(({ ip }) => ip)).toEqual(["192.0.2.99"]);
    expect(rig.metrics.render()).toContain("landfall_load_balancer_leftovers 1");
    expect(cloud.looks.length).toBe(looks);
  });

  test("does not show the address of a Service that is being removed", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    rig.server.add("stays");
    await rig.clock.advance(0);
    cloud.isStuck = true;
    rig.server.change("web/shop", { metadata: { finalizers: null } });
    rig.server.remove("web/shop");
    await rig.clock.advance(1_000);
    expect(cloud.addresses.size).toBe(2);
    expect(rig.controller.listLeftovers().map(({ ip }) => ip)).toEqual(["192.0.2.99"]);
  });

  test("stays when the last Service goes, with the time of the look, and costs no other look", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    await rig.clock.advance(PERIOD_MS);
    rig.server.remove("web/shop");
    await rig.clock.advance(1_000);
    expect(cloud.addresses.size).toBe(0);
    const [looks, [before]] = [cloud.looks.length, rig.controller.listLeftovers()];
    await rig.clock.advance(3 * PERIOD_MS);
    expect(cloud.looks.length).toBe(looks);
    expect(rig.controller.listLeftovers()).toEqual(before === undefined ? [] : [before]);
    expect(rig.metrics.render()).toContain("landfall_load_balancer_leftovers 1");
    const ageMs = rig.clock.now() - Date.parse(before?.asOf ?? "");
    expect(ageMs).toBeGreaterThanOrEqual(3 * PERIOD_MS);
    expect(ageMs).toBeLessThan(5 * PERIOD_MS);
    // An address that a Service names again is none.
    cloud.tagged.clear();
    rig.server.add("shop");
    await rig.clock.advance(0);
    expect(rig.controller.listLeftovers()).toEqual([]);
  });

  test("forgets what another cloud showed", async () => {
    const { rig } = await start();
    await using _ = rig;
    rig.server.add("shop");
    await rig.clock.advance(0);
    rig.controller.reconfigure(LOAD_BALANCERS.standard, { isOtherCloud: true });
    expect(rig.controller.listLeftovers()).toEqual([]);
  });

  test("shows nothing before the first Service: nothing was looked at", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    await rig.clock.advance(PERIOD_MS);
    expect(cloud.looks).toEqual([]);
    expect(rig.controller.listLeftovers()).toEqual([]);
    expect(rig.metrics.render()).toContain("landfall_load_balancer_leftovers 0");
  });

  test("is written to the log once for each change, not at each pass", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    await rig.clock.advance(3 * PERIOD_MS);
    expect(listWarnings(rig)).toHaveLength(1);
    expect(listWarnings(rig)[0]).toContain("192.0.2.99 (web/old)");
    cloud.tagged.set("uid-gone-too", "192.0.2.97");
    await rig.clock.advance(PERIOD_MS);
    expect(listWarnings(rig)).toHaveLength(2);
    cloud.tagged.clear();
    await rig.clock.advance(PERIOD_MS);
    expect(listWarnings(rig)).toHaveLength(2);
    expect(rig.controller.listLeftovers()).toEqual([]);
  });
});
