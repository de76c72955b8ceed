/**
 * What the story of Vinos asks for.
 * @module
 */
import type {
  NodeSet,
  SipClusterSpec,
} from "../../../controllers/sipcluster/resource/sip_cluster.ts";
import { FLAVOR, HOST } from "../../../controllers/vino/hosts/words.ts";
import type { VinoSpec } from "../../../controllers/vino/resource/vino.ts";

/** Roles of machines. */
export const ROLES = { controlPlane: "control-plane", worker: "worker" } as const;

const INTERFACES = [
  { name: "eth0", network: "oam" },
  { name: "eth1", network: "pxe" },
];

/** A Vino: one control plane on each host, and a total of workers. @param changes What differs */
export function toVinoSpec(
  workers: number,
  changes: {
    readonly controlPlanesPerHost?: number;
    readonly deletionPolicy?: "Retain" | "Delete";
  } = {},
): VinoSpec {
  const { controlPlanesPerHost = 1, deletionPolicy = "Delete" } = changes;
  return {
    networks: [
      {
        name: "oam",
        subnet: "192.0.2.0/24",
        staticAllocationStart: "192.0.2.10",
        staticAllocationStop: "192.0.2.99",
        routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.0.2.1" }],
      },
      { name: "pxe" },
    ],
    nodes: [
      { name: ROLES.controlPlane, count: controlPlanesPerHost, networkInterfaces: INTERFACES },
      {
        name: ROLES.worker,
        count: workers,
        networkInterfaces: INTERFACES,
        xenOrchestra: { countPer: "Total" },
      },
    ],
    xenOrchestra: {
      pool: "paris",
      template: "vino-debian",
      cpus: 4,
      memory: "8Gi",
      disks: [
        { name: "root", size: "20Gi" },
        { name: "data", size: "50Gi", sr: "fast" },
      ],
      networks: { pxe: "provisioning" },
      deletionPolicy,
    },
  };
}

/** A SIPCluster: control planes and workers, each of a role on another XCP-ng host. */
export function toClusterSpec(controlPlanes: number, workers: number): SipClusterSpec {
  const toRole = (role: string, active: number): NodeSet => ({
    labelSelector: { matchLabels: { [FLAVOR]: role } },
    topologyKey: HOST,
    count: { active, standby: 0 },
  });
  return {
    nodes: {
      ControlPlane: toRole(ROLES.controlPlane, controlPlanes),
      Worker: toRole(ROLES.worker, workers),
    },
    services: {},
  };
}
