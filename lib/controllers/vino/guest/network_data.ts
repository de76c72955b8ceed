/**
 * Network data in the form of OpenStack, as metal3 gives it to hosts. Pure.
 * @module
 */
import { formatNetmask, parseCidr, parseIp } from "../../../core/net/ip.ts";
import type { GuestAddress, GuestInterface, GuestRoute } from "./types.ts";

interface Link {
  readonly id: string;
  readonly type: "phy";
  readonly ethernet_mac_address: string;
  readonly mtu?: number;
}

interface Service {
  readonly type: "dns";
  readonly address: string;
}

interface Route {
  readonly network: string;
  readonly netmask: string;
  readonly gateway: string;
}

interface Network {
  readonly id: string;
  readonly type: "ipv4" | "ipv6" | "ipv4_dhcp" | "ipv6_dhcp";
  readonly link: string;
  readonly ip_address?: string;
  readonly netmask?: string;
  readonly routes: readonly Route[];
  readonly services: readonly Service[];
}

interface NetworkData {
  readonly links: readonly Link[];
  readonly networks: readonly Network[];
  readonly services: readonly Service[];
}

/**
 * Writes the network data of a machine. The ID of a network is its name in the Vino; if an interface has a second
 * address, or a second interface is on it, the name of the interface and a number follow.
 */
export function formatNetworkData(interfaces: readonly GuestInterface[]): string {
  const ids = new Set<string>();
  const data: NetworkData = {
    links: interfaces.map(({ name, mac, mtu }) => ({
      id: name,
      type: "phy",
      ethernet_mac_address: mac,
      ...(mtu !== undefined && { mtu }),
    })),
    networks: interfaces.flatMap((one) => toNetworks(one, ids)),
    services: toServices(interfaces.flatMap(({ dnsServers }) => dnsServers)),
  };
  return `${JSON.stringify(data, null, 2)}\n`;
}

function toNetworks(one: GuestInterface, ids: Set<string>): Network[] {
  const { name, network, addresses, dhcp = 4, routes, dnsServers } = one;
  const services = toServices(dnsServers);
  if (addresses.length === 0) {
    const type = dhcp === 6 ? "ipv6_dhcp" : "ipv4_dhcp";
    return [
      { id: toId(network, name, ids), type, link: name, routes: routes.map(toRoute), services },
    ];
  }
  return addresses.map((address, at) => ({
    id: toId(network, name, ids),
    link: name,
    ...toAddress(address),
    routes: routes.filter((route) => findAddress(route, addresses) === at).map(toRoute),
    // Once for each interface.
    services: at === 0 ? services : [],
  }));
}

/** Which address a route belongs to: the first one of its family, or the first one. */
function findAddress({ via }: GuestRoute, addresses: readonly GuestAddress[]): number {
  const family = parseIp(via)?.family;
  return Math.max(
    0,
    addresses.findIndex(({ ip }) => parseIp(ip)?.family === family),
  );
}

function toId(network: string, name: string, ids: Set<string>): string {
  let id = network;
  for (let number = 1; ids.has(id); number++)
    id = `${network}-${name}${number > 1 ? `-${number}` : ""}`;
  ids.add(id);
  return id;
}

function toAddress({
  ip,
  prefixLength,
}: GuestAddress): Pick<Network, "type" | "ip_address" | "netmask"> {
  const block = parseCidr(`${ip}/${prefixLength}`);
  return {
    type: block?.family === 6 ? "ipv6" : "ipv4",
    ip_address: ip,
    ...(block && { netmask: formatNetmask(block) }),
  };
}

function toRoute({ to, via }: GuestRoute): Route {
  const block = parseCidr(to);
  const [network = to] = to.split("/");
  return { network, netmask: block ? formatNetmask(block) : "", gateway: via };
}

function toServices(servers: readonly string[]): Service[] {
  return Array.from(new Set(servers), (address) => ({ type: "dns", address }));
}
