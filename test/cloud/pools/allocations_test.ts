import { describe, expect, test } from "bun:test";
import type { LoadBalancerClaim } from "../../../lib/cloud/capabilities/load_balancers.ts";
import { Allocations, listShown } from "../../../lib/cloud/pools/allocations.ts";
import { PoolMap } from "../../../lib/cloud/pools/pool.ts";
import { toSettings, toSpec } from "../../support/pools/services.ts";

const { pools } = toSettings({ name: "a", addresses: ["192.0.2.10-192.0.2.19", "2001:db8::/64"] });
const [POOL] = pools;
const SHOWN = toSpec("shown", { ingress: [{ ip: "192.0.2.10" }] });
const RECORDED = toSpec("recorded", { record: '{"v":1,"addresses":["192.0.2.11"]}' });

function createAllocations(...claims: readonly LoadBalancerClaim[]): Allocations {
  const allocations = new Allocations(new PoolMap(pools));
  allocations.sync(claims);
  return allocations;
}

function listNames(allocations: Allocations, address: string): string[] {
  return [...allocations.listHolders(address)].map(
    ({ claim, holds }) => `${claim.owner.name} ${holds.get(address) ?? ""}`,
  );
}

function countUsed(allocations: Allocations, family: 4 | 6 = 4): number {
  const [pool] = allocations.pools.pools;
  return pool === undefined ? -1 : allocations.countUsed(pool, family);
}

describe("Allocations", () => {
  test("keeps a reservation until another one, or until the Service goes", () => {
    const allocations = createAllocations(SHOWN);
    const { uid } = SHOWN.owner;
    allocations.reserve(uid, ["192.0.2.12"]);
    allocations.note({ ...SHOWN });
    expect(listNames(allocations, "192.0.2.12")).toEqual(["shown reserved"]);
    allocations.reserve(uid, []);
    expect(listNames(allocations, "192.0.2.12")).toEqual([]);
    allocations.reserve(uid, ["192.0.2.12"]);
    allocations.sync([]);
    expect(countUsed(allocations)).toBe(0);
    expect(allocations.listReserved(uid)).toEqual([]);
    allocations.reserve("nobody", ["192.0.2.12"]);
    expect(countUsed(allocations)).toBe(0);
  });

  test("counts again when the pools change, and keeps reservations", () => {
    const allocations = createAllocations(SHOWN, RECORDED);
    allocations.reserve(SHOWN.owner.uid, ["192.0.2.12"]);
    const other = toSettings({ name: "b", addresses: ["192.0.2.12-192.0.2.13"] }).pools;
    allocations.setPools(new PoolMap(other));
    expect(countUsed(allocations)).toBe(1);
    expect(POOL === undefined ? -1 : allocations.countUsed(POOL, 4)).toBe(0);
    // A record holds nothing outside the pools, a status does.
    expect(listNames(allocations, "192.0.2.11")).toEqual([]);
    expect(listNames(allocations, "192.0.2.10")).toEqual(["shown shown"]);
  });

  test("finds the Services of a namespace with one key, as long as they have it", () => {
    const share = (name: string, key: string): LoadBalancerClaim =>
      toSpec(name, { annotations: { "landfall.dev/shared-address": key } });
    const allocations = createAllocations(
      share("one", "k"),
      share("two", "k"),
      share("three", "x"),
    );
    const list = (namespace: string): string[] =>
      [...allocations.listPartners(namespace, "k")].map(({ claim }) => claim.owner.name);
    expect(list("web")).toEqual(["one", "two"]);
    expect(list("bank")).toEqual([]);
    allocations.note(share("one", "y"));
    expect(list("web")).toEqual(["two"]);
    allocations.sync([]);
    expect(list("web")).toEqual([]);
  });
});

describe("Allocations.setOccupied()", () => {
  const ON_NODE = [{ what: "an address of the Node n1", mayAnnounce: true }];
  const NODE = new Map([
    ["192.0.2.10", ON_NODE],
    ["192.0.2.12", ON_NODE],
  ]);

  test("keeps addresses of Nodes from Services, and counts each once", () => {
    const allocations = createAllocations();
    allocations.setOccupied(NODE);
    expect(allocations.listOccupants("192.0.2.10", "")).toEqual(ON_NODE);
    expect(countUsed(allocations)).toBe(2);
    allocations.note(SHOWN);
    expect(countUsed(allocations)).toBe(2);
    allocations.setPools(new PoolMap(pools));
    expect(countUsed(allocations)).toBe(2);
    allocations.sync([]);
    expect(countUsed(allocations)).toBe(2);
    allocations.setOccupied(new Map());
    expect(countUsed(allocations)).toBe(0);
    expect(allocations.listOccupants("192.0.2.10", "")).toEqual([]);
  });

  test("leaves out what a Service had before, as long as the Node shows it", () => {
    const allocations = createAllocations(SHOWN);
    allocations.setOccupied(NODE);
    allocations.sync([]);
    allocations.setOccupied(new Map(NODE));
    expect(allocations.listOccupants("192.0.2.10", "")).toEqual([]);
    expect(countUsed(allocations)).toBe(1);
    allocations.setOccupied(new Map());
    allocations.setOccupied(NODE);
    expect(allocations.listOccupants("192.0.2.10", "")).toEqual(ON_NODE);
  });
});

describe("Allocations, of an address that two Services show,", () => {
  const owner = toSpec("owner", {
    ingress: [{ ip: "192.0.2.10" }],
    record: '{"v":1,"addresses":["192.0.2.10"]}',
  });
  const late = toSpec("a-late", { ...owner, owner: toSpec("a-late").owner });
  const { record: _none, ...bare } = late;
  const [ONE, LATE] = [owner.owner.uid, late.owner.uid];

  test.each([
    ["with a record only of one, in one look", [[bare, owner]], true],
    ["in a later look, also with a copied record", [[owner], [owner, late]], true],
    ["with a record of both at the start", [[late, owner]], false],
    ["without any record", [[SHOWN, bare]], false],
  ])("%s", (_title, looks, isDisputed) => {
    const allocations = createAllocations();
    for (const claims of looks) allocations.sync(claims);
    expect(allocations.isDisputed(LATE, "192.0.2.10")).toBe(isDisputed);
    expect(allocations.isDisputed(ONE, "192.0.2.10")).toBe(false);
    expect(listNames(allocations, "192.0.2.10")).toContain(
      `a-late ${isDisputed ? "disputed" : "shown"}`,
    );
    allocations.setPools(new PoolMap(pools));
    expect(allocations.isDisputed(LATE, "192.0.2.10")).toBe(isDisputed);
  });

  test("keeps both for Services that showed it before one of them was given it", () => {
    const allocations = createAllocations(SHOWN, bare);
    allocations.reserve(SHOWN.owner.uid, ["192.0.2.10"]);
    allocations.note({ ...bare });
    expect(allocations.isDisputed(LATE, "192.0.2.10")).toBe(false);
  });
});

test("listShown() gives the addresses that a host can have, each once", () => {
  const ips = ["192.0.2.1", "2001:DB8::0", "192.0.2.1", "0.0.0.0", "127.0.0.1", "x", ""];
  const ingress = [...ips.map((ip) => ({ ip })), { hostname: "lb.example.org" }];
  expect(listShown({ ingress })).toEqual(["192.0.2.1", "2001:db8::"]);
});
