/**
 * What holds of addresses after any sequence of machines that come and go.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { MachineMac } from "../../../../lib/cloud/capabilities/machine_power.ts";
import {
  type AddressPlan,
  planAddresses,
  releaseAddresses,
} from "../../../../lib/controllers/vino/addresses/ipam.ts";
import { toSeenMacs } from "../../../../lib/controllers/vino/addresses/macs.ts";
import {
  parseOwner,
  type Pools,
} from "../../../../lib/controllers/vino/addresses/pools/pool_set.ts";
import type { VinoNetwork } from "../../../../lib/controllers/vino/resource/vino.ts";
import { checkPoolSpec } from "../../../../lib/controllers/vino/resource/check_spec.ts";
import { parseCidr } from "../../../../lib/core/net/ip.ts";
import { tries } from "../../../support/extent.ts";
import { PXE, toFacts, toRequest } from "../../../support/vino/address_requests.ts";

/** Small enough to be exhausted, with a gateway in the middle and a few MAC addresses. */
const SMALL: VinoNetwork = {
  name: "small",
  subnet: "192.0.2.0/27",
  staticAllocationStart: "192.0.2.0",
  staticAllocationStop: "192.0.2.31",
  routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.0.2.5" }],
  macPrefix: "52:54:00:06:07:00",
};
const WIDE: VinoNetwork = {
  name: "wide",
  subnet: "2001:db8::/64",
  staticAllocationStart: "2001:db8::",
  staticAllocationStop: "2001:db8::ffff:ffff:ffff:ffff",
  dns_servers: ["2001:db8::2"],
  macPrefix: "52:54:00:06:07:00",
};
const RUNS = tries(200);
const NETWORKS = [SMALL, WIDE, PXE];
const NEVER = new Set(["192.0.2.0", "192.0.2.31", "192.0.2.5", "2001:db8::", "2001:db8::2"]);

type Step =
  | { readonly kind: "allocate"; readonly machines: readonly number[] }
  | { readonly kind: "release"; readonly machines: readonly number[] };

const machines = fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 12 });
const steps = fc.array(
  fc.record({ kind: fc.constantFrom("allocate" as const, "release" as const), machines }),
  { minLength: 1, maxLength: 12 },
);

function toName(at: number): string {
  return `vino-1b4e28ba-worker-${at}`;
}

function allocate(pools: Pools, which: readonly number[]): AddressPlan {
  const request = toRequest(NETWORKS, which.map(toName));
  return planAddresses(request, toFacts(request, { pools }));
}

function apply(pools: Pools, { kind, machines: which }: Step): Pools {
  const names = new Set(which.map(toName));
  const changed =
    kind === "allocate"
      ? allocate(pools, which).changed
      : releaseAddresses(pools, (owner) => names.has(parseOwner(owner)?.machine ?? ""));
  return new Map([...pools, ...changed]);
}

function run(all: readonly Step[]): Pools {
  let pools: Pools = new Map();
  for (const step of all) pools = apply(pools, step);
  return pools;
}

test("no address and no MAC address has two owners, and none is one that no machine may get", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const pools = run(all);
      const allocated = [...pools.values()].flatMap(({ allocatedIPs = [] }) => allocatedIPs);
      for (const one of ["ip", "mac", "allocatedTo"] as const) {
        const values = allocated.map((entry) => entry[one]);
        expect(new Set(values).size).toBe(values.length);
      }
      expect(allocated.filter(({ ip }) => NEVER.has(ip))).toEqual([]);
      for (const spec of pools.values()) expect(checkPoolSpec(spec).isValid).toBe(true);
    }),
    RUNS,
  );
});

test("a machine has an address on each static network, or none at all", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const owners = [...run(all).values()].flatMap(({ allocatedIPs = [] }) =>
        allocatedIPs.map(({ allocatedTo }) => parseOwner(allocatedTo)?.machine ?? ""),
      );
      for (const name of new Set(owners)) {
        expect(owners.filter((owner) => owner === name)).toHaveLength(2);
      }
    }),
    RUNS,
  );
});

test("MAC addresses of one plan differ, also those without a static address", () => {
  fc.assert(
    fc.property(steps, machines, (all, which) => {
      const given = [...allocate(run(all), which).machines.values()].flat();
      expect(new Set(given.map(({ mac }) => mac)).size).toBe(given.length);
      for (const { network, mac } of given) {
        if (network !== "pxe") expect(mac).toStartWith("52:54:00:06:07:");
      }
    }),
    RUNS,
  );
});

test("to allocate again changes nothing, in any order and with any others", () => {
  fc.assert(
    fc.property(steps, machines, machines, fc.integer(), (all, which, others, seed) => {
      const before = run(all);
      const first = allocate(before, which);
      const after = new Map([...before, ...first.changed]);
      const shuffled = which.toSorted((one, other) => ((one * seed) % 7) - ((other * seed) % 7));
      expect(allocate(before, shuffled)).toEqual(first);
      const again = allocate(after, shuffled);
      expect(again.machines).toEqual(first.machines);
      expect(again.changed.size).toBe(0);
      const more = allocate(after, [...new Set([...others, ...which])]);
      for (const [name, given] of first.machines) expect(more.machines.get(name)).toEqual(given);
    }),
    RUNS,
  );
});

test("to release gives back exactly what was given", () => {
  fc.assert(
    fc.property(steps, machines, (all, which) => {
      const before = run(all);
      const had = new Set(
        [...before.values()].flatMap(({ allocatedIPs = [] }) =>
          allocatedIPs.map(({ allocatedTo }) => allocatedTo),
        ),
      );
      const fresh = which.filter((at) => !had.has(`metal/tenant/${toName(at)}/eth0`));
      const between = apply(before, { kind: "allocate", machines: fresh });
      const after = apply(between, { kind: "release", machines: fresh });
      for (const [name, { allocatedIPs = [] }] of after) {
        expect(allocatedIPs).toEqual([...(before.get(name)?.allocatedIPs ?? [])]);
      }
    }),
    RUNS,
  );
});

test("what is free is given: a network is exhausted only when all its addresses have owners", () => {
  fc.assert(
    fc.property(steps, fc.nat(40), (all, at) => {
      const pools = run(all);
      const taken = pools.get("ippool-192-0-2-0-27")?.allocatedIPs ?? [];
      const had = taken.some(({ allocatedTo }) => parseOwner(allocatedTo)?.machine === toName(at));
      // Of 32 addresses, three are for no machine.
      expect(allocate(pools, [at]).problems.size).toBe(!had && taken.length >= 29 ? 1 : 0);
    }),
    RUNS,
  );
});

test("the lowest free address is given first", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const pools = run(all);
      const taken = new Set(pools.get("ippool-192-0-2-0-27")?.allocatedIPs?.map(({ ip }) => ip));
      const free = Array.from({ length: 30 }, (_, at) => `192.0.2.${at + 1}`).find(
        (ip) => !taken.has(ip) && ip !== "192.0.2.5",
      );
      const [given] = allocate(pools, [99]).machines.get(toName(99)) ?? [];
      expect(given?.ip).toBe(free);
      expect(given === undefined || parseCidr(given.ip ?? "") !== undefined).toBe(true);
    }),
    RUNS,
  );
});

/** A few MAC addresses, and a DHCP server: nothing but the cloud remembers them. */
const NARROW: VinoNetwork = { name: "narrow", macPrefix: "52:54:00:06:07:00" };

test("after a restart, machines keep the MAC addresses that they have, and new ones get others", () => {
  const foreign = fc.uniqueArray(fc.nat(255), { maxLength: 60 });
  fc.assert(
    fc.property(machines, machines, machines, foreign, (first, gone, second, others) => {
      const shown: MachineMac[] = others.map((last) => ({
        mac: `52:54:00:06:07:${last.toString(16).padStart(2, "0")}`,
      }));
      const give = (which: readonly number[]): ReadonlyMap<string, string> => {
        const request = toRequest([NARROW], which.map(toName));
        // Each time a new process: nothing is known.
        const plan = planAddresses(request, toFacts(request, { seen: toSeenMacs(shown) }));
        return new Map([...plan.machines].map(([name, [one]]) => [name, one?.mac ?? ""]));
      };
      const made = [...give(first)];
      const left = made.filter(([name]) => !gone.some((at) => toName(at) === name));
      shown.push(...left.map(([name, mac]) => ({ mac, machine: { name, device: 0 } })));
      const later = give([...new Set([...first, ...second])]);
      for (const [name, mac] of left) expect(later.get(name)).toBe(mac);
      const all = [...later.values()];
      expect(new Set(all).size).toBe(all.length);
      const kept = new Set(left.map(([name]) => name));
      const fresh = [...later].filter(([name]) => !kept.has(name)).map(([, mac]) => mac);
      expect(fresh.filter((mac) => shown.some((one) => one.mac === mac))).toEqual([]);
    }),
    RUNS,
  );
});
