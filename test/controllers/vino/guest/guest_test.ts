import fc from "fast-check";
import { expect, test } from "bun:test";
import { planAddresses } from "../../../../lib/controllers/vino/addresses/ipam.ts";
import { toGuestInterfaces } from "../../../../lib/controllers/vino/addresses/vino_addresses.ts";
import type { VinoNetwork } from "../../../../lib/controllers/vino/resource/vino.ts";
import {
  MANAGEMENT,
  PXE,
  STORAGE,
  toFacts,
  toNames,
  toRequest,
} from "../../../support/vino/address_requests.ts";
import {
  formatNetworkConfig,
  toCloudInit,
} from "../../../../lib/controllers/vino/guest/cloud_init.ts";
import type { GuestInterface } from "../../../../lib/controllers/vino/guest/types.ts";
import { toSeedImage } from "../../../../lib/cloud/seed_image.ts";
import { readFat } from "../../../support/cloud/fat_reader.ts";
import {
  parseNetworkData,
  toAddresses,
} from "../../../../lib/controllers/sipcluster/hosts/network_data.ts";
import { formatNetworkData } from "../../../../lib/controllers/vino/guest/network_data.ts";
import { guests, seeNetworkConfig, seeNetworkData } from "../../../support/vino/guests.ts";

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

const MACHINE = "vino-1b4e28ba-worker-3";
const OAM: GuestInterface = {
  name: "oam",
  network: "oam",
  mac: "12:34:56:00:00:01",
  mtu: 9000,
  addresses: [{ ip: "192.168.2.10", prefixLength: 20 }],
  routes: [{ to: "0.0.0.0/0", via: "192.168.0.1" }],
  dnsServers: ["192.168.0.53"],
};

test("formatNetworkConfig() finds interfaces by their MAC addresses, in quotes", () => {
  const pxe = {
    ...OAM,
    name: "pxe",
    mac: "02:00:00:00:00:02",
    addresses: [],
    routes: [],
    dnsServers: [],
  };
  const { mtu: _, ...dynamic } = pxe;
  const text = formatNetworkConfig([OAM, dynamic, { ...dynamic, name: "pxe6", dhcp: 6 }]);
  expect(text).toContain('"macaddress": "12:34:56:00:00:01"');
  expect(Bun.YAML.parse(text)).toEqual({
    version: 2,
    ethernets: {
      oam: {
        match: { macaddress: "12:34:56:00:00:01" },
        mtu: 9000,
        dhcp4: false,
        dhcp6: false,
        addresses: ["192.168.2.10/20"],
        routes: [{ to: "0.0.0.0/0", via: "192.168.0.1" }],
        nameservers: { addresses: ["192.168.0.53"] },
      },
      pxe: { match: { macaddress: "02:00:00:00:00:02" }, dhcp4: true, dhcp6: false },
      pxe6: { match: { macaddress: "02:00:00:00:00:02" }, dhcp4: false, dhcp6: true },
    },
  });
});

test("formatNetworkConfig() writes the default route of IPv6 so that every system gets it", () => {
  const routes = [
    { to: "::/0", via: "2001:db8::1" },
    { to: "2001:db8:1::/48", via: "2001:db8::2" },
  ];
  const addresses = [{ ip: "2001:db8::5", prefixLength: 64 }];
  const [one, two] = [
    { ...OAM, addresses, routes },
    { ...OAM, name: "dhcp", addresses: [], routes },
  ];
  expect(JSON.parse(formatNetworkConfig([one, two]))).toMatchObject({
    ethernets: {
      oam: { gateway6: "2001:db8::1", routes: [{ to: "2001:db8:1::/48", via: "2001:db8::2" }] },
      // Only an address of IPv6 can have a gateway.
      dhcp: { routes },
    },
  });
});

test("toCloudInit() makes the files of a seed disk that cloud-init finds", () => {
  const userData = {
    text: "#cloud-config\npackages: [curl]\n",
    secret: "metal/first",
    key: "userData",
  };
  const { seed } = toCloudInit({
    machine: MACHINE,
    hostname: "worker-3",
    interfaces: [OAM],
    userData,
  });
  expect(seed).toEqual({
    label: "cidata",
    files: {
      "meta-data":
        '{\n  "instance-id": "vino-1b4e28ba-worker-3",\n  "local-hostname": "worker-3"\n}\n',
      "network-config": formatNetworkConfig([OAM]),
      "user-data": userData.text,
    },
  });
  expect(seed && readFat(toSeedImage(seed))).toEqual(seed);
});

test("toCloudInit() sets up the networks without user data, too, with the name of the machine", () => {
  const { seed } = toCloudInit({ machine: MACHINE, interfaces: [OAM] });
  expect(seed?.files["user-data"]).toBe("#cloud-config\n{}\n");
  expect(Bun.YAML.parse(seed?.files["meta-data"] ?? "")).toEqual({
    "instance-id": MACHINE,
    "local-hostname": MACHINE,
  });
});

test.each([
  "#cloud-config\r\n",
  "#cloud-config-archive\n- type: text/cloud-config",
  "#!/bin/sh\n",
  "#include\nhttps://example.org/user-data",
  "#include-once\n",
  "#cloud-boothook\n",
  "#part-handler\n",
  "## template: jinja\n#cloud-config\n",
  "Content-Type: multipart/mixed; boundary=x\n",
  "MIME-Version: 1.0\n",
])("toCloudInit() takes user data that begins with %j", (text) => {
  const { seed } = toCloudInit({
    machine: MACHINE,
    interfaces: [],
    userData: { text, secret: "a", key: "b" },
  });
  expect(seed?.files["user-data"]).toBe(text);
});

test.each([
  "",
  "password: s3cret\n",
  "\n#cloud-config\n",
  " #cloud-config",
  '{"ignition": "s3cret"}',
  "# cloud-config s3cret",
])("toCloudInit() refuses %j, and names only the Secret and its key", (text) => {
  const userData = { text, secret: "metal/first", key: "userData" };
  expect(toCloudInit({ machine: MACHINE, interfaces: [], userData })).toEqual({
    problem:
      "key userData of Secret metal/first must begin with a header of cloud-init, for example #cloud-config",
  });
});

const OAM_INTERFACE: GuestInterface = {
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
const STORAGE_INTERFACE: GuestInterface = {
  name: "eth1",
  network: "storage",
  mac: "52:54:00:06:00:02",
  addresses: [{ ip: "2001:db8::5", prefixLength: 64 }],
  routes: [{ to: "::/0", via: "2001:db8::1" }],
  dnsServers: ["192.168.0.53", "2001:db8::53"],
};
const PXE_INTERFACE: GuestInterface = {
  name: "eth2",
  network: "pxe",
  mac: "52:54:00:06:00:03",
  addresses: [],
  routes: [],
  dnsServers: [],
};

test("formatNetworkData() writes links, networks and name servers as OpenStack does", () => {
  const text = formatNetworkData([OAM_INTERFACE, STORAGE_INTERFACE, PXE_INTERFACE]);
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
  const text = formatNetworkData([{ ...PXE_INTERFACE, dhcp: 6 }]);
  expect(JSON.parse(text)).toMatchObject({ networks: [{ id: "pxe", type: "ipv6_dhcp" }] });
});

test("formatNetworkData() gives each network its own ID, the first one that of the Vino", () => {
  const two = {
    ...OAM_INTERFACE,
    addresses: [...STORAGE_INTERFACE.addresses, ...OAM_INTERFACE.addresses],
  };
  const text = formatNetworkData([two, { ...PXE_INTERFACE, network: "oam" }]);
  const { networks }: { networks: { id: string; routes: unknown[]; services: unknown[] }[] } =
    JSON.parse(text);
  expect(networks.map(({ id }) => id)).toEqual(["oam", "oam-eth0", "oam-eth2"]);
  expect(networks.map(({ routes }) => routes.length)).toEqual([0, 2, 0]);
  expect(networks.map(({ services }) => services.length)).toEqual([1, 0, 0]);
});

test("services of SIPClusters find in it the address on each network, and say DHCP for others", () => {
  const data = parseNetworkData(
    formatNetworkData([OAM_INTERFACE, STORAGE_INTERFACE, PXE_INTERFACE]),
  );
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
