/**
 * The controller of Services with address pools, for a cloud without load balancers.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toInstance } from "../../support/cloud/instances.ts";
import { readExtent } from "../../support/extent.ts";
import { measureCpuMs } from "../../support/net/hostile.ts";
import { toSettings } from "../../support/pools/services.ts";
import { type ServiceRig, startServices, startShop } from "../../support/services/service_rig.ts";
import { longTest } from "../../support/long_tests.ts";

const KEY = "web/shop";
const SMALL = toSettings({ name: "a", addresses: ["192.0.2.10"] });
const RECORD = "landfall.dev/load-balancer";
const KUBE_VIP = "kube-vip.io/loadbalancerIPs";

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

  test("gives an address without any Node, and says nothing about Nodes", async () => {
    await using rig = await startShop({ pools: SMALL, nodes: 0 });
    expect(rig.readAddress(KEY)).toBe("192.0.2.10");
    expect(rig.listReasons(KEY)).toEqual(["EnsuredLoadBalancer"]);
  });

  test("reads no selector of Nodes: it sends no traffic to them", async () => {
    await using rig = await startServices({ pools: SMALL });
    const annotations = { "landfall.dev/load-balancer-node-selector": "a in b" };
    await rig.add("shop", { metadata: { annotations } });
    expect(rig.listReasons(KEY)).toEqual(["EnsuredLoadBalancer"]);
  });

  test("gives no address of a Node, and says whose it is", async () => {
    const pools = toSettings({ name: "a", addresses: ["192.0.2.10-192.0.2.13"] });
    await using rig = await startServices({ pools });
    const addresses = ["192.0.2.10", "192.0.2.11", "192.0.2.13"].map((address) => ({
      type: "InternalIP" as const,
      address,
    }));
    await rig.addNode("n3", (node) => ({ ...node, status: { ...node.status, addresses } }));
    await rig.add("shop");
    rig.server.add("late");
    await rig.add("asks", { spec: { loadBalancerIP: "192.0.2.10" } });
    expect(rig.readAddress(KEY)).toBe("192.0.2.12");
    expect(rig.listReasons("web/late")).toEqual(["AddressPoolExhausted"]);
    const said = rig.events.filter(({ key }) => key === "web/asks").map(({ message }) => message);
    expect(said).toEqual([
      "spec.loadBalancerIP asks for 192.0.2.10, which is an address of the Node n3",
    ]);
  });

  test.each([
    ["Local, with equal selectors", "Local", { tier: "web", app: "a" }, true],
    ["Local, with other selectors", "Local", { app: "a" }, false],
    ["Cluster, with equal selectors", "Cluster", { tier: "web", app: "a" }, false],
  ])("shares the address of a Service with policy Local: %s", async (...row) => {
    const [, externalTrafficPolicy, selector, isShared] = row;
    const addresses = ["192.0.2.10-192.0.2.11"];
    const pools = toSettings({ name: "a", addresses, shareable: true });
    await using rig = await startServices({ pools });
    const metadata = { annotations: { "landfall.dev/shared-address": "k" } };
    const spec = { externalTrafficPolicy: "Local", selector: { app: "a", tier: "web" } };
    await rig.add("shop", { metadata, spec: { ...spec, ports: [{ port: 80 }] } });
    const other = { externalTrafficPolicy, selector, ports: [{ port: 81 }] };
    await rig.add("other", { metadata, spec: other });
    expect(rig.readAddress("web/other")).toMatch(/^192/);
    expect(rig.readAddress("web/other") === rig.readAddress(KEY)).toBe(isShared);
  });

  describe("with kube-vip", () => {
    const pools = { ...SMALL, announce: "kubeVip" as const };
    const LEASED = { loadBalancer: { ingress: [{ ip: "198.51.100.77" }] } };

    test.each([
      ["the field", {}, { loadBalancerIP: "0.0.0.0" }],
      ["the annotation", { [KUBE_VIP]: "0.0.0.0" }, {}],
    ])("leaves DHCP to it: %s", async (_what, annotations, spec) => {
      await using rig = await startServices({ pools });
      await rig.add("shop", { metadata: { annotations }, spec });
      await rig.change(KEY, { status: LEASED });
      await rig.clock.advance(3_600_000);
      const other = { loadBalancer: { ingress: [{ ip: "198.51.100.78" }] } };
      await rig.change(KEY, { status: other });
      await rig.change(KEY, { status: LEASED });
      await rig.clock.advance(3_600_000);
      expect(rig.readAddress(KEY)).toBe("198.51.100.77");
      expect(rig.server.writes).toEqual([]);
      expect(new Set(rig.listReasons(KEY))).toEqual(new Set(["EnsuredLoadBalancer"]));
      const service = rig.server.find(KEY);
      expect(service && rig.controller.describe(service)?.state).toBe("ready");
      await rig.add("late");
      expect(rig.readAddress("web/late")).toBe("192.0.2.10");
    });

    test("gives its address back when a Service begins to ask for DHCP", async () => {
      await using rig = await startShop({ pools });
      await rig.change(KEY, { metadata: { annotations: { [KUBE_VIP]: "0.0.0.0" } } });
      expect(rig.readAddress(KEY)).toBeUndefined();
      expect(readAnnotation(rig, KEY, KUBE_VIP)).toBe("0.0.0.0");
      await rig.add("late");
      expect(rig.readAddress("web/late")).toBe("192.0.2.10");
      await rig.change(KEY, { status: LEASED });
      await rig.clock.advance(3_600_000);
      expect(rig.readAddress(KEY)).toBe("198.51.100.77");
      expect(readAnnotation(rig, KEY, KUBE_VIP)).toBe("0.0.0.0");
    });

    test("takes the old address out of its annotation when the field asks for DHCP", async () => {
      await using rig = await startShop({ pools });
      await rig.change(KEY, { spec: { loadBalancerIP: "0.0.0.0" } });
      expect(readAnnotation(rig, KEY, KUBE_VIP)).toBeUndefined();
    });

    test("refuses 0.0.0.0 if nobody asks a DHCP server", async () => {
      await using rig = await startServices({ pools: SMALL });
      await rig.add("shop", { spec: { loadBalancerIP: "0.0.0.0" } });
      expect(rig.readAddress(KEY)).toBeUndefined();
      expect(rig.events.map(({ message }) => message)).toEqual([
        "spec.loadBalancerIP asks for 0.0.0.0, which is no address: it means DHCP only in spec.loadBalancerIP or " +
          "kube-vip.io/loadbalancerIPs, with loadBalancers.announce: kubeVip; ask for an address of a pool",
      ]);
    });

    test("gives no address to a Service that it ignores, and takes none away", async () => {
      const name = "kube-vip.io/ignore";
      await using rig = await startServices({ pools });
      await rig.add("other", { metadata: { annotations: { [name]: "true" } } });
      await rig.add("shop", { metadata: { annotations: { [name]: "false" } } });
      expect(rig.readAddress("web/other")).toBeUndefined();
      const listIgnored = (key: string): string[] =>
        rig.events
          .filter((one) => one.key === key && one.reason === "AddressNotAnnounced")
          .map(({ message }) => message);
      expect(listIgnored("web/other")).toEqual([
        `${name} is true, so the Service gets no address, which kube-vip would not announce: remove the annotation ` +
          "to get one",
      ]);
      expect(rig.readAddress(KEY)).toBe("192.0.2.10");
      await rig.change(KEY, { metadata: { annotations: { [name]: "true" } } });
      expect(rig.readAddress(KEY)).toBe("192.0.2.10");
      expect(listIgnored(KEY)).toEqual([
        `${name} is true, so kube-vip does not announce 192.0.2.10, which the Service keeps: remove the ` +
          "annotation to have it announced",
      ]);
      rig.controller.reconfigure(SMALL);
      await rig.clock.advance(600_000);
      expect(rig.listReasons("web/other")).toContain("AddressPoolExhausted");
    });
  });

  describe("with annotations for MetalLB", () => {
    const pools = toSettings(
      { name: "a", addresses: ["192.0.2.10-192.0.2.19"] },
      { name: "b", addresses: ["198.51.100.10-198.51.100.19"], shareable: true },
    );
    const add = (
      rig: ServiceRig,
      name: string,
      annotations: Readonly<Record<string, string>>,
      spec = {},
    ): Promise<void> => rig.add(name, { metadata: { annotations }, spec });
    const messagesOf = (rig: ServiceRig, reason: string): string[] => [
      ...new Set(rig.events.flatMap((one) => (one.reason === reason ? one.message : []))),
    ];

    test.each(["metallb.io", "metallb.universe.tf"])("reads those of %s", async (prefix) => {
      await using rig = await startServices({ pools });
      await add(rig, "shop", { [`${prefix}/loadBalancerIPs`]: "192.0.2.15" });
      expect(rig.readAddress(KEY)).toBe("192.0.2.15");
      const shared = {
        [`${prefix}/address-pool`]: "b",
        [`${prefix}/allow-shared-ip`]: "k",
      };
      await add(rig, "one", shared);
      await add(rig, "two", shared, { ports: [{ port: 81 }] });
      expect(rig.readAddress("web/one")).toStartWith("198.51.100.");
      expect(rig.readAddress("web/two")).toBe(rig.readAddress("web/one") ?? "none");
      const writes = rig.server.writes.length;
      expect(writes).toBe(3);
      await rig.clock.advance(1_200_000);
      expect(rig.server.writes.length).toBe(writes);
      expect(messagesOf(rig, "AddressWishIgnored")).toEqual([]);
      await add(rig, "late", { [`${prefix}/address-pool`]: "none-such" });
      expect(messagesOf(rig, "NoAddressPool")).toEqual([
        `${prefix}/address-pool names "none-such", which is no pool; the pools are a, b`,
      ]);
    });

    test("moves no Service that has an address, and names what it ignores", async () => {
      const metadata = {
        annotations: {
          "metallb.io/loadBalancerIPs": "192.0.2.15",
          "metallb.io/address-pool": "b",
          "metallb.io/allow-shared-ip": "k",
        },
      };
      await using rig = await startServices({
        pools,
        prepare: (server) => {
          const ingress = [{ ip: "192.0.2.11" }];
          server.add("shop", { metadata, status: { loadBalancer: { ingress } } });
        },
      });
      await rig.clock.advance(60_000);
      expect(rig.readAddress(KEY)).toBe("192.0.2.11");
      const move = "the Service has an address; to move it, set landfall.dev/";
      expect(messagesOf(rig, "AddressWishIgnored")).toEqual([
        `Landfall ignores metallb.io/loadBalancerIPs "192.0.2.15": ${move}load-balancer-ips`,
        `Landfall ignores metallb.io/address-pool "b": ${move}address-pool`,
        'Landfall ignores metallb.io/allow-shared-ip "k": the pool a is not shareable',
      ]);
    });

    test("its own annotations come first", async () => {
      await using rig = await startServices({ pools });
      await add(rig, "shop", {
        "metallb.io/loadBalancerIPs": "192.0.2.15",
        "landfall.dev/load-balancer-ips": "192.0.2.16",
        "metallb.io/address-pool": "b",
        "landfall.dev/address-pool": "a",
      });
      expect(rig.readAddress(KEY)).toBe("192.0.2.16");
      await rig.clock.advance(1_200_000);
      expect(messagesOf(rig, "AddressWishIgnored")).toEqual([
        'Landfall ignores metallb.io/loadBalancerIPs "192.0.2.15": landfall.dev/load-balancer-ips counts; remove one ' +
          "of the two",
        'Landfall ignores metallb.io/address-pool "b": landfall.dev/address-pool counts; remove one of the two',
      ]);
    });

    test("spec.loadBalancerIP comes first, and what asks for the same is no conflict", async () => {
      await using rig = await startServices({ pools });
      const annotations = {
        "metallb.io/loadBalancerIPs": "192.0.2.15",
        "metallb.io/address-pool": "a",
        "landfall.dev/address-pool": "a",
      };
      await add(rig, "shop", annotations, { loadBalancerIP: "192.0.2.16" });
      expect(messagesOf(rig, "AddressWishIgnored")).toEqual([
        'Landfall ignores metallb.io/loadBalancerIPs "192.0.2.15": spec.loadBalancerIP counts; remove one of the two',
      ]);
    });

    test("of both prefixes, metallb.io comes first", async () => {
      await using rig = await startServices({ pools });
      await add(rig, "shop", {
        "metallb.universe.tf/loadBalancerIPs": "198.51.100.15",
        "metallb.io/loadBalancerIPs": "198.51.100.16",
        "metallb.universe.tf/address-pool": "a",
        "metallb.io/address-pool": "b",
        "metallb.universe.tf/allow-shared-ip": "k",
        "metallb.io/allow-shared-ip": "l",
      });
      expect(rig.readAddress(KEY)).toBe("198.51.100.16");
      await rig.clock.advance(1_200_000);
      const ends = "counts; remove one of the two";
      expect(messagesOf(rig, "AddressWishIgnored")).toEqual([
        `Landfall ignores metallb.universe.tf/loadBalancerIPs "198.51.100.15": metallb.io/loadBalancerIPs ${ends}`,
        `Landfall ignores metallb.universe.tf/address-pool "a": metallb.io/address-pool ${ends}`,
        `Landfall ignores metallb.universe.tf/allow-shared-ip "k": metallb.io/allow-shared-ip ${ends}`,
      ]);
    });
  });

  describe("with addresses that something else uses", () => {
    const pools = toSettings({ name: "a", addresses: ["192.0.2.10-192.0.2.13"] });
    const conflictsOf = (rig: ServiceRig, key: string): string[] =>
      rig.events
        .filter((one) => one.key === key && one.reason === "AddressConflict")
        .map(({ message }) => message);
    const runMachine = (rig: ServiceRig, name: string, address: string): void => {
      const addresses = [{ type: "InternalIP" as const, address }];
      rig.provider.instances.set(name, toInstance(name, { addresses }));
    };

    test("gives none of externalIPs, of machines that are no Nodes, of Services of others", async () => {
      await using rig = await startServices({
        pools,
        prepare: (server) => {
          server.add("manual", { spec: { type: "ClusterIP", externalIPs: ["192.0.2.10"] } });
          server.add("other", {
            spec: { type: "LoadBalancer", loadBalancerClass: "example.com/other" },
            status: { loadBalancer: { ingress: [{ ip: "192.0.2.12" }] } },
          });
        },
      });
      runMachine(rig, "db", "192.0.2.11");
      await rig.clock.advance(60_000);
      await rig.add("shop");
      await rig.add("late");
      expect(rig.readAddress(KEY)).toBe("192.0.2.13");
      expect(rig.listReasons("web/late")).toEqual(["AddressPoolExhausted"]);
      for (const last of [10, 11, 12]) {
        await rig.add(`asks-${last}`, { spec: { loadBalancerIP: `192.0.2.${last}` } });
      }
      const said = rig.events.filter(({ key }) => key.startsWith("web/asks"));
      expect(said.map(({ message }) => message.replace(/.*, which is /, ""))).toEqual([
        "in spec.externalIPs of the Service web/manual",
        'an address of the machine "db"',
        "the address of the Service web/other, which Landfall does not serve",
      ]);
    });

    test("does not believe a record of an address that something else has", async () => {
      await using rig = await startServices({ pools });
      runMachine(rig, "db", "192.0.2.11");
      await rig.clock.advance(60_000);
      const annotations = { [RECORD]: '{"v":1,"addresses":["192.0.2.11"]}' };
      await rig.add("shop", { metadata: { annotations } });
      expect(rig.readAddress(KEY)).toMatch(/^192\.0\.2\.1[023]$/);
    });

    test("a Service may have its own address in its externalIPs", async () => {
      await using rig = await startServices({ pools: SMALL });
      const ip = "192.0.2.10";
      await rig.add("shop", { spec: { loadBalancerIP: ip, externalIPs: [ip] } });
      expect(rig.readAddress(KEY)).toBe("192.0.2.10");
      expect(rig.listReasons(KEY)).toEqual(["EnsuredLoadBalancer"]);
    });

    test("Services that share an address may have it in their externalIPs", async () => {
      const settings = toSettings({ name: "a", addresses: ["192.0.2.10"], shareable: true });
      await using rig = await startServices({ pools: settings });
      const metadata = { annotations: { "landfall.dev/shared-address": "k" } };
      const externalIPs = ["192.0.2.10"];
      await rig.add("shop", { metadata, spec: { ports: [{ port: 80 }] } });
      await rig.change(KEY, { spec: { externalIPs } });
      await rig.add("other", { metadata, spec: { ports: [{ port: 81 }], externalIPs } });
      expect(rig.readAddress("web/other")).toBe("192.0.2.10");
      await rig.clock.advance(60_000);
      expect(rig.events.map(({ reason }) => reason)).not.toContain("AddressConflict");
    });

    test("says on both Services within seconds that externalIPs name an address in use", async () => {
      await using rig = await startShop({ pools: SMALL });
      await rig.add("manual", { spec: { type: "ClusterIP", externalIPs: ["192.0.2.10"] } });
      await rig.clock.advance(2_000);
      expect(rig.readAddress(KEY)).toBe("192.0.2.10");
      expect(conflictsOf(rig, KEY)).toEqual([
        "192.0.2.10 is also in spec.externalIPs of the Service web/manual; " +
          "the Service keeps it; give one of them another address",
      ]);
      expect(conflictsOf(rig, "web/manual")).toEqual([
        "spec.externalIPs has 192.0.2.10, which is the address of web/shop; " +
          "web/shop keeps it: use another address here",
      ]);
      await rig.remove("web/manual");
      await rig.clock.advance(2_000);
      const service = rig.server.find(KEY);
      expect(service && rig.controller.describe(service)?.problems).toEqual([]);
    });

    test("says that a machine, and then a Node, came with the address of a Service", async () => {
      await using rig = await startShop({ pools: SMALL });
      runMachine(rig, "n9", "192.0.2.10");
      await rig.clock.advance(60_000);
      expect(conflictsOf(rig, KEY)).toHaveLength(1);
      expect(conflictsOf(rig, KEY)[0]).toContain('an address of the machine "n9"');
      const addresses = [{ type: "InternalIP" as const, address: "192.0.2.10" }];
      await rig.addNode("n9", (node) => ({ ...node, status: { ...node.status, addresses } }));
      await rig.clock.advance(2_000);
      expect(conflictsOf(rig, KEY)[1]).toContain("an address of the Node n9");
      expect(rig.readAddress(KEY)).toBe("192.0.2.10");
    });

    test("a Node that announces the address of a Service has no conflict, and keeps it from none", async () => {
      await using rig = await startShop({ pools: SMALL });
      runMachine(rig, "n1", "192.0.2.10");
      await rig.clock.advance(60_000);
      expect(conflictsOf(rig, KEY)).toEqual([]);
      await rig.remove(KEY);
      await rig.add("late");
      expect(rig.readAddress("web/late")).toBe("192.0.2.10");
    });
  });

  test("says that all addresses are in use, and gives one that becomes free", async () => {
    await using rig = await startShop({ pools: SMALL });
    await rig.add("late");
    expect(rig.readAddress("web/late")).toBeUndefined();
    expect(rig.listReasons("web/late")).toContain("AddressPoolExhausted");
    await rig.remove(KEY);
    expect(rig.server.find(KEY)).toBeUndefined();
    expect(rig.readAddress("web/late")).toBe("192.0.2.10");
  });

  test("writes no Event and no warning when a waiting Service is deleted", async () => {
    await using rig = await startShop({ pools: SMALL });
    await rig.add("late");
    const [reasons, lines] = [rig.listReasons("web/late").length, rig.lines.length];
    rig.server.beforeWrite = () => {
      rig.server.isWatchHeld = true;
      rig.server.beforeWrite = () => undefined;
      rig.server.remove("web/late");
    };
    rig.server.remove(KEY);
    await rig.clock.advance(1_000);
    expect(rig.server.find("web/late")).toBeUndefined();
    rig.server.releaseWatch();
    await rig.clock.advance(60_000);
    expect(rig.listReasons("web/late").slice(reasons)).toEqual([]);
    expect(rig.lines.slice(lines).filter((one) => one.includes('"warn"'))).toEqual([]);
  });

  test("shows how full each pool is while it leads, also without Services", async () => {
    await using rig = await startServices({ pools: SMALL, isStandby: true });
    const readUsed = (): number[] => rig.controller.listPools().map(({ used }) => used);
    expect(rig.metrics.render()).not.toContain('pool="a"');
    await rig.lead();
    expect(rig.controller.listPools()).toEqual([{ pool: "a", family: "IPv4", used: 0, total: 1 }]);
    await rig.add("shop");
    expect(readUsed()).toEqual([1]);
    const series = 'landfall_address_pool_addresses_used{family="IPv4",pool="a"}';
    expect(rig.metrics.render()).toContain(`${series} 1`);
    await rig.remove(KEY);
    expect(readUsed()).toEqual([0]);
    rig.controller.reconfigure(toSettings({ name: "b", addresses: ["198.51.100.0/30"] }));
    expect(rig.controller.listPools()).toEqual([{ pool: "b", family: "IPv4", used: 0, total: 2 }]);
    expect(rig.metrics.render()).not.toContain('pool="a"');
  });

  test("describes a Service with its pool and without backends; what is not decided is not undesired", async () => {
    await using rig = await startServices({ pools: SMALL });
    const read = () => {
      const service = rig.server.find(KEY);
      return service && rig.controller.describe(service);
    };
    await rig.add("shop");
    const parts = [
      { kind: "address", name: "IPv4", wanted: "192.0.2.10", actual: "192.0.2.10" },
      { kind: "pool", name: "IPv4", wanted: "a", actual: "a" },
    ];
    expect(read()).toMatchObject({ state: "ready", parts });
    expect(read()).not.toHaveProperty("backends");
    const annotations = { "landfall.dev/address-pool": "none-such" };
    rig.server.change(KEY, { metadata: { annotations } });
    await rig.clock.advance(10_000);
    expect(rig.readAddress(KEY)).toBe("192.0.2.10");
    expect(read()).toMatchObject({
      state: "waiting",
      parts: [
        { actual: "192.0.2.10", isUndecided: true },
        { actual: "a", isUndecided: true },
      ],
      lastReconcile: { outcome: "waiting" },
    });
    expect(read()?.parts.map(({ wanted }) => wanted)).toEqual([undefined, undefined]);
  });

  test("gives a Service that is deleted and made again the same address", async () => {
    const pools = toSettings({ name: "a", addresses: ["10.0.0.0/16"] });
    await using rig = await startShop({ pools });
    const before = rig.readAddress(KEY);
    rig.server.remove(KEY);
    await rig.add("shop");
    expect(rig.readAddress(KEY)).toBe(before ?? "none");
  });

  test("frees the address of a Service that changes its type, and removes the record", async () => {
    await using rig = await startShop({ pools: SMALL });
    rig.server.change(KEY, { spec: { type: "ClusterIP" } });
    await rig.add("late");
    expect(rig.readAddress(KEY)).toBeUndefined();
    expect(readAnnotation(rig, KEY, RECORD)).toBeUndefined();
    expect(rig.readAddress("web/late")).toBe("192.0.2.10");
  });

  test("writes the annotation of kube-vip with the status, and puts it right", async () => {
    const name = "kube-vip.io/loadbalancerIPs";
    await using rig = await startShop({ pools: { ...SMALL, announce: "kubeVip" } });
    expect(readAnnotation(rig, KEY, name)).toBe("192.0.2.10");
    await rig.change(KEY, { metadata: { annotations: { [name]: "192.0.2.99" } } });
    expect(readAnnotation(rig, KEY, name)).toBe("192.0.2.10");
  });

  test("a copied annotation of kube-vip goes in one write if its address belongs to another Service", async () => {
    await using rig = await startShop({ pools: { ...SMALL, announce: "kubeVip" } });
    rig.server.add("copy", { metadata: { annotations: { [KUBE_VIP]: "192.0.2.10" } } });
    const before = rig.server.writes.length;
    await rig.clock.advance(0);
    expect(readAnnotation(rig, "web/copy", KUBE_VIP)).toBeUndefined();
    expect(rig.server.writes.length - before).toBe(1);
    expect(rig.listReasons("web/copy")).toEqual(["AddressNotAvailable", "AddressPoolExhausted"]);
  });

  test("a status that kube-vip writes for a copied annotation makes no owner", async () => {
    await using rig = await startShop({ pools: { ...SMALL, announce: "kubeVip" } });
    await rig.add("copy");
    const record = readAnnotation(rig, KEY, RECORD) ?? "";
    await rig.change("web/copy", {
      metadata: { annotations: { [KUBE_VIP]: "192.0.2.10", [RECORD]: record } },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.10" }] } },
    });
    const find = (key: string): unknown => {
      const service = rig.server.find(key);
      return service && rig.controller.describe(service);
    };
    expect(find("web/copy")).toMatchObject({
      state: "waiting",
      failure:
        "the status shows 192.0.2.10, which is the address of Service web/shop; ask for another address",
    });
    expect(rig.listReasons("web/copy")).toContain("AddressConflict");
    expect(rig.readAddress("web/copy")).toBe("192.0.2.10");
    expect(readAnnotation(rig, "web/copy", KUBE_VIP)).toBeUndefined();
    expect(readAnnotation(rig, "web/copy", RECORD)).not.toContain("192.0.2.10");
    // The owner hears of it without a change of its own.
    expect(find(KEY)).toMatchObject({ state: "ready", problems: [{ reason: "AddressConflict" }] });
    expect(rig.listReasons(KEY)).toContain("AddressConflict");
    expect(readAnnotation(rig, KEY, KUBE_VIP)).toBe("192.0.2.10");
    await rig.remove(KEY);
    expect(find("web/copy")).toMatchObject({ state: "ready", problems: [] });
    expect(readAnnotation(rig, "web/copy", KUBE_VIP)).toBe("192.0.2.10");
  });

  test("a new leader knows the owner of an address that two Services show", async () => {
    const ingress = [{ ip: "192.0.2.10" }];
    const metadata = { annotations: { [RECORD]: '{"v":1,"addresses":["192.0.2.10"]}' } };
    await using rig = await startServices({
      pools: { ...SMALL, announce: "kubeVip" },
      prepare: (server) => {
        server.add("a-copy", { status: { loadBalancer: { ingress } } });
        server.add("shop", { metadata, status: { loadBalancer: { ingress } } });
      },
    });
    await rig.clock.advance(0);
    expect(readAnnotation(rig, KEY, KUBE_VIP)).toBe("192.0.2.10");
    expect(readAnnotation(rig, "web/a-copy", KUBE_VIP)).toBeUndefined();
    expect(readAnnotation(rig, "web/a-copy", RECORD)).toBeUndefined();
  });

  test("a Service that waits for another address keeps what it was given in the annotation of kube-vip", async () => {
    await using rig = await startShop({ pools: { ...SMALL, announce: "kubeVip" } });
    const annotations = {
      "landfall.dev/load-balancer-ips": "192.0.2.99",
      [KUBE_VIP]: "192.0.2.99",
    };
    await rig.change(KEY, { metadata: { annotations } });
    expect(rig.listReasons(KEY)).toContain("AddressNotAvailable");
    expect(readAnnotation(rig, KEY, KUBE_VIP)).toBe("192.0.2.10");
  });

  test("a field that cannot be read keeps no foreign address for kube-vip", async () => {
    await using rig = await startShop({ pools: { ...SMALL, announce: "kubeVip" } });
    await rig.add("copy", {
      metadata: { annotations: { [KUBE_VIP]: "192.0.2.10" } },
      spec: { type: "LoadBalancer", ports: [] },
    });
    expect(rig.listReasons("web/copy")).toEqual(["SyncLoadBalancerFailed"]);
    expect(readAnnotation(rig, "web/copy", KUBE_VIP)).toBeUndefined();
  });

  test("writes at most five times in ten minutes against a program that writes the annotation again", async () => {
    await using rig = await startServices({ pools: { ...SMALL, announce: "kubeVip" } });
    rig.server.add("shop");
    await rig.add("copy");
    const loser = rig.readAddress(KEY) === undefined ? KEY : "web/copy";
    const annotations = {
      [KUBE_VIP]: "192.0.2.10",
      "landfall.dev/load-balancer-ips": "192.0.2.99",
    };
    const before = rig.server.writes.length;
    for (let round = 0; round < 20; round += 1) {
      rig.server.change(loser, { metadata: { annotations } });
      await rig.clock.advance(1_000);
    }
    expect(rig.server.writes.length - before).toBe(5);
  });

  test("uses other pools at once, and takes nothing away", async () => {
    await using rig = await startServices({ pools: SMALL });
    rig.server.add("shop");
    await rig.add("late");
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

longTest(
  `${MANY} Services get their addresses within 2 ms of processor time each`,
  async () => {
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
  },
  60_000,
);
