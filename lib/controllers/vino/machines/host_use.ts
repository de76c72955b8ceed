/**
 * What uses the BareMetalHost of a machine. Reads only memory.
 * @module
 */
import { hasLostLabel } from "../hosts/host_facts.ts";
import type { BareMetalHosts } from "../hosts/publish/host_publisher.ts";
import { toHostName } from "../hosts/names.ts";
import type { Vino } from "../resource/vino.ts";

/**
 * Finds what uses the host of a machine. A host that names the machine counts also if a person took the Vino's label
 * from it.
 *
 * @returns The end of a sentence, such as `is used by Metal3Machine "a"`; `undefined` if nothing does
 */
export function findHostUse(
  hosts: Pick<BareMetalHosts, "find">,
  vino: Vino,
  { role, index }: { readonly role: string; readonly index: number },
): string | undefined {
  const { name, namespace = "", uid = "" } = vino.metadata;
  const host = hosts.find(namespace, toHostName({ vino: name, role, index }));
  if (host === undefined) return undefined;
  return host.vinoUid === uid || hasLostLabel(host, uid) ? host.use : undefined;
}
