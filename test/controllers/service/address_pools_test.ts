/**
 * The controller of Services with address pools, for a cloud without load balancers.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { measureCpuMs } from "../../support/net/hostile.ts";
import { toSettings } from "../../support/pools/services.ts";
import { type ServiceRig, startServices } from "../../support/services/service_rig.ts";

const KEY = "web/shop";
const SMALL = toSettings({ name: "a", addresses: ["192.0.2.10"] });
const RECORD = "landfall.dev/load-balancer";

function readAnnotation(rig: ServiceRig, key: string, name: string): string | undefined {
  return rig.server.find(key)?.metadata.annotations?.[name];
}

describe("the controller of Services with address pools", () => {
  test("gives a Service an address in one write, without a finalizer", async () => {
    await using rig = await startServices({ pools: SMALL });
    rig.server.add("shop");
    const before = rig.server.writes.length;
    await rig.clock.advance(0);
    expect(rig.readAddress(KEY)).toBe("192.0.2.10");
    expect(readAnnotation(rig, KEY, RECORD)).toBe('{"v":1,"addresses":["192.0.2.10"]}');
    expect(rig.server.find(KEY)?.status?.loadBalancer?.ingress).toMatchObject([{ ipMode: "VIP" }]);
    expect(rig.server.writes.length - before).toBe(1);
    expect(rig.listReasons(KEY)).toEqual(["EnsuredLoadBalancer"]);
    await rig.clock.advance(3_600_000);
    expect(rig.server.writes.length - before).toBe(1);
  });

  test("says that all addresses are in use, and gives one that becomes free", async () => {
    await using rig = await startServices({ pools: SMALL });
    rig.server.add("shop");
    await rig.clock.advance(0);
    rig.server.add("late");
    await rig.clock.advance(0);
    expect(rig.readAddress("web/late")).toBeUndefined();
    expect(rig.listReasons("web/late")).toContain("AddressPoolExhausted");
    rig.server.remove(KEY);
    await rig.clock.advance(0);
    expect(rig.server.find(KEY)).toBeUndefined();
    expect(rig.readAddress("web/late")).toBe("192.0.2.10");
  });

  test("gives a Service that is deleted and made again the same address", async () => {
    const pools = toSettings({ name: "a", addresses: ["10.0.0.0/16"] });
    await using rig = await startServices({ pools });
    rig.server.add("shop");
    await rig.clock.advance(0);
    const before = rig.readAddress(KEY);
    rig.server.remove(KEY);
    rig.server.add("shop");
    await rig.clock.advance(0);
    expect(rig.readAddress(KEY)).toBe(before ?? "none");
  });

  test("frees the address of a Service that changes its type, and removes the record", async () => {
    await using rig = await startServices({ pools: SMALL });
    rig.server.add("shop");
    await rig.clock.advance(0);
    rig.server.change(KEY, { spec: { type: "ClusterIP" } });
    rig.server.add("late");
    await rig.clock.advance(0);
    expect(rig.readAddress(KEY)).toBeUndefined();
    expect(readAnnotation(rig, KEY, RECORD)).toBeUndefined();
    expect(rig.readAddress("web/late")).toBe("192.0.2.10");
  });

  test("writes the annotation of kube-vip with the status, and puts it right", async () => {
    const name = "kube-vip.io/loadbalancerIPs";
    await using rig = await startServices({ pools: { ...SMALL, announce: "kubeVip" } });
    rig.server.add("shop");
    await rig.clock.advance(0);
    expect(readAnnotation(rig, KEY, name)).toBe("192.0.2.10");
    rig.server.change(KEY, { metadata: { annotations: { [name]: "192.0.2.99" } } });
    await rig.clock.advance(0);
    expect(readAnnotation(rig, KEY, name)).toBe("192.0.2.10");
  });

  test("uses other pools at once, and takes nothing away", async () => {
    await using rig = await startServices({ pools: SMALL });
    rig.server.add("shop");
    rig.server.add("late");
    await rig.clock.advance(0);
    const before = rig.readAddress(KEY) ?? rig.readAddress("web/late");
    expect(before).toBe("192.0.2.10");
    rig.controller.reconfigure(toSettings({ name: "b", addresses: ["198.51.100.7"] }));
    await rig.clock.advance(120_000);
    const shown = [rig.readAddress(KEY), rig.readAddress("web/late")];
    expect(shown.toSorted()).toEqual(["192.0.2.10", "198.51.100.7"]);
    const said = ["shop", "late"].flatMap((name) => rig.listReasons(`web/${name}`));
    expect(said).toContain("AddressOutsidePools");
  });

  test("a new leader keeps every address, and writes nothing", async () => {
    const pools = toSettings({ name: "a", addresses: ["192.0.2.0/28"] });
    const before = await startServices({ pools });
    const names = Array.from({ length: 8 }, (_, at) => `s${at}`);
    for (const name of names) before.server.add(name);
    await before.clock.advance(0);
    const kept = names.map((name) => before.server.find(`web/${name}`));
    await before.stop();
    await using after = await startServices({
      pools,
      prepare: (server) => {
        for (const service of kept)
          if (service !== undefined) server.add(service.metadata.name, service);
      },
    });
    await after.clock.advance(0);
    expect(names.map((name) => after.readAddress(`web/${name}`))).toEqual(
      kept.map((one) => one?.status?.loadBalancer?.ingress?.[0]?.ip),
    );
    expect(after.server.writes).toEqual([]);
  });
});

/** How many Services ask for addresses at once. */
const MANY = readExtent() === "all" ? 5_000 : 1_000;

test(`${MANY} Services get their addresses within 2 ms of processor time each`, async () => {
  const pools = toSettings({ name: "a", addresses: ["10.0.0.0/18"] });
  await using rig = await startServices({ pools, isStandby: true });
  const names = Array.from({ length: MANY }, (_, at) => `s${at}`);
  for (const name of names) rig.server.add(name);
  const listAddresses = (): (string | undefined)[] =>
    names.map((name) => rig.readAddress(`web/${name}`));
  const cpuMs = await measureCpuMs(async () => {
    await rig.lead();
    while (listAddresses().includes(undefined)) await rig.clock.advance(100);
  });
  expect(cpuMs).toBeLessThan(2 * MANY);
  expect(new Set(listAddresses()).size).toBe(names.length);
}, 60_000);
