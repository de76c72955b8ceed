/**
 * Reading, canonical form and classes of IP addresses.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import { assert, integer, ipV4, ipV6, oneof, property, string, tuple } from "fast-check";
import {
  formatCidr,
  formatCidrs,
  formatIp,
  formatNetmask,
  hasOnlyHosts,
  isGloballyRoutable,
  isHostAddress,
  isInCidr,
  isLoopbackHost,
  parseCidr,
  parseCidrs,
  overlaps,
  parseIp,
  parseMaskedCidr,
} from "../../../lib/core/net/ip.ts";

describe("parseIp()", () => {
  test.each([
    ["10.0.0.5", 4, "10.0.0.5"],
    [" 10.0.0.5 ", 4, "10.0.0.5"],
    ["255.255.255.255", 4, "255.255.255.255"],
    ["2001:DB8:0:0:0:0:0:1", 6, "2001:db8::1"],
    ["2001:0db8::0001", 6, "2001:db8::1"],
    ["::", 6, "::"],
    ["::1", 6, "::1"],
    ["1::", 6, "1::"],
    ["fe80::5c00:ff:fe00:1", 6, "fe80::5c00:ff:fe00:1"],
    ["1:0:0:2:0:0:0:3", 6, "1:0:0:2::3"],
    ["1:0:0:2:0:0:3:4", 6, "1::2:0:0:3:4"],
    ["1:2:3:4:5:6:7:0", 6, "1:2:3:4:5:6:7:0"],
    ["64:ff9b::192.0.2.33", 6, "64:ff9b::c000:221"],
    ["::ffff:192.0.2.1", 4, "192.0.2.1"],
    ["::ffff:c000:201", 4, "192.0.2.1"],
  ] as const)("reads %p in canonical form", (text, family, canonical) => {
    expect(parseIp(text)).toEqual({ family, text: canonical });
  });

  test.each([
    "",
    "10.0.0",
    "10.0.0.256",
    "10.0.0.05",
    "10.0.0.5/24",
    "10.0.0.5 10.0.0.6",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    ":1::2",
    ":::",
    "1:2:3:4:5:6:7:8::",
    "fe80::1%eth0",
    "12345::",
    "1.2.3.4::",
    "[::1]",
    "host",
  ])("refuses %p", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  test("agrees with node:net about what an address is, and is stable", () => {
    assert(
      property(oneof(ipV4(), ipV6(), string({ maxLength: 20 })), (text) => {
        const ip = parseIp(text);
        expect(ip !== undefined).toBe(isIP(text.trim()) !== 0 && !text.includes("%"));
        if (ip) expect(parseIp(ip.text)).toEqual(ip);
      }),
    );
  });
});

describe("formatCidr()", () => {
  const format = (text: string): string | undefined => {
    const cidr = parseCidr(text);
    return cidr && formatCidr(cidr);
  };

  test.each([
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["10.1.2.3", "10.1.2.3/32"],
    ["2001:DB8::1/33", "2001:db8::/33"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:DB8:0:1::5/48", "2001:db8::/48"],
    ["2001:db8::1", "2001:db8::1/128"],
    ["::/0", "::/0"],
  ])("writes %s as %s", (text, canonical) => {
    expect(format(text)).toBe(canonical);
  });

  test("writes equal blocks in the same way, and reads what it writes", () => {
    const block = oneof(
      tuple(ipV4(), integer({ min: 0, max: 32 })),
      tuple(ipV6(), integer({ min: 0, max: 128 })),
    );
    assert(
      property(block, ([ip, prefix]) => {
        // An IPv4-mapped address may be shorter than its prefix.
        const cidr = parseCidr(`${ip}/${prefix}`);
        if (cidr !== undefined) expect(parseCidr(formatCidr(cidr))).toEqual(cidr);
      }),
    );
  });
});

describe("parseCidr()", () => {
  test.each(["10.0.0.0/8", "10.1.2.3", "0.0.0.0/0", "2001:db8::/32", "::/0", "::1/128"])(
    "reads %p",
    (text) => {
      expect(parseCidr(text)).toBeDefined();
    },
  );

  test.each(["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "x/8", ""])(
    "refuses %p",
    (text) => {
      expect(parseCidr(text)).toBeUndefined();
    },
  );
});

describe("isInCidr()", () => {
  test.each([
    ["10.1.2.3", "10.0.0.0/8", true],
    ["11.1.2.3", "10.0.0.0/8", false],
    ["10.0.0.200", "10.0.0.200", true],
    ["10.0.0.201", "10.0.0.200", false],
    ["10.0.0.7", "10.0.0.5/29", true],
    ["10.0.0.8", "10.0.0.5/29", false],
    ["1.2.3.4", "0.0.0.0/0", true],
    ["::1", "0.0.0.0/0", false],
    ["2001:db8::1", "2001:db8::/32", true],
    ["2001:db9::1", "2001:db8::/32", false],
    ["no address", "0.0.0.0/0", false],
  ])("%p in %p: %p", (address, block, expected) => {
    const cidr = parseCidr(block);
    expect(cidr && isInCidr(address, cidr)).toBe(expected);
  });
});

describe("isGloballyRoutable()", () => {
  test.each(["8.8.8.8", "100.63.255.255", "172.32.0.1", "2606:4700::1111", "2a01:e0a::1"])(
    "%p is",
    (address) => {
      expect(isGloballyRoutable(address)).toBe(true);
    },
  );

  test.each([
    "10.0.0.1",
    "172.31.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.1.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "0.0.0.0",
    "::1",
    "fe80::1",
    "fd00::1",
    "ff02::1",
    "2001:db8::1",
    "64:ff9b::1",
    "::ffff:10.0.0.1",
    "host",
  ])("%p is not", (address) => {
    expect(isGloballyRoutable(address)).toBe(false);
  });
});

test("formatIp() writes the canonical form", () => {
  expect(formatIp(4, 0xc000_0201n)).toBe("192.0.2.1");
  expect(formatIp(6, 1n)).toBe("::1");
});

/** Reads a block that is one. */
function toCidr(text: string): NonNullable<ReturnType<typeof parseCidr>> {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(`${text} is no block`);
  return cidr;
}

test.each([
  ["192.0.2.0/24", "255.255.255.0"],
  ["192.0.2.1/32", "255.255.255.255"],
  ["0.0.0.0/0", "0.0.0.0"],
  ["10.0.0.0/9", "255.128.0.0"],
  ["2001:db8::/64", "ffff:ffff:ffff:ffff::"],
  ["2001:db8::/33", "ffff:ffff:8000::"],
  ["::/0", "::"],
])("formatNetmask() and parseMaskedCidr() agree on %s and %s", (text, netmask) => {
  const block = parseCidr(text);
  expect(block && formatNetmask(block)).toBe(netmask);
  expect(parseMaskedCidr(text.split("/")[0] ?? "", netmask)).toEqual(block);
});

test("parseMaskedCidr() leaves bits of hosts out", () => {
  expect(parseMaskedCidr("192.0.2.77", "255.255.255.0")).toEqual(parseCidr("192.0.2.0/24"));
});

test.each([
  ["192.0.2.0", "255.0.255.0"],
  ["192.0.2.0", "0.0.0.255"],
  ["192.0.2.0", "ffff::"],
  ["2001:db8::", "255.255.255.0"],
  ["x", "255.255.255.0"],
  ["192.0.2.0", "24"],
])("parseMaskedCidr() reads no block of %s and %s", (address, netmask) => {
  expect(parseMaskedCidr(address, netmask)).toBeUndefined();
});

describe("overlaps()", () => {
  test.each([
    ["10.0.0.0/8", "10.1.0.0/16", true],
    ["10.0.0.0/9", "10.128.0.0/9", false],
    ["10.0.0.255", "10.0.0.0/24", true],
    ["::/0", "10.0.0.0/8", false],
  ])("of %s and %s: %p", (one, other, are) => {
    expect(overlaps(toCidr(one), toCidr(other))).toBe(are);
    expect(overlaps(toCidr(other), toCidr(one))).toBe(are);
  });
});

test.each([
  ["10.0.0.0/8", true],
  ["126.0.0.0/7", false],
  ["2001:db8::/32", true],
  ["::/3", false],
])("hasOnlyHosts(%s): %p", (text, does) => {
  expect(hasOnlyHosts(toCidr(text))).toBe(does);
});

describe("isHostAddress()", () => {
  test.each(["10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::1"])("%p is", (ip) => {
    expect(isHostAddress(ip)).toBe(true);
  });

  test.each(["127.0.0.1", "169.254.1.1", "239.1.1.1", "::1", "::", "fe80::1", "ff02::1", "x"])(
    "%p is not",
    (ip) => {
      expect(isHostAddress(ip)).toBe(false);
    },
  );
});

const hosts: readonly [string, boolean][] = [
  ["localhost", true],
  ["LOCALHOST", true],
  ["127.0.0.1", true],
  ["127.8.9.1", true],
  ["::1", true],
  ["[::1]", true],
  ["0:0:0:0:0:0:0:1", true],
  ["::ffff:127.0.0.1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["10.0.0.1", false],
  ["localhost.example.com", false],
  ["127.0.0.1.example.com", false],
  ["127.example.com", false],
  ["[localhost]", false],
  ["", false],
];
test.each(hosts)("isLoopbackHost() of %j is %p", (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});

test("CIDRs of users are read or the first that is none is named, and written once each", () => {
  const { cidrs } = parseCidrs(["192.0.2.7/24", "10.0.0.0/8", " 192.0.2.0/24", "2001:DB8::/32"]);
  expect(formatCidrs(cidrs)).toEqual(["10.0.0.0/8", "192.0.2.0/24", "2001:db8::/32"]);
  expect(parseCidrs(["10.0.0.0/8", "10.0.0.1", "x"])).toEqual({ cidrs: [], bad: "10.0.0.1" });
});
