import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  findOverlap,
  findSpan,
  findSubnet,
  joinSpans,
  listReserved,
  listSpans,
  parseSubnet,
  type Span,
  toPrefixLength,
  toRange,
  toSpan,
} from "../../../../lib/controllers/vino/addresses/subnets.ts";
import { MANAGEMENT, PXE, STORAGE } from "../../../support/vino/address_requests.ts";

const NETWORKS = [MANAGEMENT, STORAGE, PXE].map((network) => ({ vino: "metal/a", network }));

test("parseSubnet() reads subnets with bits of hosts, and no addresses", () => {
  expect(parseSubnet("192.168.2.0/20")?.text).toBe("192.168.0.0/20");
  expect(parseSubnet("2001:DB8::1/64")?.text).toBe("2001:db8::/64");
  expect([parseSubnet("192.168.2.0"), parseSubnet("x/20"), parseSubnet("")]).toEqual(
    Array(3).fill(undefined),
  );
});

test("findSubnet() and findSpan() find none where a DHCP server gives addresses", () => {
  expect(findSubnet(MANAGEMENT)?.text).toBe("192.168.0.0/20");
  expect(findSpan(MANAGEMENT)).toEqual({ first: 0xc0a8020an, last: 0xc0a80218n });
  const dynamic = { name: "pxe", subnet: "192.168.2.0/20" };
  expect([findSubnet(dynamic), findSpan(dynamic), findSpan(PXE)]).toEqual(Array(3).fill(undefined));
});

test.each([
  [4, "192.0.2.1", "192.0.2.9"],
  [6, "2001:db8::", "2001:db8::ffff"],
] as const)("toRange() writes what toSpan() read of IPv%d", (family, start, stop) => {
  const span = toSpan({ start, stop });
  expect(span && toRange(family, span)).toEqual({ start, stop });
});

test("toSpan() reads no texts that are no addresses", () => {
  expect(toSpan({ start: "x", stop: "192.0.2.1" })).toBeUndefined();
  expect(toSpan({ start: "192.0.2.1", stop: "" })).toBeUndefined();
});

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

test("listSpans() joins the ranges of all networks with the same subnet", () => {
  const subnet = parseSubnet("192.168.0.0/20");
  const more = { ...MANAGEMENT, subnet: "192.168.0.0/20", staticAllocationStart: "192.168.2.20" };
  const network = { ...more, staticAllocationStop: "192.168.2.30" };
  const spans = subnet && listSpans(subnet, [...NETWORKS, { vino: "metal/b", network }]);
  expect(spans).toEqual([{ first: 0xc0a8020an, last: 0xc0a8021en }]);
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

test.each([
  ["192.0.2.0/30", 2],
  ["192.0.2.0/31", 0],
  ["192.0.2.0/32", 0],
  ["2001:db8::/64", 1],
  ["2001:db8::/126", 1],
  ["2001:db8::/127", 0],
])("listReserved() keeps of %s %d addresses back", (text, count) => {
  const subnet = parseSubnet(text);
  expect(subnet && listReserved(subnet, []).size).toBe(count);
  expect(subnet && toPrefixLength(subnet)).toBe(Number(text.split("/")[1]));
});

test("findOverlap() finds networks with a part of the subnet, not those with the same one", () => {
  const [same, inside, around, beside] = [
    "192.168.0.0/20",
    "192.168.2.0/24",
    "192.0.0.0/8",
    "192.168.16.0/20",
  ].map((text) => parseSubnet(text));
  expect(same && findOverlap(same, NETWORKS)).toBeUndefined();
  expect(beside && findOverlap(beside, NETWORKS)).toBeUndefined();
  expect(inside && findOverlap(inside, NETWORKS)?.network).toBe(MANAGEMENT);
  expect(around && findOverlap(around, NETWORKS)?.network).toBe(MANAGEMENT);
});
