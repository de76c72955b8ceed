/**
 * What uses the BareMetalHost of a machine. Reads only memory.
 * @module
 */
import { hasLostLabel, type HostFacts } from "../hosts/host_facts.ts";
import type { BareMetalHosts } from "../hosts/publish/host_publisher.ts";
import { toHostName } from "../hosts/names.ts";
import type { Vino } from "../resource/vino.ts";

/**
 * Finds what uses the host of a machine. A host that names the machine counts also if a person took the Vino's label
 * from it, or changed it.
 *
 * @returns The end of a sentence, such as `is used by Metal3Machine "a"`; `undefined` if nothing does
 */
export function findHostUse(
  hosts: Pick<BareMetalHosts, "find">,
  vino: Vino,
  { role, index }: { readonly role: string; readonly index: number },
): string | undefined {
  const host = findHost(hosts, vino, { role, index });
  return host !== undefined && isOurs(host, vino) ? host.use : undefined;
}

/** The host that has the name which the host of a machine would have, and that is not this Vino's. */
export function findForeignHost(
  hosts: Pick<BareMetalHosts, "find">,
  vino: Vino,
  machine: { readonly role: string; readonly index: number },
): HostFacts | undefined {
  const host = findHost(hosts, vino, machine);
  return host === undefined || isOurs(host, vino) ? undefined : host;
}

function findHost(
  hosts: Pick<BareMetalHosts, "find">,
  { metadata: { name, namespace = "" } }: Vino,
  { role, index }: { readonly role: string; readonly index: number },
): HostFacts | undefined {
  return hosts.find(namespace, toHostName({ vino: name, role, index }));
}

function isOurs(host: HostFacts, { metadata: { uid = "" } }: Vino): boolean {
  return host.vinoUid === uid || hasLostLabel(host, uid);
}
