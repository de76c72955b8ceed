import { expect, test } from "bun:test";
import {
  formatNetworkConfig,
  toCloudInit,
} from "../../../../lib/controllers/vino/guest/cloud_init.ts";
import type { GuestInterface } from "../../../../lib/controllers/vino/guest/types.ts";
import { toSeedImage } from "../../../../lib/cloud/seed_image.ts";
import { readFat } from "../../../support/cloud/fat_reader.ts";

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
