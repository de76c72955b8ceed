/**
 * A cloud with load balancers: a network of each kind, and things that belong to others.
 * @module
 */
import { createNetworkKinds, type NetworkKind } from "../cloud/cloudstack_network_kinds.ts";
import { toFirewallRule } from "../../../lib/simulator/cloudstack/world/firewall.ts";
import {
  type PublicIp,
  toPublicIp,
  type Vm,
  type World,
} from "../../../lib/simulator/cloudstack/world/records.ts";
import type { ObjectInput } from "../../../lib/simulator/kubernetes/mod.ts";
import { toLoadBalancerRule, toPortForwarding } from "../cloud/cloudstack_rules.ts";

/** Address of the user, with rules that are not of the cluster. */
export const USED_IP = "203.0.113.20";
/** Addresses of the user without rules. */
export const PINNED_IP = "203.0.113.21";
/** How free addresses begin. */
export const FREE_IPS_PREFIX = "198.51.100.";
/** What a story starts with. */
export interface Site {
  readonly world: World;
  readonly nodes: readonly ObjectInput[];
  /** The VMs of the Nodes. */
  readonly vms: readonly Vm[];
  readonly networkId: string;
  /** Address of the user without rules. */
  readonly pinned: PublicIp;
}

const FREE_IPS = 4;
/** A VM that is no Node comes after them. */
const NODES = 3;

/** Three Nodes in a network of this kind. */
export function createSite(kind: NetworkKind): Site {
  const kinds = createNetworkKinds({ freeIps: FREE_IPS, vms: NODES + 1 });
  const network = kinds.networks[kind];
  const zoneId = network.zoneId;
  const toOwned = (address: string): PublicIp => ({
    ...toPublicIp(address, zoneId, kinds.ownerId),
    ...(network.vpcId === undefined ? { networkId: network.id } : { vpcId: network.vpcId }),
  });
  const used = { ...toOwned(USED_IP), networkId: network.id };
  const pinned = toOwned(PINNED_IP);
  const vms = kinds.vms[kind].slice(0, NODES);
  const others = kinds.vms[kind].slice(NODES);
  const [database] = others;
  if (database === undefined) throw new Error("There is no VM beside the Nodes");
  const world: World = {
    ...kinds.world,
    publicIps: [...(kinds.world.publicIps ?? []), used, pinned],
    loadBalancerRules: [
      toLoadBalancerRule({ ip: used, name: "shop", publicPort: 8443, vms: others }),
    ],
    portForwardings:
      network.vpcId === undefined
        ? [toPortForwarding({ ip: used, vmId: database.id, publicPort: 5432 })]
        : [],
    ...(network.services.includes("Firewall") && {
      firewallRules: [toFirewallRule({ ip: used, startPort: 8000, endPort: 8999 })],
    }),
  };
  return { world, nodes: vms.map(toNode), vms, networkId: network.id, pinned };
}

/** A Node as it is once it was initialised. */
function toNode({ id, name, nics }: Vm): ObjectInput {
  return {
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
    spec: { providerID: `external-cloudstack://${id}` },
    status: {
      addresses: [{ type: "InternalIP", address: nics[0]?.ipAddress ?? "" }],
      conditions: [{ type: "Ready", status: "True" }],
      nodeInfo: { systemUUID: id },
    },
  };
}

/** Replaces UUIDs, and the names of load balancers that are made of them: every run has other ones. */
export function withoutIds(value: object): object {
  const text = JSON.stringify(value)
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "UUID")
    .replaceAll(/\ba[\da-f]{31}\b/g, "NAME");
  const plain: object = JSON.parse(text);
  return plain;
}
