import { expect, test } from "bun:test";
import { formatHardwareDetails } from "../../../../lib/controllers/vino/hosts/hardware_details.ts";
import type { WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import { BMC, toWanted } from "../../../support/vino/wanted_hosts.ts";

function toDetails(host: Partial<WantedHost> = {}): unknown {
  return JSON.parse(formatHardwareDetails(toWanted(0, host)) ?? "null");
}

test("formatHardwareDetails() tells metal3 about the hardware in metal3's form", () => {
  expect(toDetails()).toEqual({
    systemVendor: { manufacturer: "Xen", productName: "HVM domU", serialNumber: "vm-0" },
    ramMebibytes: 8192,
    nics: [{ name: "eth0", mac: "02:00:00:00:00:00", ip: "192.0.2.10", pxe: true }],
    storage: [
      { name: "/dev/xvda", rotational: false, sizeBytes: 40 * 1024 ** 3 },
      { name: "/dev/xvdb", rotational: false, sizeBytes: 1024 ** 3 },
    ],
    cpu: { arch: "x86_64", count: 4 },
    hostname: "edge-worker-0",
  });
});

test("formatHardwareDetails() tells metal3 every address of an interface, and that some have none", () => {
  const [first] = toWanted().interfaces;
  if (first === undefined) throw new Error("no interface");
  const six = { ip: "2001:db8::1", prefixLength: 64 };
  const interfaces = [
    { ...first, addresses: [...first.addresses, six] },
    { ...first, name: "eth1", mac: "02:00:00:00:00:01", addresses: [] },
  ];
  expect(toDetails({ interfaces })).toHaveProperty("nics", [
    { name: "eth0", mac: "02:00:00:00:00:00", pxe: true, ip: "192.0.2.10" },
    { name: "eth0", mac: "02:00:00:00:00:00", pxe: true, ip: "2001:db8::1" },
    { name: "eth1", mac: "02:00:00:00:00:01", pxe: false },
  ]);
});

test("formatHardwareDetails() always has the field of the disks", () => {
  const { hardware } = toWanted();
  const tell = (change: Partial<WantedHost["hardware"]>): unknown =>
    toDetails({ hardware: { ...hardware, ...change } });
  expect(tell({ disks: [], areDisksKnown: false })).toHaveProperty("storage", []);
  expect(tell({ disks: [], areDisksKnown: true })).toHaveProperty("storage", []);
  expect(tell({ areDisksKnown: false })).toHaveProperty("storage.1.name", "/dev/xvdb");
});

test("formatHardwareDetails() leaves a host to metal3 that metal3 can start and installs", () => {
  expect(toDetails({ bmc: BMC, isExternallyProvisioned: false })).toBeNull();
  expect(toDetails({ bmc: BMC })).not.toBeNull();
});
