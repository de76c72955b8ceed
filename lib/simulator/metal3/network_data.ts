/**
 * Network data of a host in the form of OpenStack, as metal3 passes it to the machine.
 * @module
 */

/** One network of a host. */
export interface HostNetwork {
  /** `oam-ipv4`. */
  readonly id: string;
  /** With or without a prefix length. Absent: the host asks a DHCP server. */
  readonly address?: string;
}

/** The text of the Secret's key, in JSON. Each network has a link of its own. */
export function formatNetworkData(networks: readonly HostNetwork[]): string {
  const toLink = (index: number): string => `eno${index + 1}`;
  return JSON.stringify({
    links: networks.map((_, index) => ({ id: toLink(index), type: "phy", mtu: 1500 })),
    networks: networks.map(({ id, address }, index) => ({
      id,
      type: toType(address),
      link: toLink(index),
      ...(address !== undefined && { ip_address: address }),
    })),
    services: [],
  });
}

function toType(address: string | undefined): string {
  if (address === undefined) return "ipv4_dhcp";
  return address.includes(":") ? "ipv6" : "ipv4";
}
