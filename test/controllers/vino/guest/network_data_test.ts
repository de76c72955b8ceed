import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  parseNetworkData,
  toAddresses,
} from "../../../../lib/controllers/sipcluster/hosts/network_data.ts";
import { formatNetworkConfig } from "../../../../lib/controllers/vino/guest/cloud_init.ts";
import { formatNetworkData } from "../../../../lib/controllers/vino/guest/network_data.ts";
import type { GuestInterface } from "../../../../lib/controllers/vino/guest/types.ts";
import { guests, seeNetworkConfig, seeNetworkData } from "../../../support/vino/guests.ts";

const OAM: GuestInterface = {
  name: "eth0",
  network: "oam",
  mac: "52:54:00:06:00:01",
  mtu: 1500,
  addresses: [{ ip: "192.168.2.10", prefixLength: 20 }],
  routes: [
    { to: "0.0.0.0/0", via: "192.168.0.1" },
    { to: "198.51.100.0/24", via: "192.168.0.2" },
  ],
  dnsServers: ["192.168.0.53"],
};
const STORAGE: GuestInterface = {
  name: "eth1",
  network: "storage",
  mac: "52:54:00:06:00:02",
  addresses: [{ ip: "2001:db8::5", prefixLength: 64 }],
  routes: [{ to: "::/0", via: "2001:db8::1" }],
  dnsServers: ["192.168.0.53", "2001:db8::53"],
};
const PXE: GuestInterface = {
  name: "eth2",
  network: "pxe",
  mac: "52:54:00:06:00:03",
  addresses: [],
  routes: [],
  dnsServers: [],
};

test("formatNetworkData() writes links, networks and name servers as OpenStack does", () => {
  const text = formatNetworkData([OAM, STORAGE, PXE]);
  expect(JSON.parse(text)).toEqual({
    links: [
      { id: "eth0", type: "phy", ethernet_mac_address: "52:54:00:06:00:01", mtu: 1500 },
      { id: "eth1", type: "phy", ethernet_mac_address: "52:54:00:06:00:02" },
      { id: "eth2", type: "phy", ethernet_mac_address: "52:54:00:06:00:03" },
    ],
    networks: [
      {
        id: "oam",
        type: "ipv4",
        link: "eth0",
        ip_address: "192.168.2.10",
        netmask: "255.255.240.0",
        routes: [
          { network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.168.0.1" },
          { network: "198.51.100.0", netmask: "255.255.255.0", gateway: "192.168.0.2" },
        ],
        services: [{ type: "dns", address: "192.168.0.53" }],
      },
      {
        id: "storage",
        type: "ipv6",
        link: "eth1",
        ip_address: "2001:db8::5",
        netmask: "ffff:ffff:ffff:ffff::",
        routes: [{ network: "::", netmask: "::", gateway: "2001:db8::1" }],
        services: [
          { type: "dns", address: "192.168.0.53" },
          { type: "dns", address: "2001:db8::53" },
        ],
      },
      { id: "pxe", type: "ipv4_dhcp", link: "eth2", routes: [], services: [] },
    ],
    services: [
      { type: "dns", address: "192.168.0.53" },
      { type: "dns", address: "2001:db8::53" },
    ],
  });
});

test("formatNetworkData() asks for an address of IPv6 where the network has that family", () => {
  const text = formatNetworkData([{ ...PXE, dhcp: 6 }]);
  expect(JSON.parse(text)).toMatchObject({ networks: [{ id: "pxe", type: "ipv6_dhcp" }] });
});

test("formatNetworkData() gives each network its own ID, the first one that of the Vino", () => {
  const two = { ...OAM, addresses: [...STORAGE.addresses, ...OAM.addresses] };
  const text = formatNetworkData([two, { ...PXE, network: "oam" }]);
  const { networks }: { networks: { id: string; routes: unknown[]; services: unknown[] }[] } =
    JSON.parse(text);
  expect(networks.map(({ id }) => id)).toEqual(["oam", "oam-eth0", "oam-eth2"]);
  expect(networks.map(({ routes }) => routes.length)).toEqual([0, 2, 0]);
  expect(networks.map(({ services }) => services.length)).toEqual([1, 0, 0]);
});

test("services of SIPClusters find in it the address on each network, and say DHCP for others", () => {
  const data = parseNetworkData(formatNetworkData([OAM, STORAGE, PXE]));
  expect(toAddresses(data, ["oam", "storage"])).toEqual({
    kind: "addresses",
    addresses: new Map([
      ["oam", "192.168.2.10"],
      ["storage", "2001:db8::5"],
    ]),
  });
  expect(toAddresses(data, ["pxe"])).toEqual({ kind: "trouble", trouble: 'DHCP on network "pxe"' });
});

test("formatNetworkData() and formatNetworkConfig() say the same of any guest", () => {
  fc.assert(
    fc.property(guests, (interfaces) => {
      const seen = seeNetworkData(formatNetworkData(interfaces));
      expect(seen).toEqual(seeNetworkConfig(formatNetworkConfig(interfaces)));
      expect(seen.map(({ addresses }) => addresses)).toEqual(
        interfaces.map(({ addresses }) =>
          addresses.map(({ ip, prefixLength }) => `${ip}/${prefixLength}`),
        ),
      );
      expect(seen.map(({ routes }) => routes)).toEqual(
        interfaces.map(({ routes }) => routes.map(({ to, via }) => `${to} via ${via}`).toSorted()),
      );
      expect(seen.map(({ dns }) => dns)).toEqual(
        interfaces.map(({ dnsServers }) => [...dnsServers]),
      );
    }),
  );
});
