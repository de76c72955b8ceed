import { expect, test } from "bun:test";
import { planAddresses } from "../../../../lib/controllers/vino/addresses/ipam.ts";
import { toGuestInterfaces } from "../../../../lib/controllers/vino/guest/guest_networks.ts";
import type { VinoNetwork } from "../../../../lib/controllers/vino/resource/vino.ts";
import {
  MANAGEMENT,
  PXE,
  STORAGE,
  toFacts,
  toNames,
  toRequest,
} from "../../../support/vino/address_requests.ts";

const MAC = "52:54:00:06:00:01";

test("toGuestInterfaces() gives each interface its addresses, routes and name servers, in order", () => {
  const routes = [{ network: "10.9.8.7", netmask: "255.0.0.0", gateway: "192.168.0.1" }];
  const management = { ...MANAGEMENT, routes, dns_servers: ["192.168.0.53", "2001:DB8::53"] };
  const networks = [STORAGE, management, PXE];
  const [machine = ""] = toNames(1);
  const request = toRequest(networks, [machine]);
  const addresses = planAddresses(request, toFacts(request)).machines.get(machine) ?? [];
  const interfaces = [{ name: "eth1", network: "management", mtu: 9000 }];
  const macs = addresses.map(({ mac }) => mac);
  expect(toGuestInterfaces({ networks, interfaces, addresses })).toEqual([
    {
      name: "eth0",
      network: "storage",
      mac: macs[0] ?? "",
      addresses: [{ ip: "2001:db8:0:1::1", prefixLength: 64 }],
      routes: [],
      dnsServers: [],
    },
    {
      name: "eth1",
      network: "management",
      mac: macs[1] ?? "",
      mtu: 9000,
      addresses: [{ ip: "192.168.2.10", prefixLength: 20 }],
      routes: [{ to: "10.0.0.0/8", via: "192.168.0.1" }],
      dnsServers: ["192.168.0.53", "2001:db8::53"],
    },
    { name: "eth2", network: "pxe", mac: macs[2] ?? "", addresses: [], routes: [], dnsServers: [] },
  ]);
});

const ROUTES: readonly [
  network: string,
  netmask: string,
  gateway: string,
  route: string | undefined,
][] = [
  ["0.0.0.0", "0.0.0.0", "192.0.2.1", "0.0.0.0/0 via 192.0.2.1"],
  ["198.51.100.0", "255.255.255.0", "192.0.2.1", "198.51.100.0/24 via 192.0.2.1"],
  ["198.51.100.7", "255.255.255.255", "192.0.2.1", "198.51.100.7/32 via 192.0.2.1"],
  ["::", "::", "2001:DB8::1", "::/0 via 2001:db8::1"],
  ["2001:db8:1::", "ffff:ffff:ffff::", "2001:db8::1", "2001:db8:1::/48 via 2001:db8::1"],
  ["0.0.0.0", "0.0.0.0", "$vinobridge", undefined],
  ["0.0.0.0", "0.0.0.0", "2001:db8::1", undefined],
  ["0.0.0.0", "255.0.255.0", "192.0.2.1", undefined],
];
for (const [network, netmask, gateway, route] of ROUTES) {
  test(`toGuestInterfaces() makes ${route ?? "no route"} of ${network}, ${netmask}, ${gateway}`, () => {
    const one: VinoNetwork = { name: "oam", routes: [{ network, netmask, gateway }] };
    const addresses = [{ name: "eth0", network: "oam", mac: MAC }];
    const [made] = toGuestInterfaces({ networks: [one], interfaces: [], addresses });
    expect(made?.routes.map(({ to, via }) => `${to} via ${via}`)).toEqual(
      route === undefined ? [] : [route],
    );
  });
}

test("toGuestInterfaces() does not change the networks, which all machines share", () => {
  const routes = [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "$vinobridge" }];
  const networks = [{ ...MANAGEMENT, routes }];
  const before = structuredClone(networks);
  const addresses = [{ name: "eth0", network: "management", mac: MAC }];
  toGuestInterfaces({ networks, interfaces: [], addresses });
  expect(networks).toEqual(before);
});

test.each([
  ["2001:db8::/64", 6],
  ["192.0.2.0/24", undefined],
  [undefined, undefined],
] as const)(
  "toGuestInterfaces() asks a DHCP server of a network with subnet %p for IPv%p",
  (subnet, dhcp) => {
    const network = { name: "pxe", ...(subnet !== undefined && { subnet }) };
    const addresses = [{ name: "eth0", network: "pxe", mac: MAC }];
    const [made] = toGuestInterfaces({ networks: [network], interfaces: [], addresses });
    expect(made?.dhcp).toBe(dhcp);
  },
);
