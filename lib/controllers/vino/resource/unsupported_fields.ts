/**
 * Fields that have no effect: of old manifests, what only the original operator with libvirt could use; and labels that
 * only Landfall sets.
 * @module
 */
import { parseCidr } from "../../../core/net/ip.ts";
import { isReservedForLandfall } from "../hosts/reserved_labels.ts";
import {
  BRIDGE_GATEWAY,
  type VinoInterface,
  type VinoNetwork,
  type VinoNode,
  type VinoSpec,
} from "./vino.ts";

const OF_SPEC = [
  "nodeSelector",
  "configuration",
  "daemonSetOptions",
  "pxeBootImageHost",
  "pxeBootImageHostPort",
] as const satisfies readonly (keyof VinoSpec)[];
const OF_NETWORK = [
  "dhcpAllocationStart",
  "dhcpAllocationStop",
  "instanceSubnetBitStep",
  "physicalInterface",
  "libvirtTemplate",
  "bridgeName",
] as const satisfies readonly (keyof VinoNetwork)[];
const OF_NODE = [
  "networkDataTemplate",
  "enableVNC",
  "libvirtTemplate",
  "diskDrives",
] as const satisfies readonly (keyof VinoNode)[];
/** Every interface is on a bridge, so this kind is what machines get. */
const BRIDGE = "bridge";

/**
 * Lists the fields of a spec that have no effect, in the order of the spec: `spec.networks[0].bridgeName`.
 *
 * @param spec A right one
 */
export function listUnsupportedFields(spec: VinoSpec): string[] {
  const { networks = [], nodes = [], nodeLabelKeysToCopy: keys = [] } = spec;
  return [
    ...listSet(spec, OF_SPEC, "spec"),
    ...keys.flatMap((key, at) =>
      isReservedForLandfall(key) ? [`spec.nodeLabelKeysToCopy[${at}]`] : [],
    ),
    ...networks.flatMap((one, at) => listOfNetwork(one, `spec.networks[${at}]`)),
    ...nodes.flatMap((one, at) => listOfNode(one, `spec.nodes[${at}]`)),
  ];
}

function listOfNetwork(network: VinoNetwork, path: string): string[] {
  const { type, subnet, routes = [] } = network;
  const family = subnet === undefined ? undefined : parseCidr(subnet)?.family;
  return [
    // The kind of addresses is that of the subnet.
    ...(type === undefined || type === `ipv${family}` ? [] : [`${path}.type`]),
    ...listSet(network, OF_NETWORK, path),
    ...routes.flatMap(({ gateway }, at) =>
      gateway === BRIDGE_GATEWAY ? [`${path}.routes[${at}]`] : [],
    ),
  ];
}

function listOfNode(node: VinoNode, path: string): string[] {
  const { networkInterfaces = [], bmhLabels = {} } = node;
  const labels = Object.keys(bmhLabels).filter(isReservedForLandfall);
  return [
    ...labels.map((key) => `${path}.bmhLabels[${key}]`),
    ...networkInterfaces.flatMap((one, at) =>
      listOfInterface(one, `${path}.networkInterfaces[${at}]`),
    ),
    ...listSet(node, OF_NODE, path),
  ];
}

function listOfInterface({ type = BRIDGE, options }: VinoInterface, path: string): string[] {
  return [
    ...(type === BRIDGE ? [] : [`${path}.type`]),
    ...(options === undefined ? [] : [`${path}.options`]),
  ];
}

function listSet<T extends object>(
  value: T,
  keys: readonly (keyof T & string)[],
  path: string,
): string[] {
  return keys.filter((key) => value[key] !== undefined).map((key) => `${path}.${key}`);
}
