/**
 * Gateways and name servers that cannot work. Pure.
 * @module
 */
import {
  type Cidr,
  formatCidr,
  isInCidr,
  overlaps,
  parseCidr,
  parseIp,
  parseMaskedCidr,
} from "../../../core/net/ip.ts";
import { BRIDGE_GATEWAY, type VinoNetwork, type VinoNode, type VinoSpec } from "./vino.ts";

/** Addresses that no host has: unspecified, multicast, and the broadcast address of every network. */
const OF_NO_HOST = toBlocks("0.0.0.0/8", "224.0.0.0/4", "255.255.255.255", "::", "ff00::/8");
/** Routers of IPv6 often have no other address than one of these. */
const LINK_LOCAL = toBlocks("169.254.0.0/16", "fe80::/10");
/** Smaller subnets have no broadcast address, and mostly a gateway outside. */
const SIZE_MIN = 4n;

/** Whether a host may have an address. A text that is none has its own problem. */
export function mayBeHost(address: string): boolean {
  return !OF_NO_HOST.some((block) => isInCidr(address, block));
}

/**
 * Lists gateways of a network that its machines cannot reach. A network whose machines get addresses from a DHCP server
 * may have any.
 */
export function listGatewayProblems({
  subnet = "",
  staticAllocationStart: start,
  routes = [],
}: VinoNetwork): string[] {
  const block = subnet.includes("/") ? parseCidr(subnet) : undefined;
  if (block === undefined || start === undefined) return [];
  return routes.flatMap(({ gateway }, at) => {
    const address = parseCidr(gateway);
    if (address === undefined || !mayBeHost(gateway) || address.family !== block.family) return [];
    const rule = findBrokenRule(address, block);
    return rule === undefined ? [] : [`routes[${at}].gateway must ${rule}, but is ${gateway}`];
  });
}

function findBrokenRule(address: Cidr, block: Cidr): string | undefined {
  const text = formatCidr(block);
  if (block.last - block.first + 1n < SIZE_MIN) return undefined;
  if (!overlaps(address, block)) {
    return LINK_LOCAL.some((one) => overlaps(one, address)) ? undefined : `be in ${text}`;
  }
  if (block.family === 6) return undefined;
  if (address.first === block.first) return `not be the address of the subnet ${text} itself`;
  if (address.first === block.last) return `not be the broadcast address of ${text}`;
  return undefined;
}

/** Lists roles whose machines would have several default routes of one family. */
export function listDoubleDefaults({ nodes = [], networks = [] }: VinoSpec): string[] {
  const byName = new Map(networks.map((network) => [network.name, network]));
  return nodes.flatMap((node) => {
    const all = listDefaults(node, byName);
    return ([4, 6] as const).flatMap((family) => {
      const found = all.filter((one) => one.family === family);
      if (found.length < 2) return [];
      const which = found.map(({ gateway, network }) => `${gateway} of network ${network}`);
      return [`role ${node.name} has ${which.join(" and ")} for IPv${family}`];
    });
  });
}

interface DefaultRoute {
  readonly family: 4 | 6;
  readonly gateway: string;
  readonly network: string;
}

function listDefaults(
  { networkInterfaces = [] }: VinoNode,
  networks: ReadonlyMap<string, VinoNetwork>,
): DefaultRoute[] {
  // Several interfaces on one network all have its one gateway.
  const names = new Set(networkInterfaces.map(({ network }) => network));
  return [...names].flatMap((network) => {
    const { routes = [] } = networks.get(network) ?? {};
    return routes.flatMap((route): DefaultRoute[] => {
      const { gateway } = route;
      const block = parseMaskedCidr(route.network, route.netmask);
      const isLeftOut = gateway === BRIDGE_GATEWAY || parseIp(gateway) === undefined;
      if (block === undefined || isLeftOut || !isAll(block)) return [];
      return [{ family: block.family, gateway, network }];
    });
  });
}

function isAll(block: Cidr): boolean {
  return formatCidr(block).endsWith("/0");
}

function toBlocks(...texts: readonly string[]): Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? []);
}
