import { describe, expect, test } from "bun:test";
import { findLeftOut, parseAddressRange } from "../../../lib/cloud/pools/address_range.ts";
import { formatIp, parseCidr } from "../../../lib/core/net/ip.ts";

const FORMS =
  "must be a CIDR, a range or an address, for example 192.0.2.0/28, 192.0.2.10-192.0.2.20 or 2001:db8::/64";

function toEnds(text: string): string | undefined {
  const { range, problem } = parseAddressRange(text);
  if (range === undefined) return problem;
  return `${formatIp(range.family, range.first)} to ${formatIp(range.family, range.last)}`;
}

describe("parseAddressRange()", () => {
  const good: readonly [string, string][] = [
    ["192.0.2.0/28", "192.0.2.1 to 192.0.2.14"],
    ["192.0.2.0/30", "192.0.2.1 to 192.0.2.2"],
    ["192.0.2.0/31", "192.0.2.0 to 192.0.2.1"],
    ["192.0.2.7/32", "192.0.2.7 to 192.0.2.7"],
    ["192.0.2.7", "192.0.2.7 to 192.0.2.7"],
    ["192.0.2.0-192.0.2.255", "192.0.2.0 to 192.0.2.255"],
    [" 192.0.2.3 - 192.0.2.3 ", "192.0.2.3 to 192.0.2.3"],
    ["2001:db8::/64", "2001:db8::1 to 2001:db8::ffff:ffff:ffff:ffff"],
    ["2001:db8::/127", "2001:db8:: to 2001:db8::1"],
    ["2001:db8::7", "2001:db8::7 to 2001:db8::7"],
    ["2001:DB8::1-2001:db8::1:0", "2001:db8::1 to 2001:db8::1:0"],
  ];
  test.each(good)("reads %s as %s", (text, ends) => {
    expect(toEnds(text)).toBe(ends);
  });

  const odd = "must begin with the first address of the subnet; or write a range first-last";
  const never =
    "holds addresses that no Service can have: loopback, link-local, multicast, unspecified or broadcast";
  const bad: readonly [string, string][] = [
    ["", FORMS],
    ["-", FORMS],
    ["192.0.2.1-", FORMS],
    ["192.0.2.1-192.0.2.2-192.0.2.3", FORMS],
    ["192.0.2.0/28-192.0.2.20", FORMS],
    ["192.0.2.0/33", FORMS],
    ["192.0.2.0/-1", FORMS],
    ["192.0.2.10-20", FORMS],
    ["192.0.2", FORMS],
    ["host.example.org", FORMS],
    ["192.0.2.1-2001:db8::1", "must have two addresses of the same family"],
    ["192.0.2.2-192.0.2.1", "must name the lower address first"],
    ["192.0.2.17/28", odd],
    ["2001:db8::1/64", odd],
    ["127.0.0.0/8", never],
    ["126.0.0.0-128.0.0.0", never],
    ["0.0.0.0/0", never],
    ["::/0", never],
    ["fe80::/64", never],
    ["224.0.0.0/24", never],
    ["255.255.255.255", never],
  ];
  test.each(bad)("refuses %j: %s", (text, problem) => {
    expect(toEnds(text)).toBe(problem);
  });
});

test.each([
  ["192.0.2.0/28", "192.0.2.0", "first"],
  ["192.0.2.0/28", "192.0.2.15", "last"],
  ["192.0.2.0/28", "192.0.2.16", undefined],
  ["192.0.2.1-192.0.2.14", "192.0.2.0", undefined],
  ["192.0.2.0/31", "192.0.2.0", undefined],
  ["2001:db8::/64", "2001:db8::", "first"],
  ["2001:db8::/64", "2001:db8:0:1::", undefined],
  ["::c000:200/124", "192.0.2.0", undefined],
] as const)("findLeftOut(%s, %s) is %s", (text, address, end) => {
  const { range } = parseAddressRange(text);
  const value = parseCidr(address);
  if (range === undefined || value === undefined) throw new Error("cannot be read");
  expect(findLeftOut(range, value)).toBe(end);
});
