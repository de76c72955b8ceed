/**
 * From VMs to instances, for every power state and setting.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { decodeList } from "../../../lib/cloud_http/decode.ts";
import { type Cidr, parseCidr } from "../../../lib/core/net/ip.ts";
import { COLLECTIONS, type Vm } from "../../../lib/providers/xenorchestra/client.ts";
import {
  toAddresses,
  toDevices,
  toInstance,
  toInventory,
  toSurroundings,
} from "../../../lib/providers/xenorchestra/inventory.ts";
import type { InstanceSettings } from "../../../lib/providers/xenorchestra/settings.ts";
import { HOST_PARIS_1, HOST_PARIS_2, loadCapture, POOL_LYON, POOL_PARIS } from "./fake_server.ts";

function list(name: string): unknown[] {
  const { body } = loadCapture(name);
  return Array.isArray(body) ? body : [];
}

const vms = decodeList(COLLECTIONS.vms.schema, list("vms-ccm-fields"));
const surroundings = toSurroundings(
  {
    hosts: decodeList(COLLECTIONS.hosts.schema, list("hosts-all-fields")),
    pools: decodeList(COLLECTIONS.pools.schema, list("pools-all-fields")),
  },
  undefined,
);
const SETTINGS: InstanceSettings = {
  addresses: { exclude: [], externalCidrs: [], mainIpAsExternal: false },
  zoneLabelFrom: { kind: "host" },
};
const VM: Vm = {
  id: "cf910379-9c51-46ef-af3f-4a51129ecb9e",
  $pool: POOL_PARIS,
  $container: HOST_PARIS_1,
  power_state: "Running",
  CPUs: { max: 4 },
  memory: { static: [2 ** 30, 8 * 2 ** 30] },
  tags: ["type=m1.large"],
};

describe("toInstance()", () => {
  test.each([
    ["Running", HOST_PARIS_2, "running", HOST_PARIS_2],
    ["Running", POOL_PARIS, "running", undefined],
    ["Paused", HOST_PARIS_2, "stopped", HOST_PARIS_2],
    ["Paused", "00000000-9729-4de8-aab2-0ed98ff8bdff", "stopped", undefined],
    ["Halted", POOL_PARIS, "stopped", undefined],
    ["Halted", HOST_PARIS_2, "stopped", undefined],
    ["Suspended", POOL_PARIS, "stopped", undefined],
    ["Suspended", HOST_PARIS_2, "stopped", undefined],
    ["Dreaming", HOST_PARIS_2, "unknown", undefined],
    [undefined, HOST_PARIS_2, "unknown", undefined],
  ] as const)(
    "a VM %p in container %p is %p on host %p",
    (power_state, $container, state, host) => {
      const instance = toInstance({ ...VM, power_state, $container }, surroundings, SETTINGS);
      expect(instance.state).toBe(state);
      expect(instance.zone).toBe(host);
      expect(instance.labels["topology.k8s.xenorchestra/host_id"]).toBe(host);
      expect(instance.labels["topology.k8s.xenorchestra/pool_id"]).toBe(POOL_PARIS);
      expect("zone" in instance).toBe(host !== undefined);
    },
  );

  test("leaves names out while pool or host are not listed, never a placeholder", () => {
    const nothing = { pools: new Map(), hosts: new Map() };
    const { labels, region, zone } = toInstance(VM, nothing, SETTINGS);
    expect(labels).toEqual({
      "topology.k8s.xenorchestra/pool_id": POOL_PARIS,
      "topology.k8s.xenorchestra/host_id": HOST_PARIS_1,
    });
    expect([region, zone]).toEqual([POOL_PARIS, HOST_PARIS_1]);
  });

  test.each([
    ["computed", {}, undefined, "4vCPU-8GB"],
    ["by tag", {}, "type=", "m1.large"],
    ["computed when no tag fits", {}, "kind=", "4vCPU-8GB"],
    ["C-06 by tag, as a label value", { tags: ["type=a b\u00e9"] }, "type=", "a-b"],
    ["absent without memory", { memory: undefined }, undefined, undefined],
    ["absent without CPUs", { CPUs: undefined }, undefined, undefined],
  ] as const)("instance type: %s", (_title, over, instanceTypeTag, expected) => {
    const settings = instanceTypeTag === undefined ? SETTINGS : { ...SETTINGS, instanceTypeTag };
    expect(toInstance({ ...VM, ...over }, surroundings, settings).instanceType).toBe(expected);
  });

  test("gives regions and zones their own labels, and goes on to know the pool", () => {
    const settings = {
      ...SETTINGS,
      regions: new Map([["pool-paris", "paris"]]),
      zones: new Map([[HOST_PARIS_1, "rack-1"]]),
    };
    const { region, regionLabel, zone, labels, providerId } = toInstance(
      VM,
      surroundings,
      settings,
    );
    expect([region, regionLabel, zone]).toEqual([POOL_PARIS, "paris", "rack-1"]);
    expect(labels["topology.k8s.xenorchestra/pool_id"]).toBe(POOL_PARIS);
    expect(providerId).toContain(POOL_PARIS);
    expect(toInstance(VM, surroundings, SETTINGS)).not.toHaveProperty("regionLabel");
  });

  test("has no addresses and no zone where these are left alone", () => {
    const addresses = { "0/ipv4/0": "10.0.0.5" };
    const settings = {
      ...SETTINGS,
      leavesAddresses: true,
      zoneLabelFrom: { kind: "none" },
    } as const;
    const left = toInstance({ ...VM, addresses }, surroundings, settings);
    expect([left.addresses, left.zone]).toEqual([[], undefined]);
    expect(toInstance({ ...VM, addresses }, surroundings, SETTINGS).addresses).toHaveLength(1);
  });

  test.each([
    ["what the tags say", ["type=m1"], { type: "m1" }],
    ["nothing that no prefix allows", ["a=1"], {}],
    ["nothing that is known while Xen Orchestra does not tell the tags", null, undefined],
  ])("has as labels from tags %s", (_title, tags, expected) => {
    const settings = { ...SETTINGS, tagPrefixes: ["type"] };
    expect(toInstance({ ...VM, tags }, surroundings, settings).tagLabels?.labels).toEqual(expected);
  });

  test("freezes what it gives", () => {
    const instance = toInstance(VM, surroundings, SETTINGS);
    expect(Object.isFrozen(instance)).toBe(true);
    expect(Object.isFrozen(instance.labels)).toBe(true);
    expect(Object.isFrozen(instance.addresses)).toBe(true);
  });
});

describe("toInventory()", () => {
  test("shows every VM of the captures the same way twice", () => {
    const known = new Map<string, string>();
    const lookedFor = new Set([VM.id]);
    const options = { settings: SETTINGS, known, lookedFor, observedAtMs: 7 };
    const inventory = toInventory(vms, surroundings, options);
    expect(inventory.observedAtMs).toBe(7);
    expect(inventory.lookedFor).toEqual(lookedFor);
    expect(inventory.instances.size).toBe(17);
    expect(inventory.coverage.size).toBe(2);
    const turned = { ...vms, objects: vms.objects.toReversed() };
    const again = toInventory(turned, surroundings, options);
    for (const [id, instance] of again.instances) {
      expect(instance).toEqual(inventory.instances.get(id) ?? instance);
    }
  });

  test("shows pools that are known, or that VMs name, as not covered when they are not listed", () => {
    const nothing = { pools: new Map(), hosts: new Map() };
    const { coverage } = toInventory({ objects: [VM], undecodable: new Map() }, nothing, {
      settings: SETTINGS,
      known: new Map([["old", "pool-old"]]),
      observedAtMs: 0,
    });
    expect(coverage.get("old")).toEqual({
      complete: false,
      name: "pool-old",
      reason: expect.any(String),
    });
    expect(coverage.get(POOL_PARIS)).toEqual({ complete: false, reason: expect.any(String) });
  });
});

describe("toSurroundings()", () => {
  const networks = decodeList(COLLECTIONS.networks.schema, list("networks-all-fields"));
  const vifs = decodeList(COLLECTIONS.vifs.schema, list("vifs-all-fields"));
  const none = { objects: [], undecodable: new Map() };

  test.each([
    ["k8s-nodes", 2],
    ["9d157a08-9560-464a-aa7d-0f889c9e72b0", 1],
    ["9D157A08-9560-464A-AA7D-0F889C9E72B0", 1],
    ["k8s", 0],
  ])("finds the networks %p by exact name or UUID", (network, count) => {
    const found = toSurroundings({ hosts: none, pools: none, networks, vifs }, network);
    expect(found.networkIds?.size).toBe(count);
  });
});

describe("toDevices()", () => {
  test("gathers device numbers by VM", () => {
    const vif = (device: string, $network: string) => ({ id: device, device, $VM: "v", $network });
    const devices = toDevices([vif("0", "a"), vif("10", "b"), vif("2", "b")], new Set(["b"]));
    expect(devices).toEqual(new Map([["v", new Set([10, 2])]]));
  });
});

describe("records that are damaged", () => {
  test.each([
    [1e308, 8 * 2 ** 30],
    [Infinity, 8 * 2 ** 30],
    [-4, 8 * 2 ** 30],
    [0, 8 * 2 ** 30],
    [2.5, 8 * 2 ** 30],
    [4, -1],
    [4, 1e300],
    [4, 0],
  ])("%p processors and %p bytes make no instance type", (max, memory) => {
    const vm = { ...VM, CPUs: { max }, memory: { static: [0, memory] } };
    expect("instanceType" in toInstance(vm, surroundings, SETTINGS)).toBe(false);
  });

  test.each<[unknown, unknown]>([
    [null, "b"],
    [undefined, "b"],
    ["", "b"],
    [" ", "b"],
    ["1e0", "b"],
    ["-1", "b"],
    [0.5, "b"],
    [{}, "b"],
    ["1", null],
    ["1", undefined],
    ["1", 7],
  ])(
    "an interface with the number %j in the network %j leaves its VM without addresses",
    (device, $network) => {
      const good = { id: "v", device: "3", $VM: "vm", $network: "b" };
      const other = { ...good, $VM: "other" };
      const vifs = [good, { ...good, device, $network }, other, { ...good, device: 4 }];
      expect(toDevices(vifs, new Set(["b"]))).toEqual(new Map([["other", new Set([3])]]));
    },
  );

  test("a pool that cannot be read is a part that is not known", () => {
    const pools = decodeList(COLLECTIONS.pools.schema, [
      ...list("pools-all-fields").filter((one) => Object(one).id === POOL_PARIS),
      { id: POOL_LYON, master: 5 },
      "pool",
    ]);
    const hosts = decodeList(COLLECTIONS.hosts.schema, list("hosts-all-fields"));
    const none = { objects: [], undecodable: new Map() };
    const { coverage } = toInventory(none, toSurroundings({ hosts, pools }, undefined), {
      settings: SETTINGS,
      known: new Map([[POOL_LYON, "Lyon"]]),
      observedAtMs: 0,
    });
    expect([...coverage].map(([id, { complete, name }]) => [id, complete, name])).toEqual([
      [POOL_PARIS, true, expect.any(String)],
      [POOL_LYON, false, "Lyon"],
      ["#2", false, undefined],
    ]);
    expect(coverage.get("#2")?.reason).toStartWith("Landfall cannot read the pool: ");
  });
});

function cidrs(...texts: string[]): Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}

const PLAIN = { exclude: [], externalCidrs: [], mainIpAsExternal: false };

function choose(addresses: Record<string, string>, over: object = {}, source: object = {}): string {
  const chosen = toAddresses({ addresses, ...source }, { ...PLAIN, ...over });
  return chosen.addresses
    .map(({ type, address }) => `${type === "InternalIP" ? "in" : "ex"} ${address}`)
    .join(", ");
}

describe("toAddresses()", () => {
  test.each([
    ["C-04 IPv6 only", { "0/ipv6/0": "2001:db8::28", "0/ipv6/1": "fe80::28" }, "in 2001:db8::28"],
    [
      "C-07 numeric device order",
      { "10/ipv4/0": "10.10.0.9", "2/ipv4/0": "10.2.0.9" },
      "in 10.2.0.9",
    ],
    [
      "C-07 numeric address order",
      { "0/ipv4/10": "10.0.0.10", "0/ipv4/2": "10.0.0.2" },
      "in 10.0.0.2",
    ],
    ["C-07 several addresses in one text", { "0/ip": "10.0.0.1 10.0.0.2" }, "in 10.0.0.1"],
    ["canonical form", { "0/ipv6/0": "2001:0DB8:0::1" }, "in 2001:db8::1"],
    [
      "keys and values that are none",
      { x: "10.0.0.1", "0/ipv4/0": "n/a", "0/mac": "10.0.0.1" },
      "",
    ],
    [
      "loopback and multicast",
      { "0/ipv4/0": "127.0.0.1", "0/ipv4/1": "224.0.0.1", "0/ipv6/0": "::1" },
      "",
    ],
  ])("%s", (_title, addresses, expected) => {
    expect(choose(addresses)).toBe(expected);
  });

  test("never publishes an excluded address", () => {
    const addresses = { "0/ipv4/0": "10.0.0.200", "0/ipv4/1": "10.0.0.51", "1/ipv4/0": "8.8.8.8" };
    const exclude = cidrs("10.0.0.200", "8.0.0.0/8");
    expect(choose(addresses, { exclude })).toBe("in 10.0.0.51");
    const main = { mainIpAddress: "10.0.0.200" };
    expect(choose(addresses, { exclude, mainIpAsExternal: true }, main)).toBe("in 10.0.0.51");
  });

  test("mainIpAsExternal publishes the main address as the Go controller does", () => {
    const addresses = { "0/ipv4/0": "10.0.0.1", "1/ipv4/0": "8.8.8.8" };
    const main = { mainIpAddress: "10.0.0.1 10.0.0.99" };
    expect(choose(addresses, { mainIpAsExternal: true }, main)).toBe(
      "in 10.0.0.1, ex 10.0.0.1, ex 10.0.0.99",
    );
    expect(choose(addresses, { mainIpAsExternal: true })).toBe("in 10.0.0.1");
  });

  test("an address in externalCIDRs is never internal, not even when its family has no other", () => {
    const externalCidrs = cidrs("172.20.0.0/16", "8.8.8.8");
    const chosen = choose({ "0/ipv4/0": "172.20.0.1", "0/ipv4/1": "8.8.8.8" }, { externalCidrs });
    expect(chosen).toBe("ex 172.20.0.1, ex 8.8.8.8");
    expect(choose({ "0/ipv4/0": "8.8.8.8", "0/ipv4/1": "8.8.4.4" }, { externalCidrs })).toBe(
      "in 8.8.4.4, ex 8.8.8.8",
    );
  });

  test("looks only at the devices it is given", () => {
    const addresses = { "0/ipv4/0": "10.0.0.1", "1/ipv4/0": "10.1.0.1" };
    expect(choose(addresses, {}, { devices: new Set([1]) })).toBe("in 10.1.0.1");
    expect(choose(addresses, {}, { devices: new Set() })).toBe("");
  });

  test("C-07 gives the same whatever order the guest reports in", () => {
    const pairs = Object.entries({
      "0/ipv4/0": "10.0.0.1",
      "0/ipv6/0": "fd00::1",
      "1/ipv4/0": "8.8.8.8",
      "10/ipv4/0": "8.8.4.4",
    });
    const turned = pairs.map((_, by) => [...pairs.slice(by), ...pairs.slice(0, by)]);
    const results = turned.map((one) => choose(Object.fromEntries(one)));
    expect(new Set(results).size).toBe(1);
  });
});
