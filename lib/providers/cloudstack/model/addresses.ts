/**
 * Addresses of a VM, from its network interfaces.
 * @module
 */
import { chooseAddresses, NO_ADDRESSES, toInstanceAddresses } from "../../../cloud/addresses.ts";
import type { InstanceAddresses } from "../../../cloud/instance.ts";
import { isHostAddress, isInCidr, parseIp, type IpAddress } from "../../../core/net/ip.ts";
import { quote } from "../../../core/text/printable.ts";
import type { CloudStackSettings } from "../settings/config.ts";
import type { Nic, Vm } from "../wire/schema.ts";

/** What helps after {@linkcode toNoNetwork}. */
export const NETWORK_ADVICE =
  "correct addresses.network ([Addresses] network): until then no VM has usable addresses, and Nodes keep theirs";

/** Says that no VM has the network of the settings. */
export function toNoNetwork(network: string): string {
  return `no VM has a network with the name or ID ${quote(network)}`;
}

/** How addresses are chosen. */
type AddressSettings = CloudStackSettings["addresses"];

/**
 * Chooses a VM's addresses by the rules of docs/explanation/addresses.md: the default interface comes first. The others
 * follow by their place in the VM, because the server lists them in no order. The address of a static NAT is
 * ExternalIP, even if it is private.
 *
 * Without a usable address of an interface, because the settings leave out all or CloudStack shows none, it returns no
 * address at all: the Node keeps those that it has. A static NAT alone would take away its InternalIP.
 */
export function toAddresses(
  vm: Pick<Vm, "nic" | "publicip">,
  settings: AddressSettings,
): InstanceAddresses {
  const nics = (vm.nic ?? []).filter((nic) => isWanted(nic, settings));
  const inOrder = nics.toSorted((a, b) => toRank(a) - toRank(b));
  const natted = listUsable([vm.publicip], settings);
  const found = listUsable(
    inOrder.flatMap(({ ipaddress, ip6address }) => [ipaddress, ip6address]),
    settings,
  );
  if (found.length === 0) return NO_ADDRESSES;
  return toInstanceAddresses(
    chooseAddresses(
      [...found, ...natted],
      ({ text }) =>
        natted.some((ip) => ip.text === text) ||
        settings.externalCidrs.some((cidr) => isInCidr(text, cidr)),
    ),
  );
}

/**
 * Whether the settings name a network in which no VM has an interface.
 *
 * @returns `false` if they name none, and for no VMs
 */
export function lacksNetwork(
  vms: readonly Pick<Vm, "nic">[],
  settings: Pick<AddressSettings, "network">,
): boolean {
  const hasOne = ({ nic }: Pick<Vm, "nic">): boolean =>
    (nic ?? []).some((one) => isWanted(one, settings));
  return settings.network !== undefined && vms.length > 0 && !vms.some(hasOne);
}

/** Where an interface comes in the order: the default one first, then by its place in the VM. */
export function toRank({ isdefault, deviceid }: Nic): number {
  if (isdefault === true) return -1;
  const place = Number(deviceid ?? Number.NaN);
  return Number.isSafeInteger(place) && place >= 0 ? place : Number.MAX_SAFE_INTEGER;
}

function isWanted(
  { networkid, networkname }: Nic,
  { network }: Pick<AddressSettings, "network">,
): boolean {
  return network === undefined || network === networkname || network.toLowerCase() === networkid;
}

function listUsable(
  texts: readonly (string | null | undefined)[],
  { exclude }: AddressSettings,
): IpAddress[] {
  return texts
    .flatMap((text) => parseIp(text ?? "") ?? [])
    .filter((ip) => isHostAddress(ip.text) && !exclude.some((cidr) => isInCidr(ip.text, cidr)));
}
