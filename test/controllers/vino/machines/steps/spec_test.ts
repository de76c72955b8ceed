import { expect, test } from "bun:test";
import { toMachineSpec, toOwner } from "../../../../../lib/controllers/vino/machines/steps/spec.ts";
import type { RoleForm } from "../../../../../lib/controllers/vino/resource/role_form.ts";
import { VINO_OWNER } from "../../../../support/vino/known.ts";

const FORM: RoleForm = {
  template: "debian",
  cpus: 2,
  memoryBytes: 4_294_967_296,
  disks: [
    { name: "root", sizeBytes: 10 },
    { name: "data", sizeBytes: 20, sr: "fast" },
  ],
  countPer: "Host",
  boot: "Template",
  hosts: {},
};
const INTERFACES = ["oam", "storage"].map((network, at) => ({
  name: `eth${at}`,
  network,
  mac: `02:00:00:00:00:0${at}`,
  ...(at === 1 && { mtu: 9000 }),
  addresses: [],
  routes: [],
  dnsServers: [],
}));
const SOURCE = {
  owner: VINO_OWNER,
  spec: { xenOrchestra: { networks: { oam: "Pool-wide network" } } },
  form: FORM,
  role: "worker",
  index: 3,
  poolId: "p",
  hostId: "h",
  interfaces: INTERFACES,
  hasBmc: false,
};

test("toMachineSpec() maps networks, storage and MTUs", () => {
  expect(toMachineSpec(SOURCE)).toEqual({
    owner: VINO_OWNER,
    role: "worker",
    index: 3,
    poolId: "p",
    hostId: "h",
    template: "debian",
    cpus: 2,
    memoryBytes: 4_294_967_296,
    disks: [
      { name: "root", sizeBytes: 10 },
      { name: "data", sizeBytes: 20, storage: "fast" },
    ],
    interfaces: [
      { name: "eth0", network: "Pool-wide network", mac: "02:00:00:00:00:00" },
      { name: "eth1", network: "storage", mac: "02:00:00:00:00:01", mtu: 9000 },
    ],
    boot: "disk",
    isStarted: true,
  });
});

test.each([
  ["Template", false, "disk", true],
  ["Template", true, "disk", true],
  ["Network", false, "network", true],
  ["Network", true, "network", false],
] as const)(
  "toMachineSpec() for %s with a management controller: %p",
  (boot, hasBmc, first, isStarted) => {
    const spec = toMachineSpec({ ...SOURCE, form: { ...FORM, boot }, hasBmc });
    expect(spec).toMatchObject({ boot: first, isStarted });
  },
);

test("toOwner() reads namespace, name and UID", () => {
  expect(toOwner({ metadata: { ...VINO_OWNER, resourceVersion: "7" } })).toEqual(VINO_OWNER);
});
