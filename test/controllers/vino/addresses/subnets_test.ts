import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  joinSpans,
  listReserved,
  parseSubnet,
  type Span,
} from "../../../../lib/controllers/vino/addresses/subnets.ts";
import { MANAGEMENT, PXE, STORAGE } from "../../../support/vino/address_requests.ts";

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
