/**
 * What real programs say of seed disks and of network data: they read all of it as it was meant.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toSeedImage } from "../../../lib/cloud/seed_image.ts";
import {
  formatNetworkConfig,
  toCloudInit,
} from "../../../lib/controllers/vino/guest/cloud_init.ts";
import { formatNetworkData } from "../../../lib/controllers/vino/guest/network_data.ts";
import type { GuestInterface } from "../../../lib/controllers/vino/guest/types.ts";
import {
  checkVolume,
  convertForNetworkd,
  lacksGuestPrograms,
  makeFolder,
  readImage,
  readSeed,
  runProgram,
} from "../../support/vino/guest_programs.ts";
import { seeNetworkData } from "../../support/vino/guests.ts";

const MIB = 1024 * 1024;
const MACHINE = "vino-1b4e28ba-worker-3";
const FILES = {
  "meta-data": "instance-id: a\n",
  "user-data": "#cloud-config\n",
  "network-config": "version: 2\n",
};
const OPENSTACK = {
  "openstack/latest/network_data.json": "{}",
  "openstack/latest/meta_data.json": '{"ü":1}',
};
const MANY = Object.fromEntries(
  Array.from({ length: 300 }, (_, at) => [
    `many/network_data ${at} of a folder with long names.json`,
    `${at}`,
  ]),
);

const BASE = { mtu: 1500, addresses: [], routes: [], dnsServers: [] };
const OAM: GuestInterface = {
  ...BASE,
  name: "oam",
  network: "oam",
  mac: "52:54:00:06:00:01",
  addresses: [{ ip: "192.168.2.10", prefixLength: 20 }],
  routes: [
    { to: "0.0.0.0/0", via: "192.168.0.1" },
    { to: "198.51.100.0/24", via: "192.168.0.2" },
    { to: "203.0.113.7/32", via: "192.168.0.2" },
  ],
  dnsServers: ["192.168.0.53", "192.168.0.54"],
};
const STORAGE: GuestInterface = {
  ...BASE,
  name: "storage",
  network: "storage",
  mac: "52:54:00:06:00:02",
  addresses: [{ ip: "2001:db8::5", prefixLength: 64 }],
  routes: [
    { to: "::/0", via: "2001:db8::1" },
    { to: "2001:db8:1::/48", via: "2001:db8::2" },
  ],
  dnsServers: ["2001:db8::53"],
};
const PXE: GuestInterface = { ...BASE, name: "pxe", network: "pxe", mac: "12:34:56:00:00:03" };
const PXE6: GuestInterface = {
  ...PXE,
  name: "pxe6",
  network: "pxe6",
  mac: "12:34:56:00:00:04",
  dhcp: 6,
};
const BOTH: GuestInterface = {
  ...OAM,
  name: "both",
  addresses: [...OAM.addresses, ...STORAGE.addresses],
  routes: OAM.routes.slice(0, 1),
};

describe.skipIf(lacksGuestPrograms())("seed disks", () => {
  const VOLUMES: readonly {
    readonly what: string;
    readonly files: Record<string, string>;
    readonly mib: number;
  }[] = [
    { what: "the files of cloud-init", files: FILES, mib: 2 },
    { what: "folders", files: { ...FILES, ...OPENSTACK, EMPTY: "" }, mib: 2 },
    { what: "many long names", files: MANY, mib: 2 },
    { what: "2 MiB of user data", files: { ...FILES, "user-data": "y".repeat(2 * MIB) }, mib: 4 },
    {
      what: "7 MiB of user data",
      files: { ...OPENSTACK, "user-data": "y".repeat(7 * MIB) },
      mib: 8,
    },
  ];
  for (const { what, files, mib } of VOLUMES) {
    test(`are volumes without errors with ${what}, which mtools read`, async () => {
      await using folder = await makeFolder();
      const path = join(folder.path, "seed.img");
      const image = toSeedImage({ label: "cidata", files });
      expect(image).toHaveLength(mib * MIB);
      await writeFile(path, image);
      const { code, output } = checkVolume(path);
      expect({ code, lines: output.trim().split("\n").length }).toEqual({ code: 0, lines: 2 });
      expect(output).toContain(`${path}: `);
      expect(await readImage(path, join(folder.path, "files"))).toEqual(files);
    });
  }

  test.each(["cidata", "CIDATA", "config-2"])(
    "have the label %s for those who look for it",
    async (label) => {
      await using folder = await makeFolder();
      const path = join(folder.path, "seed.img");
      await writeFile(path, toSeedImage({ label, files: FILES }));
      const found = await runProgram("blkid", ["-p", "-o", "export", path]);
      expect(found.split("\n")).toEqual(expect.arrayContaining([`LABEL=${label}`, "TYPE=vfat"]));
    },
  );

  test("are read by cloud-init as they were meant", async () => {
    await using folder = await makeFolder();
    const userData = {
      text: "#cloud-config\npackages: [curl]\n# ü\n",
      secret: "metal/a",
      key: "userData",
    };
    const interfaces = [OAM, STORAGE, PXE, PXE6];
    const { seed } = toCloudInit({ machine: MACHINE, hostname: "worker-3", interfaces, userData });
    expect(seed).toBeDefined();
    if (seed === undefined) return;
    const path = join(folder.path, "seed.img");
    await writeFile(path, toSeedImage(seed));
    const files = join(folder.path, "files");
    await readImage(path, files);
    expect(await readSeed(files)).toEqual({
      found: true,
      instance: MACHINE,
      hostname: "worker-3",
      userData: userData.text,
      network: JSON.parse(formatNetworkConfig(interfaces)),
    });
  });

  test("have user data that cloud-init accepts, also when the Vino has none", async () => {
    await using folder = await makeFolder();
    const { seed } = toCloudInit({ machine: MACHINE, interfaces: [] });
    const path = join(folder.path, "user-data");
    await writeFile(path, seed?.files["user-data"] ?? "");
    expect(await runProgram("cloud-init", ["schema", "-c", path])).toContain("Valid cloud-config");
  });
});

describe.skipIf(lacksGuestPrograms())("cloud-init sets up from both formats", () => {
  const GUESTS: readonly (readonly [what: string, guest: readonly GuestInterface[]])[] = [
    ["static addresses and DHCP", [OAM, STORAGE, PXE, PXE6]],
    ["two addresses on an interface", [BOTH]],
    ["one address without routes", [{ ...STORAGE, routes: [], dnsServers: [] }]],
  ];
  for (const [what, guest] of GUESTS) {
    test(`${what}`, async () => {
      const meant = seeNetworkData(formatNetworkData(guest))
        .map((one) => ({ ...one, addresses: [...one.addresses].toSorted() }))
        .toSorted((one, other) => (one.mac < other.mac ? -1 : 1));
      const config = await convertForNetworkd("yaml", formatNetworkConfig(guest), guest);
      expect(config).toEqual(meant);
      const data = await convertForNetworkd("network_data.json", formatNetworkData(guest), guest);
      // cloud-init gives the name servers of OpenStack to all interfaces.
      const servers = [...new Set(guest.flatMap(({ dnsServers }) => dnsServers))].toSorted();
      expect(data).toEqual(meant.map((one) => ({ ...one, dns: servers })));
    });
  }
});
