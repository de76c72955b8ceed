import { expect, test } from "bun:test";
import type { IpPools } from "../../../../lib/controllers/vino/addresses/ip_pools.ts";
import type { AddressOwner } from "../../../../lib/controllers/vino/addresses/owners.ts";
import type { ReadMacs } from "../../../../lib/controllers/vino/addresses/seen_macs.ts";
import { VinoAddresses } from "../../../../lib/controllers/vino/addresses/vino_addresses.ts";
import type { Vino, VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import { VINO_OWNER } from "../../../support/vino/known.ts";

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
