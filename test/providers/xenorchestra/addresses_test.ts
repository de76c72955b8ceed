/**
 * Which addresses of a VM go on its Node.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseCidr, type Cidr } from "../../../lib/core/net/ip.ts";
import { toAddresses } from "../../../lib/providers/xenorchestra/addresses.ts";

function cidrs(...texts: string[]): Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}

const PLAIN = { exclude: [], externalCidrs: [], mainIpAsExternal: false };

function choose(addresses: Record<string, string>, over: object = {}, source: object = {}): string {
  const chosen = toAddresses({ addresses, ...source }, { ...PLAIN, ...over });
  return chosen.addresses
    .map(({ type, address }) => `${type === "InternalIP" ? "in" : "ex"} ${address}`)
    .join(", ");
}

describe("toAddresses()", () => {
  test.each([
    ["C-04 IPv6 only", { "0/ipv6/0": "2001:db8::28", "0/ipv6/1": "fe80::28" }, "in 2001:db8::28"],
    [
      "C-07 numeric device order",
      { "10/ipv4/0": "10.10.0.9", "2/ipv4/0": "10.2.0.9" },
      "in 10.2.0.9",
    ],
    [
      "C-07 numeric address order",
      { "0/ipv4/10": "10.0.0.10", "0/ipv4/2": "10.0.0.2" },
      "in 10.0.0.2",
    ],
    ["C-07 several addresses in one text", { "0/ip": "10.0.0.1 10.0.0.2" }, "in 10.0.0.1"],
    ["canonical form", { "0/ipv6/0": "2001:0DB8:0::1" }, "in 2001:db8::1"],
    [
      "keys and values that are none",
      { x: "10.0.0.1", "0/ipv4/0": "n/a", "0/mac": "10.0.0.1" },
      "",
    ],
    [
      "loopback and multicast",
      { "0/ipv4/0": "127.0.0.1", "0/ipv4/1": "224.0.0.1", "0/ipv6/0": "::1" },
      "",
    ],
  ])("%s", (_title, addresses, expected) => {
    expect(choose(addresses)).toBe(expected);
  });

  test("never publishes an excluded address", () => {
    const addresses = { "0/ipv4/0": "10.0.0.200", "0/ipv4/1": "10.0.0.51", "1/ipv4/0": "8.8.8.8" };
    const exclude = cidrs("10.0.0.200", "8.0.0.0/8");
    expect(choose(addresses, { exclude })).toBe("in 10.0.0.51");
    const main = { mainIpAddress: "10.0.0.200" };
    expect(choose(addresses, { exclude, mainIpAsExternal: true }, main)).toBe("in 10.0.0.51");
  });

  test("mainIpAsExternal publishes the main address as the Go controller does", () => {
    const addresses = { "0/ipv4/0": "10.0.0.1", "1/ipv4/0": "8.8.8.8" };
    const main = { mainIpAddress: "10.0.0.1 10.0.0.99" };
    expect(choose(addresses, { mainIpAsExternal: true }, main)).toBe(
      "in 10.0.0.1, ex 10.0.0.1, ex 10.0.0.99",
    );
    expect(choose(addresses, { mainIpAsExternal: true })).toBe("in 10.0.0.1");
  });

  test("an address in externalCIDRs is never internal, not even when its family has no other", () => {
    const externalCidrs = cidrs("172.20.0.0/16", "8.8.8.8");
    const chosen = choose({ "0/ipv4/0": "172.20.0.1", "0/ipv4/1": "8.8.8.8" }, { externalCidrs });
    expect(chosen).toBe("ex 172.20.0.1, ex 8.8.8.8");
    expect(choose({ "0/ipv4/0": "8.8.8.8", "0/ipv4/1": "8.8.4.4" }, { externalCidrs })).toBe(
      "in 8.8.4.4, ex 8.8.8.8",
    );
  });

  test("looks only at the devices it is given", () => {
    const addresses = { "0/ipv4/0": "10.0.0.1", "1/ipv4/0": "10.1.0.1" };
    expect(choose(addresses, {}, { devices: new Set([1]) })).toBe("in 10.1.0.1");
    expect(choose(addresses, {}, { devices: new Set() })).toBe("");
  });

  test("C-07 gives the same whatever order the guest reports in", () => {
    const pairs = Object.entries({
      "0/ipv4/0": "10.0.0.1",
      "0/ipv6/0": "fd00::1",
      "1/ipv4/0": "8.8.8.8",
      "10/ipv4/0": "8.8.4.4",
    });
    const turned = pairs.map((_, by) => [...pairs.slice(by), ...pairs.slice(0, by)]);
    const results = turned.map((one) => choose(Object.fromEntries(one)));
    expect(new Set(results).size).toBe(1);
  });
});
