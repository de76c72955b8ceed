import { describe, expect, test } from "bun:test";
import type { LoadBalancerClaim } from "../../../lib/cloud/capabilities/load_balancers.ts";
import { Ledger, listShown } from "../../../lib/cloud/pools/ledger.ts";
import { PoolMap } from "../../../lib/cloud/pools/pool.ts";
import { toSettings, toSpec } from "../../support/pools/services.ts";

const { pools } = toSettings({ name: "a", addresses: ["192.0.2.10-192.0.2.19", "2001:db8::/64"] });
const [POOL] = pools;
const SHOWN = toSpec("shown", { ingress: [{ ip: "192.0.2.10" }] });
const RECORDED = toSpec("recorded", { record: '{"v":1,"addresses":["192.0.2.11"]}' });

function createLedger(...claims: readonly LoadBalancerClaim[]): Ledger {
  const ledger = new Ledger(new PoolMap(pools));
  ledger.sync(claims);
  return ledger;
}

function listNames(ledger: Ledger, address: string): string[] {
  return [...ledger.listHolders(address)].map(
    ({ claim, holds }) => `${claim.owner.name} ${holds.get(address) ?? ""}`,
  );
}

function countUsed(ledger: Ledger, family: 4 | 6 = 4): number {
  const [pool] = ledger.pools.pools;
  return pool === undefined ? -1 : ledger.countUsed(pool, family);
}

describe("Ledger", () => {
  test("knows who has an address, and how surely", () => {
    const ledger = createLedger(SHOWN, RECORDED);
    expect(listNames(ledger, "192.0.2.10")).toEqual(["shown shown"]);
    expect(listNames(ledger, "192.0.2.11")).toEqual(["recorded recorded"]);
    expect(listNames(ledger, "192.0.2.12")).toEqual([]);
    expect(ledger.has(SHOWN.owner.uid, "192.0.2.10")).toBe(true);
    expect(ledger.has(SHOWN.owner.uid, "192.0.2.11")).toBe(false);
    expect(countUsed(ledger)).toBe(2);
    expect(countUsed(ledger, 6)).toBe(0);
  });

  test("counts an address of two Services once, and frees it with the last", () => {
    const twin = toSpec("twin", { ingress: SHOWN.ingress });
    const ledger = createLedger(SHOWN, twin);
    expect(countUsed(ledger)).toBe(1);
    ledger.sync([twin]);
    expect(countUsed(ledger)).toBe(1);
    ledger.sync([]);
    expect(countUsed(ledger)).toBe(0);
    expect(listNames(ledger, "192.0.2.10")).toEqual([]);
  });

  test("follows a Service whose status changes", () => {
    const ledger = createLedger(SHOWN);
    ledger.note({ ...SHOWN, ingress: [{ ip: "192.0.2.15" }, { hostname: "x" }] });
    expect(listNames(ledger, "192.0.2.10")).toEqual([]);
    expect(listNames(ledger, "192.0.2.15")).toEqual(["shown shown"]);
  });

  test("keeps a reservation until another one, or until the Service goes", () => {
    const ledger = createLedger(SHOWN);
    const { uid } = SHOWN.owner;
    ledger.reserve(uid, ["192.0.2.12"]);
    ledger.note({ ...SHOWN });
    expect(listNames(ledger, "192.0.2.12")).toEqual(["shown reserved"]);
    ledger.reserve(uid, []);
    expect(listNames(ledger, "192.0.2.12")).toEqual([]);
    ledger.reserve(uid, ["192.0.2.12"]);
    ledger.sync([]);
    expect(countUsed(ledger)).toBe(0);
    expect(ledger.listReserved(uid)).toEqual([]);
    ledger.reserve("nobody", ["192.0.2.12"]);
    expect(countUsed(ledger)).toBe(0);
  });

  test("takes for given what both the status and the record say", () => {
    const record = '{"v":1,"addresses":["192.0.2.10"]}';
    const ledger = createLedger({ ...SHOWN, record });
    ledger.note({ ...SHOWN, ingress: [{ ip: "192.0.2.15" }] });
    expect(ledger.listReserved(SHOWN.owner.uid)).toEqual(["192.0.2.10"]);
    expect(createLedger(SHOWN).listReserved(SHOWN.owner.uid)).toEqual([]);
    const other = createLedger({ ...SHOWN, record: '{"v":1,"addresses":["192.0.2.11"]}' });
    expect(other.listReserved(SHOWN.owner.uid)).toEqual([]);
  });

  test("counts again when the pools change, and keeps reservations", () => {
    const ledger = createLedger(SHOWN, RECORDED);
    ledger.reserve(SHOWN.owner.uid, ["192.0.2.12"]);
    const other = toSettings({ name: "b", addresses: ["192.0.2.12-192.0.2.13"] }).pools;
    ledger.setPools(new PoolMap(other));
    expect(countUsed(ledger)).toBe(1);
    expect(POOL === undefined ? -1 : ledger.countUsed(POOL, 4)).toBe(0);
    // A record holds nothing outside the pools, a status does.
    expect(listNames(ledger, "192.0.2.11")).toEqual([]);
    expect(listNames(ledger, "192.0.2.10")).toEqual(["shown shown"]);
  });

  test("finds the Services of a namespace with one key, as long as they have it", () => {
    const share = (name: string, key: string): LoadBalancerClaim =>
      toSpec(name, { annotations: { "landfall.dev/shared-address": key } });
    const ledger = createLedger(share("one", "k"), share("two", "k"), share("three", "x"));
    const list = (namespace: string): string[] =>
      [...ledger.listPartners(namespace, "k")].map(({ claim }) => claim.owner.name);
    expect(list("web")).toEqual(["one", "two"]);
    expect(list("bank")).toEqual([]);
    ledger.note(share("one", "y"));
    expect(list("web")).toEqual(["two"]);
    ledger.sync([]);
    expect(list("web")).toEqual([]);
  });
});

describe("Ledger.setOccupied()", () => {
  const NODE = new Map([
    ["192.0.2.10", "the Node n1"],
    ["192.0.2.12", "the Node n1"],
  ]);

  test("keeps addresses of Nodes from Services, and counts each once", () => {
    const ledger = createLedger();
    ledger.setOccupied(NODE);
    expect(ledger.findOccupant("192.0.2.10")).toBe("the Node n1");
    expect(countUsed(ledger)).toBe(2);
    ledger.note(SHOWN);
    expect(countUsed(ledger)).toBe(2);
    ledger.setPools(new PoolMap(pools));
    expect(countUsed(ledger)).toBe(2);
    ledger.sync([]);
    expect(countUsed(ledger)).toBe(2);
    ledger.setOccupied(new Map());
    expect(countUsed(ledger)).toBe(0);
    expect(ledger.findOccupant("192.0.2.10")).toBeUndefined();
  });

  test("leaves out what a Service had before, as long as the Node shows it", () => {
    const ledger = createLedger(SHOWN);
    ledger.setOccupied(NODE);
    ledger.sync([]);
    ledger.setOccupied(new Map(NODE));
    expect(ledger.findOccupant("192.0.2.10")).toBeUndefined();
    expect(countUsed(ledger)).toBe(1);
    ledger.setOccupied(new Map());
    ledger.setOccupied(NODE);
    expect(ledger.findOccupant("192.0.2.10")).toBe("the Node n1");
  });
});

describe("Ledger, of an address that two Services show,", () => {
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
    const ledger = createLedger();
    for (const claims of looks) ledger.sync(claims);
    expect(ledger.isDisputed(LATE, "192.0.2.10")).toBe(isDisputed);
    expect(ledger.isDisputed(ONE, "192.0.2.10")).toBe(false);
    expect(listNames(ledger, "192.0.2.10")).toContain(
      `a-late ${isDisputed ? "disputed" : "shown"}`,
    );
    ledger.setPools(new PoolMap(pools));
    expect(ledger.isDisputed(LATE, "192.0.2.10")).toBe(isDisputed);
  });

  test("keeps both for Services that showed it before one of them was given it", () => {
    const ledger = createLedger(SHOWN, bare);
    ledger.reserve(SHOWN.owner.uid, ["192.0.2.10"]);
    ledger.note({ ...bare });
    expect(ledger.isDisputed(LATE, "192.0.2.10")).toBe(false);
  });
});

test("listShown() gives the addresses that a host can have, each once", () => {
  const ips = ["192.0.2.1", "2001:DB8::0", "192.0.2.1", "0.0.0.0", "127.0.0.1", "x", ""];
  const ingress = [...ips.map((ip) => ({ ip })), { hostname: "lb.example.org" }];
  expect(listShown({ ingress })).toEqual(["192.0.2.1", "2001:db8::"]);
});
