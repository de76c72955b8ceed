import { expect, test } from "bun:test";
import {
  listDoubleDefaults,
  listGatewayProblems,
  mayBeHost,
} from "../../../../lib/controllers/vino/resource/gateways.ts";
import type { VinoRoute } from "../../../../lib/controllers/vino/resource/vino.ts";

const NO_HOSTS = ["0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "::", "ff02::1"];
const HOSTS = ["192.0.2.1", "2001:db8::1", "fe80::1", "169.254.1.1", "127.0.0.53", "$vinobridge"];

test("mayBeHost() refuses what no host has, and nothing else", () => {
  expect([...NO_HOSTS, ...HOSTS].filter(mayBeHost)).toEqual(HOSTS);
});

const SUBNET = "192.0.2.0/24";
const OUTSIDE = "must be in 192.0.2.0/24, but is";

test.each<[subnet: string | undefined, gateway: string, problem: string | undefined]>([
  [SUBNET, "192.0.2.1", undefined],
  [SUBNET, "192.0.2.254", undefined],
  [
    "192.0.2.77/24",
    "192.0.2.0",
    "must not be the address of the subnet 192.0.2.0/24 itself, but is 192.0.2.0",
  ],
  [SUBNET, "192.0.2.255", "must not be the broadcast address of 192.0.2.0/24, but is 192.0.2.255"],
  [SUBNET, "192.0.3.1", `${OUTSIDE} 192.0.3.1`],
  // Each has its own problem, or is left out.
  [SUBNET, "0.0.0.0", undefined],
  [SUBNET, "none", undefined],
  [SUBNET, "$vinobridge", undefined],
  [SUBNET, "2001:db8::1", undefined],
  // A network may have routes of both families and a subnet of one.
  ["2001:db8::/64", "192.0.2.1", undefined],
  ["2001:db8::/64", "2001:db8::", undefined],
  ["2001:db8::/64", "2001:db8::ffff:ffff:ffff:ffff", undefined],
  ["2001:db8::/64", "fe80::1", undefined],
  ["2001:db8::/64", "2001:db8:1::1", "must be in 2001:db8::/64, but is 2001:db8:1::1"],
  // Links with two ends, and hosts alone, reach their gateway without a subnet.
  ["192.0.2.0/31", "192.0.2.0", undefined],
  ["192.0.2.9/32", "198.51.100.1", undefined],
  [undefined, "192.0.2.255", undefined],
])("listGatewayProblems() with the subnet %s and the gateway %s", (subnet, gateway, problem) => {
  const routes = [{ network: "10.0.0.0", netmask: "255.0.0.0", gateway }];
  const network = { name: "oam", ...(subnet !== undefined && { subnet }), routes };
  const found = listGatewayProblems({ ...network, staticAllocationStart: "192.0.2.10" });
  expect(found).toEqual(problem === undefined ? [] : [`routes[0].gateway ${problem}`]);
  expect(listGatewayProblems(network)).toEqual([]);
});

function toDefault(gateway: string, zero = "0.0.0.0"): VinoRoute {
  return { network: zero, netmask: zero, gateway };
}

test.each<[string, readonly VinoRoute[], readonly VinoRoute[], string[]]>([
  ["one", [toDefault("192.0.2.1")], [], []],
  ["one of each family", [toDefault("192.0.2.1")], [toDefault("2001:db8::1", "::")], []],
  ["one beside the bridge of old", [toDefault("192.0.2.1")], [toDefault("$vinobridge")], []],
  [
    "one besides the lower half of addresses",
    [toDefault("192.0.2.1")],
    [{ network: "0.0.0.0", netmask: "128.0.0.0", gateway: "192.0.2.2" }],
    [],
  ],
  [
    "two of different networks",
    [toDefault("192.0.2.1")],
    [toDefault("198.51.100.1")],
    ["role a has 192.0.2.1 of network oam and 198.51.100.1 of network pxe for IPv4"],
  ],
  [
    "two of one network",
    [toDefault("2001:db8::1", "::"), toDefault("2001:db8::2", "::")],
    [],
    ["role a has 2001:db8::1 of network oam and 2001:db8::2 of network oam for IPv6"],
  ],
])("listDoubleDefaults() with %s", (_what, first, second, doubles) => {
  const networks = [
    { name: "oam", routes: first },
    { name: "pxe", routes: second },
  ];
  const networkInterfaces = networks.map(({ name }, at) => ({ name: `eth${at}`, network: name }));
  const alone = { name: "b", networkInterfaces: networkInterfaces.slice(1) };
  expect(
    listDoubleDefaults({ networks, nodes: [{ name: "a", networkInterfaces }, alone] }),
  ).toEqual(doubles);
});

test("listDoubleDefaults() counts a network once that has several interfaces of a machine", () => {
  const networks = [{ name: "oam", routes: [toDefault("192.0.2.1")] }];
  const networkInterfaces = ["eth0", "eth1"].map((name) => ({ name, network: "oam" }));
  expect(listDoubleDefaults({ networks, nodes: [{ name: "a", networkInterfaces }] })).toEqual([]);
});
