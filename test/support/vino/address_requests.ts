/**
 * Vinos that need addresses, for tests.
 * @module
 */
import type { AddressRequest } from "../../../lib/controllers/vino/addresses/ipam.ts";
import type { PoolFacts } from "../../../lib/controllers/vino/addresses/pools/pool_set.ts";
import { toSeenMacs } from "../../../lib/controllers/vino/addresses/macs.ts";
import type { VinoNetwork } from "../../../lib/controllers/vino/resource/vino.ts";

/** A network with fifteen static addresses, as the sample of the original operator has it. */
export const MANAGEMENT: VinoNetwork = {
  name: "management",
  subnet: "192.168.2.0/20",
  staticAllocationStart: "192.168.2.10",
  staticAllocationStop: "192.168.2.24",
  macPrefix: "52:54:00:06:00:00",
};

/** A network with as many static addresses as a subnet of IPv6 has. */
export const STORAGE: VinoNetwork = {
  name: "storage",
  subnet: "2001:db8:0:1::/64",
  staticAllocationStart: "2001:db8:0:1::",
  staticAllocationStop: "2001:db8:0:1:ffff:ffff:ffff:ffff",
};

/** A network whose addresses come from a DHCP server. */
export const PXE: VinoNetwork = { name: "pxe" };

/** Names of machines of the role `worker` of {@linkcode toRequest}. */
export function toNames(count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, at) => `vino-1b4e28ba-worker-${first + at}`);
}

/** The Vino `metal/tenant` whose machines have one interface on each of the networks. */
export function toRequest(
  networks: readonly VinoNetwork[],
  machines: readonly string[],
): AddressRequest {
  const interfaces = networks.map(({ name }, at) => ({ name: `eth${at}`, network: name }));
  const owner = { namespace: "metal", name: "tenant", uid: "1b4e28ba-2fa1-11d2-883f-0016d3cca427" };
  return { owner, networks, machines: machines.map((name) => ({ name, interfaces })) };
}

/** Facts in which only this Vino exists, and the cloud shows no MAC address. */
export function toFacts(
  { owner, networks }: AddressRequest,
  facts: Partial<PoolFacts> = {},
): PoolFacts {
  const vino = `${owner.namespace}/${owner.name}`;
  const all = networks.map((network) => ({ vino, network }));
  return { pools: new Map(), networks: all, seen: toSeenMacs([]), ...facts };
}
