/**
 * The servers behind a load balancer.
 * @module
 */
import { parseIp } from "../../../../core/net/ip.ts";
import type { Role } from "../../resource/sip_cluster.ts";
import type { Machine } from "../types.ts";

/** A host behind a load balancer. */
export interface Server {
  /** Only letters, digits, `-`, `_` and `.`, and different from those of all other servers. */
  readonly name: string;
  /** An IPv4 or IPv6 address in canonical form. */
  readonly address: string;
}

/**
 * Lists the hosts of a role with an address in a network, by name. Standby hosts are servers, too: the labels by which
 * Cluster API finds hosts do not tell them apart, so a Node may run on any of them. A host on which nothing listens
 * fails its health check and gets no connection.
 *
 * @param network ID of the network in the hosts' network data. Without it no host has an address
 */
export function listServers(
  machines: readonly Machine[],
  role: Role,
  network: string | undefined,
): Server[] {
  const found = machines.flatMap((machine) => {
    const ip = machine.role === role && network && parseIp(machine.addresses.get(network) ?? "");
    return ip ? [{ machine, address: ip.text }] : [];
  });
  const counts = new Map<string, number>();
  for (const { machine } of found) counts.set(machine.name, (counts.get(machine.name) ?? 0) + 1);
  return found
    .map(({ machine, address }) => {
      const { namespace, name } = machine;
      // No name of an object in Kubernetes has an underscore.
      const unique = counts.get(name) === 1 ? name : `${namespace}_${name}`;
      return { name: unique.replaceAll(/[^-\w.]/g, "-"), address };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
