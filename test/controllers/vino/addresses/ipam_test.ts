import { describe, expect, test } from "bun:test";
import {
  type AddressPlan,
  type AddressRequest,
  planAddresses,
  releaseAddresses,
} from "../../../../lib/controllers/vino/addresses/ipam.ts";
import {
  type PoolFacts,
  isIn,
  toPoolName,
  parseOwner,
} from "../../../../lib/controllers/vino/addresses/pools/pool_set.ts";
import { toSeenMacs } from "../../../../lib/controllers/vino/addresses/macs.ts";
import type { AllocatedIp, IpPoolSpec } from "../../../../lib/controllers/vino/resource/ip_pool.ts";
import type { VinoNetwork } from "../../../../lib/controllers/vino/resource/vino.ts";
import {
  MANAGEMENT,
  PXE,
  STORAGE,
  toFacts,
  toNames,
  toRequest,
} from "../../../support/vino/address_requests.ts";
import { longTest } from "../../../support/long_tests.ts";

const [WORKER_0 = "", WORKER_1 = ""] = toNames(2);
const MANAGEMENT_POOL = "ippool-192-168-0-0-20";

function plan(request: AddressRequest, facts: Partial<PoolFacts> = {}): AddressPlan {
  return planAddresses(request, toFacts(request, facts));
}

function listIps({ machines }: AddressPlan): (string | undefined)[] {
  return [...machines.values()].flatMap((all) => all.map(({ ip }) => ip));
}

function managementPool(spec: Partial<IpPoolSpec> = {}): Map<string, IpPoolSpec> {
  return new Map([[MANAGEMENT_POOL, { subnet: "192.168.0.0/20", ...spec }]]);
}

function own(ip: string, allocatedTo = `metal/tenant/${WORKER_0}/eth0`): readonly AllocatedIp[] {
  return [{ ip, mac: "52:54:00:06:00:09", allocatedTo }];
}

describe("planAddresses() gives", () => {
  test("an IPv4 address of a new pool", () => {
    const { machines, problems, changed } = plan(toRequest([MANAGEMENT], [WORKER_0]));
    const [given] = machines.get(WORKER_0) ?? [];
    const { mac = "" } = given ?? {};
    expect(given).toEqual({
      name: "eth0",
      network: "management",
      ip: "192.168.2.10",
      prefixLength: 20,
      mac: expect.stringMatching(/^52:54:00:06(:[0-9a-f]{2}){2}$/),
    });
    expect(problems.size).toBe(0);
    const spec: IpPoolSpec = {
      subnet: "192.168.0.0/20",
      ranges: [{ start: "192.168.2.10", stop: "192.168.2.24" }],
      allocatedIPs: [{ ip: "192.168.2.10", mac, allocatedTo: `metal/tenant/${WORKER_0}/eth0` }],
      macPrefix: "52:54:00:06:00:00",
    };
    expect([...changed]).toEqual([[MANAGEMENT_POOL, spec]]);
  });

  test("an IPv6 address of a subnet with 2^64 addresses, but not the first one, which is for routers", () => {
    const request = toRequest([STORAGE], [WORKER_0]);
    const { machines, changed } = plan(request);
    expect(machines.get(WORKER_0)).toMatchObject([{ ip: "2001:db8:0:1::1", prefixLength: 64 }]);
    expect([...changed.keys()]).toEqual(["ippool-2001-db8-0-1---64"]);
  });

  test("the same owner the same address and MAC address, and writes nothing", () => {
    const request = toRequest([MANAGEMENT, STORAGE, PXE], toNames(3));
    const first = plan(request);
    const again = plan(request, { pools: first.changed });
    expect(again.machines).toEqual(first.machines);
    expect(again.changed.size).toBe(0);
  });

  test("the same addresses in any order of machines", () => {
    const names = toNames(12);
    const first = plan(toRequest([MANAGEMENT], names));
    expect(plan(toRequest([MANAGEMENT], names.toReversed())).changed).toEqual(first.changed);
    expect(first.machines.get("vino-1b4e28ba-worker-2")).toMatchObject([{ ip: "192.168.2.12" }]);
    expect(first.machines.get("vino-1b4e28ba-worker-11")).toMatchObject([{ ip: "192.168.2.21" }]);
  });

  test("interfaces without static addresses only a MAC address, and makes no pool", () => {
    const { machines, changed } = plan(toRequest([{ ...PXE, subnet: "10.0.0.0/24" }], [WORKER_0]));
    const mac = expect.stringMatching(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
    expect(machines.get(WORKER_0)).toEqual([{ name: "eth0", network: "pxe", mac }]);
    expect(changed.size).toBe(0);
  });

  test("an address of the range of the network, although an old pool has other ranges", () => {
    const pools = managementPool({ ranges: [{ start: "192.168.5.1", stop: "192.168.5.9" }] });
    const { machines, changed } = plan(toRequest([MANAGEMENT], [WORKER_0]), { pools });
    expect(machines.get(WORKER_0)).toMatchObject([{ ip: "192.168.2.10" }]);
    expect(changed.get(MANAGEMENT_POOL)?.ranges).toEqual([
      { start: "192.168.2.10", stop: "192.168.2.24" },
    ]);
  });

  test("addresses of the pool of the original operator, whatever its name, and keeps what it wrote", () => {
    const old: IpPoolSpec = {
      subnet: "192.168.2.0/20",
      ranges: [{ start: "192.168.2.10", stop: "192.168.2.24" }],
      allocatedIPs: [
        { ip: "192.168.2.10", mac: "52:54:00:06:00:00", allocatedTo: "node01" },
        {
          ip: "192.168.2.11",
          mac: "52:54:00:06:00:01",
          allocatedTo: "vino-system-vino-node01-master-0/management",
        },
      ],
      allocatedRanges: [{ allocatedTo: "node01", start: "192.168.2.12", stop: "192.168.2.14" }],
      macPrefix: "52:54:00:06:00:00",
      nextMAC: "52:54:00:06:00:02",
    };
    const name = "ippool-192-168-2-0-20";
    const { machines, changed } = plan(toRequest([MANAGEMENT], [WORKER_0]), {
      pools: new Map([[name, old]]),
    });
    const [{ ip = "", mac = "" } = {}] = machines.get(WORKER_0) ?? [];
    expect(ip).toBe("192.168.2.15");
    const added = { ip, mac, allocatedTo: `metal/tenant/${WORKER_0}/eth0` };
    expect(changed.get(name)).toEqual({
      ...old,
      allocatedIPs: [...(old.allocatedIPs ?? []), added],
    });
  });

  test("a pool keeps its macPrefix, and new machines get that of their network", () => {
    const pools = managementPool({ macPrefix: "02:00:00:00:00:00" });
    const { machines, changed } = plan(toRequest([MANAGEMENT], [WORKER_0]), { pools });
    expect(machines.get(WORKER_0)?.[0]?.mac).toStartWith("52:54:00:06:");
    expect(changed.get(MANAGEMENT_POOL)?.macPrefix).toBe("02:00:00:00:00:00");
  });
});

describe("planAddresses() never gives", () => {
  const NETWORK: VinoNetwork = {
    name: "oam",
    subnet: "192.0.2.0/29",
    staticAllocationStart: "192.0.2.0",
    staticAllocationStop: "192.0.2.7",
  };
  const CASES: readonly {
    readonly what: string;
    readonly network?: Partial<VinoNetwork>;
    readonly pool?: Partial<IpPoolSpec>;
    readonly ips: readonly string[];
  }[] = [
    {
      what: "the address of the subnet, and the broadcast address",
      ips: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6"],
    },
    {
      what: "a gateway, or a name server",
      network: {
        routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.0.2.1" }],
        dns_servers: ["192.0.2.3", "198.51.100.53"],
      },
      ips: ["192.0.2.2", "192.0.2.4", "192.0.2.5", "192.0.2.6"],
    },
    {
      what: "addresses of others, in any form",
      pool: {
        allocatedIPs: [
          { ip: "192.0.2.2", mac: "02:00:00:00:00:01", allocatedTo: "a" },
          { ip: "::ffff:192.0.2.4", mac: "02:00:00:00:00:02", allocatedTo: "b" },
        ],
      },
      ips: ["192.0.2.1", "192.0.2.3", "192.0.2.5", "192.0.2.6"],
    },
    {
      what: "ranges of others",
      pool: {
        allocatedRanges: [
          { allocatedTo: "b", start: "192.0.2.3", stop: "192.0.2.4" },
          { allocatedTo: "a", start: "192.0.2.1", stop: "192.0.2.1" },
          { allocatedTo: "c", start: "192.0.2.4", stop: "192.0.2.5" },
        ],
      },
      ips: ["192.0.2.2", "192.0.2.6"],
    },
    {
      what: "addresses out of the range",
      network: { staticAllocationStart: "192.0.2.4", staticAllocationStop: "192.0.2.5" },
      ips: ["192.0.2.4", "192.0.2.5"],
    },
    {
      what: "less than both addresses of a /31",
      network: {
        subnet: "192.0.2.4/31",
        staticAllocationStart: "192.0.2.4",
        staticAllocationStop: "192.0.2.5",
      },
      ips: ["192.0.2.4", "192.0.2.5"],
    },
    {
      what: "less than the address of a /32",
      network: {
        subnet: "192.0.2.4/32",
        staticAllocationStart: "192.0.2.4",
        staticAllocationStop: "192.0.2.4",
      },
      ips: ["192.0.2.4"],
    },
    {
      what: "the first address of a subnet of IPv6, but the last one",
      network: {
        subnet: "2001:db8::/126",
        staticAllocationStart: "2001:db8::",
        staticAllocationStop: "2001:db8::3",
      },
      ips: ["2001:db8::1", "2001:db8::2", "2001:db8::3"],
    },
  ];
  for (const { what, network, pool, ips } of CASES) {
    test(what, () => {
      const one = { ...NETWORK, ...network };
      const request = toRequest([one], toNames(9));
      const pools = new Map(pool && [["old", { subnet: one.subnet ?? "", ...pool }]]);
      const made = plan(request, { pools });
      expect(listIps(made)).toEqual([...ips]);
      expect(made.problems.size).toBe(9 - ips.length);
    });
  }

  test("the gateway of the same subnet in another Vino", () => {
    const request = toRequest([MANAGEMENT], [WORKER_0]);
    const routes = [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.168.2.10" }];
    const network = { name: "other", subnet: "192.168.0.0/20", routes };
    const networks = [...toFacts(request).networks, { vino: "metal/other", network }];
    expect(listIps(plan(request, { networks }))).toEqual(["192.168.2.11"]);
  });

  test("a MAC address that another pool or another interface has", () => {
    const network = { ...MANAGEMENT, macPrefix: "52:54:00:06:00:07" };
    const pool = { subnet: "10.0.0.0/24", allocatedIPs: own("10.0.0.1", "other") };
    expect(plan(toRequest([network], [WORKER_0])).problems.size).toBe(0);
    const taken = {
      ...pool,
      allocatedIPs: [{ ip: "10.0.0.1", mac: "52:54:00:06:00:07", allocatedTo: "other" }],
    };
    const message = expect.stringMatching(
      /^network management has no free MAC address .*52:54:00:06:00:07/,
    );
    const problem = { network: "management", message };
    expect(
      plan(toRequest([network], [WORKER_0]), { pools: new Map([["p", taken]]) }).problems.get(
        WORKER_0,
      ),
    ).toEqual(problem);
    const known = new Map([["metal/other/vino-00000000-a-0/eth0", { mac: "52:54:00:06:00:07" }]]);
    expect(plan(toRequest([network], [WORKER_0]), { known }).problems.get(WORKER_0)).toEqual(
      problem,
    );
  });
});

describe("planAddresses() keeps the MAC address of an interface", () => {
  const owner = `metal/tenant/${WORKER_0}/eth0`;
  const mac = "02:00:00:00:00:77";

  test("without a static address", () => {
    const made = plan(toRequest([PXE], [WORKER_0]), { known: new Map([[owner, { mac }]]) });
    expect(made.machines.get(WORKER_0)).toMatchObject([{ mac }]);
  });

  test("that gets a static address", () => {
    const made = plan(toRequest([MANAGEMENT], [WORKER_0]), { known: new Map([[owner, { mac }]]) });
    expect(made.machines.get(WORKER_0)).toMatchObject([{ mac, ip: "192.168.2.10" }]);
  });

  test("whose network has no static addresses any more", () => {
    const { staticAllocationStart: _, staticAllocationStop: __, ...network } = MANAGEMENT;
    const pools = managementPool({ allocatedIPs: own("192.168.2.10") });
    const made = plan(toRequest([network], [WORKER_0]), { pools });
    const given = { name: "eth0", network: "management", mac: "52:54:00:06:00:09" };
    expect(made.machines.get(WORKER_0)).toEqual([given]);
    expect(made.changed.size).toBe(0);
  });

  test("unless a pool has it for another one", () => {
    const pools = managementPool({ allocatedIPs: own("192.168.2.10", "other") });
    const known = new Map([[owner, { mac: "52:54:00:06:00:09" }]]);
    const made = plan(toRequest([PXE], [WORKER_0]), { known, pools });
    expect(made.machines.get(WORKER_0)?.[0]?.mac).not.toBe("52:54:00:06:00:09");
  });
});

describe("planAddresses() with few MAC addresses", () => {
  const narrow: VinoNetwork = { ...PXE, macPrefix: "52:54:00:06:07:00" };
  const [name = ""] = toNames(1);
  const request = toRequest([narrow], [name]);
  const owner = `metal/tenant/${name}/eth0`;
  const plan = (facts: Parameters<typeof toFacts>[1]): AddressPlan =>
    planAddresses(request, toFacts(request, facts));
  const macOf = (given: AddressPlan): string | undefined => given.machines.get(name)?.[0]?.mac;
  const see = (mac: string, machine = name, device = 0): AddressPlan =>
    plan({ seen: toSeenMacs([{ mac, machine: { name: machine, device } }]) });
  const own = macOf(plan({}));

  test("needs those of the cloud for a new one only", () => {
    const wide = toRequest([PXE], [name]);
    const { seen: _seen, ...facts } = toFacts(request);
    const { seen: _none, ...wideFacts } = toFacts(wide);
    const known = new Map([[owner, { mac: own ?? "" }]]);
    const needs = [
      planAddresses(request, facts),
      planAddresses(request, { ...facts, known }),
      planAddresses(wide, wideFacts),
      plan({}),
    ].map(({ needsMacs }) => needsMacs);
    expect(needs).toEqual([true, false, false, false]);
  });

  test("gives no machine one that another interface in the cloud has", () => {
    expect(own).toStartWith("52:54:00:06:07:");
    for (const given of [
      plan({ seen: toSeenMacs([{ mac: own ?? "" }]) }),
      see(own ?? "", "vino-1b4e28ba-worker-9"),
    ]) {
      expect(macOf(given)).toStartWith("52:54:00:06:07:");
      expect(macOf(given)).not.toBe(own);
    }
  });

  test("lets a machine keep the one that it has, if it is one of the network", () => {
    expect(macOf(see("52:54:00:06:07:aa"))).toBe("52:54:00:06:07:aa");
    expect(macOf(see("52:54:00:06:08:aa"))).toBe(own);
    expect(macOf(see("52:54:00:06:07:aa", name, 1))).toBe(own);
  });

  test("does not take one back that another machine was given", () => {
    const known = new Map([["metal/tenant/other/eth0", { mac: "52:54:00:06:07:aa" }]]);
    const seen = toSeenMacs([{ mac: "52:54:00:06:07:aa", machine: { name, device: 0 } }]);
    expect(macOf(plan({ known, seen }))).toBe(own);
  });
});

describe("planAddresses() with addresses that machines have, but no pool lists", () => {
  const known = new Map([
    [`metal/tenant/${WORKER_1}/eth0`, { ip: "192.168.2.10", mac: "02:00:00:00:00:10" }],
    ["metal/other/vino-00000000-a-0/eth0", { ip: "192.168.2.11", mac: "02:00:00:00:00:11" }],
  ]);

  test("keeps them when a user deleted the pool, and gives them to no other machine", () => {
    const made = plan(toRequest([MANAGEMENT], toNames(3)), { known });
    expect(listIps(made)).toEqual(["192.168.2.12", "192.168.2.10", "192.168.2.13"]);
    expect(made.machines.get(WORKER_1)?.[0]?.mac).toBe("02:00:00:00:00:10");
    expect(made.changed.get(MANAGEMENT_POOL)?.allocatedIPs).toHaveLength(3);
    expect(made.restored).toEqual([{ pool: MANAGEMENT_POOL, ip: "192.168.2.10", isPoolNew: true }]);
  });

  test("does not say so of a machine that gets nothing", () => {
    const full = { ...STORAGE, subnet: "2001:db8::/127", staticAllocationStart: "2001:db8::" };
    const networks = [MANAGEMENT, { ...full, staticAllocationStop: "2001:db8::" }];
    const used = new Map([
      [
        "used",
        {
          subnet: "2001:db8::/127",
          allocatedIPs: [{ ip: "2001:db8::", mac: "02:00:00:00:00:99", allocatedTo: "x" }],
        },
      ],
    ]);
    const request = toRequest(networks, [WORKER_1]);
    const made = plan(request, { known, pools: used });
    expect(made.problems.size).toBe(1);
    expect(made.restored).toEqual([]);
  });

  test("gives none away that the pool lists for another machine", () => {
    const pools = managementPool({ allocatedIPs: own("192.168.2.10", "other") });
    const made = plan(toRequest([MANAGEMENT], [WORKER_1]), { known, pools });
    expect(made.problems.get(WORKER_1)?.message).toBe(
      `interface eth0 of ${WORKER_1} has 192.168.2.10, but the IPPool of network management lists that for other. ` +
        "Correct the IPPool, or remove one of the machines",
    );
    expect(made.changed.get(MANAGEMENT_POOL)?.allocatedIPs).toHaveLength(1);
  });

  test("gives a machine no other one when its subnet is another one now", () => {
    const made = plan(toRequest([{ ...MANAGEMENT, subnet: "192.168.2.0/29" }], [WORKER_1]), {
      known,
    });
    expect(made.problems.get(WORKER_1)?.message).toContain(`${WORKER_1} has 192.168.2.10, but`);
  });
});

describe("planAddresses() gives a machine all or nothing", () => {
  test("when the second network is exhausted", () => {
    const small = { ...MANAGEMENT, name: "small", staticAllocationStop: "192.168.2.11" };
    const request = toRequest([STORAGE, small], toNames(3));
    const made = plan(request);
    const [first, second, third = ""] = toNames(3);
    expect([...made.machines.keys()]).toEqual([first ?? "", second ?? ""]);
    expect(made.problems.get(third)).toEqual({
      network: "small",
      message:
        "network small has no free address from 192.168.2.10 to 192.168.2.11" +
        ". 2 addresses are in use by Vino metal/tenant. " +
        "Widen staticAllocationStart and staticAllocationStop, or remove machines",
    });
    expect(made.changed.get("ippool-2001-db8-0-1---64")?.allocatedIPs).toHaveLength(2);
  });

  test("and lets a later machine have what it does not need", () => {
    const small = { ...MANAGEMENT, name: "small", staticAllocationStop: "192.168.2.10" };
    const request = toRequest([STORAGE, small], [WORKER_0]);
    const pools = managementPool({ allocatedIPs: own("192.168.2.10", "other") });
    const both = {
      ...request,
      machines: [
        ...request.machines,
        { name: WORKER_1, interfaces: [{ name: "eth0", network: "storage" }] },
      ],
    };
    const made = plan(both, { pools });
    expect([...made.problems.keys()]).toEqual([WORKER_0]);
    expect(made.machines.get(WORKER_1)).toMatchObject([{ ip: "2001:db8:0:1::1" }]);
  });

  test("in IPv6, too", () => {
    const network = { ...STORAGE, staticAllocationStop: "2001:db8:0:1::2" };
    const made = plan(toRequest([network], toNames(3)));
    expect(listIps(made)).toEqual(["2001:db8:0:1::1", "2001:db8:0:1::2"]);
    expect(made.problems.size).toBe(1);
  });

  test("when the object has no room for more", () => {
    const allocatedIPs = Array.from({ length: 8192 }, (_, at) => ({
      ip: `10.0.${at >> 8}.${at & 255}`,
      mac: `02:00:00:00:${(at >> 8).toString(16).padStart(2, "0")}:${(at & 255).toString(16).padStart(2, "0")}`,
      allocatedTo: `other-${at}`,
    }));
    const network = {
      name: "wide",
      subnet: "10.0.0.0/8",
      staticAllocationStart: "10.1.0.0",
      staticAllocationStop: "10.2.0.0",
    };
    const pools = new Map([["old", { subnet: "10.0.0.0/8", allocatedIPs }]]);
    const { problems } = plan(toRequest([network], [WORKER_0]), { pools });
    expect(problems.get(WORKER_0)?.message).toContain(
      "as many addresses in use as an IPPool can list",
    );
    const long = allocatedIPs
      .slice(0, 4000)
      .map((one) => ({ ...one, allocatedTo: one.allocatedTo.padEnd(400) }));
    const wide = new Map([["old", { subnet: "10.0.0.0/8", allocatedIPs: long }]]);
    expect(plan(toRequest([network], [WORKER_0]), { pools: wide }).problems.size).toBe(1);
  });
});

describe("planAddresses() refuses", () => {
  const OTHER = {
    vino: "metal/other",
    network: { ...MANAGEMENT, name: "wide", subnet: "192.168.0.0/16" },
  };

  test("subnets that overlap and are not equal, and names both", () => {
    const request = toRequest([MANAGEMENT], [WORKER_0]);
    const networks = [...toFacts(request).networks, OTHER];
    const made = plan(request, { networks });
    expect(made.changed.size).toBe(0);
    expect(made.problems.get(WORKER_0)?.message).toBe(
      "network management has the subnet 192.168.2.0/20, " +
        "which overlaps 192.168.0.0/16 of network wide of Vino metal/other" +
        ". Give both networks the same subnet, or subnets without common addresses",
    );
  });

  test("no subnet that is equal, or that has addresses in use already", () => {
    const request = toRequest([MANAGEMENT], [WORKER_0]);
    const same = { ...OTHER, network: { ...OTHER.network, subnet: "192.168.9.9/20" } };
    expect(plan(request, { networks: [...toFacts(request).networks, same] }).problems.size).toBe(0);
    const pools = managementPool({ allocatedIPs: own("192.168.2.10", "other") });
    const networks = [...toFacts(request).networks, OTHER];
    expect(listIps(plan(request, { networks, pools }))).toEqual(["192.168.2.11"]);
  });

  test("a subnet that overlaps that of a pool in use", () => {
    const pools = new Map([
      ["old", { subnet: "192.168.2.0/24", allocatedIPs: own("192.168.2.99", "other") }],
    ]);
    const made = plan(toRequest([MANAGEMENT], [WORKER_0]), { pools });
    expect(made.problems.get(WORKER_0)?.message).toContain("overlaps that of IPPool old");
    const unused = new Map([["old", { subnet: "192.168.2.0/24" }]]);
    expect(plan(toRequest([MANAGEMENT], [WORKER_0]), { pools: unused }).problems.size).toBe(0);
  });

  test("two pools for one subnet", () => {
    const pools = new Map([...managementPool(), ["old", { subnet: "192.168.2.0/20" }]]);
    const made = plan(toRequest([MANAGEMENT], [WORKER_0]), { pools });
    expect(made.problems.get(WORKER_0)?.message).toContain(`2 IPPools: ${MANAGEMENT_POOL}, old`);
  });

  test("a pool that cannot be read", () => {
    const damaged = new Map([
      [MANAGEMENT_POOL, "spec.allocatedIPs: 192.168.2.10 must not have two owners"],
    ]);
    const made = plan(toRequest([MANAGEMENT], [WORKER_0]), { damaged });
    expect(made.problems.get(WORKER_0)?.message).toBe(
      `network management cannot use IPPool ${MANAGEMENT_POOL}: ` +
        "spec.allocatedIPs: 192.168.2.10 must not have two owners" +
        `. Correct it`,
    );
    expect(made.changed.size).toBe(0);
  });

  test("another address for a machine whose network has another subnet now", () => {
    const pools = managementPool({ allocatedIPs: own("192.168.2.10") });
    const network = {
      ...MANAGEMENT,
      subnet: "10.0.0.0/24",
      staticAllocationStart: "10.0.0.1",
      staticAllocationStop: "10.0.0.9",
    };
    const made = plan(toRequest([network], toNames(2)), { pools });
    expect(made.problems.get(WORKER_0)?.message).toBe(
      `interface eth0 of ${WORKER_0} has 192.168.2.10, but the subnet of network management is 10.0.0.0/24 now` +
        ". Set the subnet back to 192.168.0.0/20, or remove the machine",
    );
    expect(made.machines.get(WORKER_1)).toMatchObject([{ ip: "10.0.0.1" }]);
  });

  test("other addresses for a machine whose interfaces have each other's network now", () => {
    const before = toRequest([MANAGEMENT, STORAGE], [WORKER_0]);
    const pools = plan(before).changed;
    const networks = [STORAGE, MANAGEMENT];
    const made = plan({ ...toRequest(networks, [WORKER_0]), networks: before.networks }, { pools });
    expect(made.problems.get(WORKER_0)).toMatchObject({ isDifference: true, network: "storage" });
    expect(made.problems.get(WORKER_0)?.message).toContain(
      `interface eth0 of ${WORKER_0} has 192.168.2.10 of network management, but the spec puts it into network storage`,
    );
    expect(made.changed.size).toBe(0);
  });
});

describe("planAddresses() with another range", () => {
  const pools = managementPool({
    ranges: [{ start: "192.168.2.10", stop: "192.168.2.24" }],
    allocatedIPs: own("192.168.2.20"),
  });

  test("widens the pool", () => {
    const request = toRequest(
      [{ ...MANAGEMENT, staticAllocationStop: "192.168.2.99" }],
      [WORKER_0],
    );
    const made = plan(request, { pools });
    expect(made.changed.get(MANAGEMENT_POOL)?.ranges).toEqual([
      { start: "192.168.2.10", stop: "192.168.2.99" },
    ]);
    expect(made.notices).toEqual([]);
  });

  test("does not make the pool smaller than what is in use, and names it", () => {
    const request = toRequest(
      [{ ...MANAGEMENT, staticAllocationStop: "192.168.2.15" }],
      toNames(2),
    );
    const made = plan(request, { pools });
    expect(made.changed.get(MANAGEMENT_POOL)?.ranges).toEqual([
      { start: "192.168.2.10", stop: "192.168.2.24" },
    ]);
    expect(listIps(made)).toEqual(["192.168.2.20", "192.168.2.10"]);
    const what = `gives out no more 192.168.2.20 of ${WORKER_0}, which stay in use`;
    const message = `network management ${what}. Widen the range again, or remove these machines`;
    expect(made.notices).toEqual([{ network: "management", message }]);
  });

  test("makes the pool smaller as soon as the addresses are not in use", () => {
    const request = toRequest(
      [{ ...MANAGEMENT, staticAllocationStop: "192.168.2.15" }],
      [WORKER_1],
    );
    const free = releaseAddresses(pools, (owner) => parseOwner(owner)?.machine === WORKER_0);
    expect(plan(request, { pools: free }).changed.get(MANAGEMENT_POOL)?.ranges).toEqual([
      { start: "192.168.2.10", stop: "192.168.2.15" },
    ]);
  });

  test("says when a machine has the address of a gateway", () => {
    const routes = [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.168.2.20" }];
    const made = plan(toRequest([{ ...MANAGEMENT, routes }], [WORKER_0]), { pools });
    expect(made.notices[0]?.message).toContain(
      `192.168.2.20 is a gateway, but ${WORKER_0} has this address`,
    );
    expect(listIps(made)).toEqual(["192.168.2.20"]);
  });
});

test("releaseAddresses() takes back only what is gone, and lists only pools that change", () => {
  const kept = own("192.168.2.11", "other");
  const pools = new Map([
    ...managementPool({ allocatedIPs: [...own("192.168.2.10"), ...kept] }),
    ["ippool-10-0-0-0-24", { subnet: "10.0.0.0/24", allocatedIPs: own("10.0.0.1", "another") }],
  ]);
  const changed = releaseAddresses(pools, (owner) => parseOwner(owner)?.machine === WORKER_0);
  expect([...changed]).toEqual([
    [MANAGEMENT_POOL, { subnet: "192.168.0.0/20", allocatedIPs: kept }],
  ]);
});

longTest(
  "planAddresses() gives 8,000 addresses, although others have a half of a subnet with 2^64",
  () => {
    const half = {
      allocatedTo: "node01",
      start: "2001:db8:0:1::",
      stop: "2001:db8:0:1:7fff:ffff:ffff:ffff",
    };
    const request = toRequest([STORAGE], toNames(8000));
    const first = plan(request, {
      pools: new Map([["old", { subnet: "2001:db8:0:1::/64", allocatedRanges: [half] }]]),
    });
    expect(new Set(listIps(first)).size + first.problems.size).toBe(8000);
    expect(listIps(first)[0]).toBe("2001:db8:0:1:8000::");
    const again = plan(request, { pools: first.changed });
    expect(again.machines).toEqual(first.machines);
  },
);

test("isIn() counts both ends", () => {
  const spans = [{ first: 5n, last: 9n }];
  expect([4n, 5n, 9n, 10n].map((address) => isIn(address, spans))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test.each([
  ["192.168.0.0/20", "ippool-192-168-0-0-20"],
  ["2001:db8:0:1::/64", "ippool-2001-db8-0-1---64"],
  ["::/0", "ippool----0"],
])("toPoolName() names the pool of %s as the original operator did", (subnet, name) => {
  expect(toPoolName(subnet)).toBe(name);
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
});
