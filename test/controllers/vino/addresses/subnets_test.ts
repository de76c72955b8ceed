import fc from "fast-check";
import { expect, test } from "bun:test";
import {
  joinSpans,
  listReserved,
  parseSubnet,
  type Span,
} from "../../../../lib/controllers/vino/addresses/subnets.ts";
import { MANAGEMENT, PXE, STORAGE } from "../../../support/vino/address_requests.ts";
import {
  type HeldAddress,
  toMoved,
  toTaken,
} from "../../../../lib/controllers/vino/addresses/ipam.ts";
import type {
  Vino,
  VinoNetwork,
  VinoSpec,
} from "../../../../lib/controllers/vino/resource/vino.ts";
import {
  type AddressProblem,
  toDamaged,
  toExhausted,
  toFull,
  toNoMac,
  toOverlap,
  toPoolOverlap,
  toReserved,
  toStrays,
  toTwoPools,
} from "../../../../lib/controllers/vino/addresses/problems.ts";
import {
  hasPrefix,
  isNarrow,
  type MacOwner,
  toMac,
  type ReadMacs,
  toSeenMacs,
} from "../../../../lib/controllers/vino/addresses/macs.ts";
import type { IpPools } from "../../../../lib/controllers/vino/addresses/ip_pools.ts";
import type { AddressOwner } from "../../../../lib/controllers/vino/addresses/pools/pool_set.ts";
import { VinoAddresses } from "../../../../lib/controllers/vino/addresses/vino_addresses.ts";
import { VINO_OWNER } from "../../../support/vino/known.ts";

const NETWORKS = [MANAGEMENT, STORAGE, PXE].map((network) => ({ vino: "metal/a", network }));

const span = fc
  .tuple(fc.bigInt(0n, 60n), fc.bigInt(0n, 9n))
  .map(([first, more]): Span => ({ first, last: first + more }));

function listAddresses(spans: readonly Span[]): Set<bigint> {
  const all = new Set<bigint>();
  for (const { first, last } of spans) for (let at = first; at <= last; at += 1n) all.add(at);
  return all;
}

test("joinSpans() gives the same addresses in spans with others between them", () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 8 }), (spans) => {
      const joined = joinSpans(spans);
      expect([...listAddresses(joined)].toSorted()).toEqual([...listAddresses(spans)].toSorted());
      const gaps = joined.slice(1).map(({ first }, at) => first - (joined[at]?.last ?? first));
      expect(gaps.every((gap) => gap > 1n)).toBe(true);
    }),
  );
});

test("listReserved() knows gateways and name servers of every network with the subnet", () => {
  const subnet = parseSubnet("192.0.2.0/24");
  const routes = ["192.0.2.1", "$vinobridge", "198.51.100.1"].map((gateway) => ({
    network: "0.0.0.0",
    netmask: "0.0.0.0",
    gateway,
  }));
  const network = { name: "a", subnet: "192.0.2.9/24", routes, dns_servers: ["192.0.2.53"] };
  const reserved = subnet && listReserved(subnet, [...NETWORKS, { vino: "metal/b", network }]);
  expect([...(reserved ?? [])].toSorted(([one], [other]) => Number(one - other))).toEqual([
    [0xc0000200n, "the address of the subnet"],
    [0xc0000201n, "a gateway"],
    [0xc0000235n, "a name server"],
    [0xc00002ffn, "the broadcast address"],
  ]);
});

const OAM: VinoNetwork = { name: "oam", subnet: "10.32.0.0/24" };
const PROV: VinoNetwork = { name: "prov", subnet: "10.32.1.0/24" };
const PLACE = { machine: "vino-1b4e28ba-w-0", name: "eth0" };
const OF_OAM: HeldAddress = { ip: "10.32.0.20", pool: "ippool-oam", subnet: "10.32.0.0/24" };
const WHO = "interface eth0 of vino-1b4e28ba-w-0";

test.each<[string, VinoNetwork, HeldAddress, readonly VinoNetwork[], string]>([
  [
    "an interface that is in another network now",
    PROV,
    OF_OAM,
    [OAM, PROV],
    `${WHO} has 10.32.0.20 of network oam, but the spec puts it into network prov. ` +
      "Set the name and the network of the interface back to eth0 and oam, or remove the machine",
  ],
  [
    "an interface that is in another network now, and whose pool is gone",
    PROV,
    { ip: "10.32.0.20" },
    [OAM, PROV],
    `${WHO} has 10.32.0.20 of network oam, but the spec puts it into network prov. ` +
      "Set the name and the network of the interface back to eth0 and oam, or remove the machine",
  ],
  [
    "a network with another subnet",
    { ...OAM, subnet: "10.99.0.0/24" },
    OF_OAM,
    [{ ...OAM, subnet: "10.99.0.0/24" }, PROV],
    `${WHO} has 10.32.0.20, but the subnet of network oam is 10.99.0.0/24 now. ` +
      "Set the subnet back to 10.32.0.0/24, or remove the machine",
  ],
  [
    "a network with another subnet, whose pool is gone",
    { ...OAM, subnet: "10.99.0.0/24" },
    { ip: "10.32.0.20" },
    [PROV],
    `${WHO} has 10.32.0.20, but the subnet of network oam is 10.99.0.0/24 now. ` +
      "Set the subnet back, or remove the machine",
  ],
  [
    "an IPPool with another subnet",
    OAM,
    { ...OF_OAM, subnet: "10.99.0.0/24" },
    [OAM, PROV],
    `IPPool ippool-oam lists 10.32.0.20 of ${WHO}, and has the subnet 10.99.0.0/24 now. ` +
      "Set its spec.subnet back to 10.32.0.0/24",
  ],
])("toMoved() says what to do about %s", (_what, network, held, networks, message) => {
  expect(toMoved(network, PLACE, held, networks)).toEqual({
    network: network.name,
    message,
    isDifference: true,
  });
});

test("toTaken() names both owners", () => {
  expect(toTaken(OAM, PLACE, "10.32.0.20", "other").message).toBe(
    `${WHO} has 10.32.0.20, but the IPPool of network oam lists that for other. ` +
      "Correct the IPPool, or remove one of the machines",
  );
});

const PROBLEMS: readonly AddressProblem[] = [
  toExhausted(MANAGEMENT, []),
  toFull(MANAGEMENT),
  toNoMac(MANAGEMENT),
  toOverlap(MANAGEMENT, { vino: "metal/b", network: STORAGE }),
  toPoolOverlap(MANAGEMENT, "ippool-192-168-0-0-16"),
  toTwoPools(MANAGEMENT, ["a", "b"]),
  toDamaged(MANAGEMENT, "a", "spec.subnet: must be set"),
  toStrays(MANAGEMENT, [{ ip: "192.0.2.1", machine: "vino-1b4e28ba-a-0" }]),
  toReserved(MANAGEMENT, "192.0.2.1", "vino-1b4e28ba-a-0", "a gateway"),
];

test("each problem names its network, says what to do, and has no full stop", () => {
  for (const { network, message } of PROBLEMS) {
    expect(network).toBe("management");
    expect(message).toMatch(/^network management [^;]+\. [A-Z][^;]+[^.;]$/);
    expect(message).not.toContain("undefined");
  }
});

test("toExhausted() says which Vinos have the addresses", () => {
  const counts = ["a", "b", "c", "d"].map((name, at) => [`metal/${name}`, 9 - at] as const);
  expect(toExhausted(MANAGEMENT, counts).message).toContain(
    ". 9 addresses are in use by Vino metal/a, 8 by Vino metal/b, 7 by Vino metal/c, the others by 1 more Vino. Widen",
  );
});

const UID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
const NONE: ReadonlySet<string> = new Set();

function owner(machine: string, name = "oam"): MacOwner {
  return { uid: UID, machine, interface: name };
}

test.each([
  [undefined, false, true],
  ["00:00:00:00:00:00", false, true],
  ["52:54:00:06:07:00", true, true],
  ["52:54:00:06:08:00", true, false],
])("isNarrow() and hasPrefix() with the prefix %p", (prefix, narrow, has) => {
  expect(isNarrow(prefix)).toBe(narrow);
  expect(hasPrefix("52:54:00:06:07:aa", prefix)).toBe(has);
});

test("toMac() never changes for an interface", () => {
  expect(toMac(owner("vino-1b4e28ba-worker-3"), { taken: NONE })).toBe("6e:c2:e1:ce:8c:4d");
  expect(toMac(owner("vino-1b4e28ba-worker-3"), { prefix: "52:54:00:06:00:00", taken: NONE })).toBe(
    "52:54:00:06:8c:4d",
  );
});

test("toSeenMacs() knows all addresses, and which interface of which machine has one", () => {
  const seen = toSeenMacs([
    { mac: "a" },
    { mac: "b", machine: { name: "m-0", device: 0 } },
    { mac: "c", machine: { name: "m-0", device: 10 } },
  ]);
  expect([...seen.all]).toEqual(["a", "b", "c"]);
  expect([0, 1, 10].map((device) => seen.find("m-0", device))).toEqual(["b", undefined, "c"]);
  expect(seen.find("m-01", 0)).toBeUndefined();
});

test("toSeenMacs() says of no machine that it has an address that two interfaces have", () => {
  const own = { mac: "a", machine: { name: "m-0", device: 0 } };
  for (const macs of [
    [own, { mac: "a" }],
    [{ mac: "a" }, own],
  ]) {
    expect(toSeenMacs(macs).find("m-0", 0)).toBeUndefined();
  }
});

const { signal } = new AbortController();
const SPEC: VinoSpec = {
  networks: [
    {
      name: "oam",
      subnet: "192.0.2.0/24",
      staticAllocationStart: "192.0.2.10",
      staticAllocationStop: "192.0.2.20",
      dns_servers: ["192.0.2.2"],
      routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.0.2.1" }],
    },
    { name: "pxe" },
  ],
};
const VINO: Vino = { metadata: VINO_OWNER, spec: SPEC };
const OTHER: Vino = {
  metadata: { namespace: "metal", name: "other", uid: "u-2" },
  spec: { networks: [{ name: "storage" }] },
};
const WRONG: Vino = {
  metadata: { namespace: "metal", name: "wrong", uid: "u-3" },
  spec: { networks: [{ name: "x", subnet: "nothing" }] },
};
const INTERFACES = [
  { name: "eth0", network: "oam" },
  { name: "eth1", network: "pxe", mtu: 9000 },
];

const RESTORED = [{ pool: "ippool-oam", ip: "192.0.2.10", isPoolNew: true }];

/** Pools that give out one address, and remember what they were asked. */
class Pools implements Pick<IpPools, "allocate" | "listOwners" | "release"> {
  readonly facts: Parameters<IpPools["allocate"]>[1][] = [];
  /** Whether they need the MAC addresses of the cloud. */
  isNarrow = false;
  owners: readonly AddressOwner[] = [];
  released: AddressOwner[] = [];

  async allocate(...[, facts]: Parameters<IpPools["allocate"]>): ReturnType<IpPools["allocate"]> {
    this.facts.push({ ...facts, ...(facts.known && { known: new Map(facts.known) }) });
    const given = [
      {
        name: "eth0",
        network: "oam",
        mac: "02:00:00:00:00:01",
        ip: "192.0.2.10",
        prefixLength: 24,
      },
      { name: "eth1", network: "pxe", mac: "02:00:00:00:00:02" },
    ];
    return {
      machines: new Map([["vino-1-worker-0", given]]),
      problems: new Map([
        ["vino-1-worker-1", { network: "oam", message: "oam is full" }],
        ["vino-1-worker-2", { network: "oam", message: "eth0 has another", isDifference: true }],
      ]),
      notices: [{ network: "oam", message: "oam has moved" }],
      restored: RESTORED,
      needsMacs: this.isNarrow && facts.seen === undefined,
    };
  }

  async listOwners(): Promise<readonly AddressOwner[]> {
    return this.owners;
  }

  async release(isGone: (owner: AddressOwner) => boolean): Promise<readonly AddressOwner[]> {
    this.released = this.owners.filter(isGone);
    return this.released;
  }
}

function start(): { pools: Pools; allocator: VinoAddresses } {
  const pools = new Pools();
  return { pools, allocator: new VinoAddresses(pools, { values: () => [VINO, OTHER, WRONG] }) };
}

const REQUESTS = ["vino-1-worker-0", "vino-1-worker-1"].map((name) => ({
  name,
  interfaces: INTERFACES,
}));

const noMacs: ReadMacs = () => Promise.reject(new Error("asks the cloud without need"));

test("assign() asks the cloud for MAC addresses only if pools need them", async () => {
  const { allocator, pools } = start();
  pools.isNarrow = true;
  let asked = 0;
  const readMacs: ReadMacs = async () => {
    asked += 1;
    return [{ mac: "02:00:00:00:00:09" }];
  };
  const given = await allocator.assign(VINO, SPEC, REQUESTS, readMacs, signal);
  expect(given.machines.size).toBe(1);
  expect(asked).toBe(1);
  expect(pools.facts.map(({ seen }) => seen?.all.size)).toEqual([undefined, 1]);
});

test("assign() gives nothing if the cloud does not say which MAC addresses exist", async () => {
  const { allocator, pools } = start();
  pools.isNarrow = true;
  const refused = allocator.assign(VINO, SPEC, REQUESTS, noMacs, signal);
  await expect(refused).rejects.toThrow("asks the cloud");
  pools.isNarrow = false;
  await allocator.assign(VINO, SPEC, REQUESTS, noMacs, signal);
  expect(pools.facts.at(-1)?.known?.size).toBe(0);
});

test("assign() says how guests set up their networks, and why others get nothing", async () => {
  const { allocator } = start();
  const given = await allocator.assign(VINO, SPEC, REQUESTS, noMacs, signal);
  expect(given.machines.get("vino-1-worker-0")).toMatchObject([
    {
      name: "eth0",
      addresses: [{ ip: "192.0.2.10", prefixLength: 24 }],
      routes: [{ to: "0.0.0.0/0", via: "192.0.2.1" }],
      dnsServers: ["192.0.2.2"],
    },
    { name: "eth1", mtu: 9000, addresses: [] },
  ]);
  expect(given.machines.size).toBe(1);
  expect([...given.problems]).toEqual([
    ["vino-1-worker-1", "oam is full"],
    ["vino-1-worker-2", "eth0 has another"],
  ]);
  expect(given.restored).toEqual(RESTORED);
  expect(given.differing).toEqual(new Set(["vino-1-worker-2"]));
  expect(given.notices).toEqual(["oam has moved"]);
});

test("assign() names the networks of all Vinos with a right spec, and what interfaces have already", async () => {
  const { allocator, pools } = start();
  await allocator.assign(VINO, SPEC, REQUESTS, noMacs, signal);
  await allocator.assign(VINO, SPEC, REQUESTS, noMacs, signal);
  const [first, second] = pools.facts;
  expect(first?.networks.map(({ vino, network }) => `${vino} ${network.name}`)).toEqual([
    "metal/edge oam",
    "metal/edge pxe",
    "metal/other storage",
  ]);
  expect([...(first?.known ?? [])]).toEqual([]);
  expect([...(second?.known?.values() ?? [])]).toEqual([
    { mac: "02:00:00:00:00:01", ip: "192.0.2.10" },
    { mac: "02:00:00:00:00:02" },
  ]);
});

test("release() takes back what machines of this Vino have, and forgets it", async () => {
  const { allocator, pools } = start();
  await allocator.assign(VINO, SPEC, REQUESTS, noMacs, signal);
  const owner = (vino: string, machine: string): AddressOwner => ({
    vino,
    machine,
    interface: "eth0",
  });
  pools.owners = [
    owner("metal/edge", "vino-1-worker-0"),
    owner("metal/edge", "vino-1-worker-1"),
    owner("metal/other", "vino-1-worker-0"),
  ];
  expect([...(await allocator.listHolders(VINO, signal))]).toEqual([
    "vino-1-worker-0",
    "vino-1-worker-1",
  ]);
  await allocator.release(VINO, new Set(["vino-1-worker-0"]), signal);
  expect(pools.released).toEqual([owner("metal/edge", "vino-1-worker-0")]);
  await allocator.assign(VINO, SPEC, REQUESTS, noMacs, signal);
  expect(pools.facts.at(-1)?.known?.size).toBe(0);
});
