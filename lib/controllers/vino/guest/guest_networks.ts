/**
 * What the guest of a machine must set up, from the networks of its Vino and the addresses that it has. Pure.
 * @module
 */
import { formatCidr, parseCidr, parseIp, parseMaskedCidr } from "../../../core/net/ip.ts";
import type { InterfaceAddresses } from "../addresses/ipam.ts";
import type { VinoInterface, VinoNetwork, VinoRoute } from "../resource/vino.ts";
import type { GuestInterface, GuestRoute } from "./types.ts";

/** What is known of a machine. */
interface GuestInput {
  /** The networks of its Vino. */
  readonly networks: readonly VinoNetwork[];
  /** The interfaces of its role. */
  readonly interfaces: readonly VinoInterface[];
  /** What its interfaces have. */
  readonly addresses: readonly InterfaceAddresses[];
}

/** The interfaces of a guest, in the order of the addresses. */
export function toGuestInterfaces({
  networks,
  interfaces,
  addresses,
}: GuestInput): GuestInterface[] {
  const byName = new Map(networks.map((network) => [network.name, network]));
  const mtus = new Map(interfaces.map(({ name, mtu }) => [name, mtu]));
  return addresses.map(({ name, network, mac, ip, prefixLength }) => {
    const { dns_servers: servers = [], routes = [], subnet = "" } = byName.get(network) ?? {};
    const mtu = mtus.get(name);
    const isStatic = ip !== undefined && prefixLength !== undefined;
    return {
      name,
      network,
      mac,
      ...(mtu !== undefined && { mtu }),
      addresses: isStatic ? [{ ip, prefixLength }] : [],
      ...(!isStatic && parseCidr(subnet)?.family === 6 && { dhcp: 6 as const }),
      routes: routes.flatMap(toRoute),
      dnsServers: servers.flatMap((server) => parseIp(server)?.text ?? []),
    };
  });
}

/** Without routes that guests do not know: here is no bridge of a host, which old manifests name as the gateway. */
function toRoute({ network, netmask, gateway }: VinoRoute): GuestRoute[] {
  const [block, via] = [parseMaskedCidr(network, netmask), parseIp(gateway)];
  const isRoute = block !== undefined && via !== undefined && block.family === via.family;
  return isRoute ? [{ to: formatCidr(block), via: via.text }] : [];
}
