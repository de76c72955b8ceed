/**
 * Machines to publish, for tests.
 * @module
 */
import type { MachineOwner } from "../../../lib/cloud/capabilities/machines.ts";
import type { LabelSource } from "../../../lib/controllers/vino/hosts/labels.ts";
import { toHostLabels } from "../../../lib/controllers/vino/hosts/labels.ts";
import { toHostName } from "../../../lib/controllers/vino/hosts/names.ts";
import type { WantedHost } from "../../../lib/controllers/vino/hosts/types.ts";

/** The Vino of the machines. */
export const OWNER: MachineOwner = {
  namespace: "metal",
  name: "edge",
  uid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
};
/** Hosts of the cloud. */
const CLOUD_HOSTS: LabelSource["hosts"] = [
  { id: "h1", tags: ["vino.airshipit.org/rack=r1"] },
  { id: "h2", tags: ["vino.airshipit.org/rack=r2", "other"] },
];
/** What a management controller accepts. */
export const BMC = {
  address: "redfish+https://redfish.metal.svc:8443/redfish/v1/Systems/vm-0",
  username: "admin",
  password: "not to be shown",
  skipsCertificateCheck: false,
};

/** What the labels of a machine on host `h1` come from, unless a test says otherwise. */
export function toSource(source: Partial<LabelSource> = {}): LabelSource {
  return {
    owner: OWNER,
    role: "worker",
    networks: ["oam"],
    machine: { poolId: "p1", hostId: "h1", firstHostId: "h1" },
    hosts: CLOUD_HOSTS,
    ...source,
  };
}

/** The machine of an index, complete and running, without a management controller. */
export function toWanted(
  index = 0,
  host: Partial<WantedHost> = {},
  source: Partial<LabelSource> = {},
): WantedHost {
  const mac = `02:00:00:00:00:0${index}`;
  const role = source.role ?? "worker";
  return {
    name: toHostName({ vino: OWNER.name, role, index }),
    machineName: `vino-1b4e28ba-${role}-${index}`,
    machineId: `vm-${index}`,
    role,
    power: "running",
    labels: toHostLabels(toSource(source)),
    interfaces: [
      {
        name: "eth0",
        network: "oam",
        mac,
        addresses: [{ ip: `192.0.2.${index + 10}`, prefixLength: 24 }],
        routes: [],
        dnsServers: [],
      },
    ],
    bootMac: mac,
    rootDeviceName: "/dev/xvda",
    firmware: "uefi",
    hardware: {
      cpus: 4,
      memoryBytes: 8 * 1024 ** 3,
      disks: [
        { name: "root", sizeBytes: 40 * 1024 ** 3 },
        { name: "data", sizeBytes: 1024 ** 3 },
      ],
      areDisksKnown: true,
    },
    isBuilt: true,
    isExternallyProvisioned: true,
    ...host,
  };
}
