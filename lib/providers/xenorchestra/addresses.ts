/**
 * Chooses the addresses of a VM from those that the guest tools report.
 * @module
 */
import { chooseAddresses, toInstanceAddresses, unique } from "../../cloud/addresses.ts";
import type { InstanceAddresses } from "../../cloud/instance.ts";
import { type Cidr, type IpAddress, isHostAddress, isInCidr, parseIp } from "../../core/net/ip.ts";

/** Settings for the choice of addresses. */
export interface AddressSettings {
  /** Addresses that no Node gets, such as virtual IPs. */
  readonly exclude: readonly Cidr[];
  /** Addresses that are external although they are not routable on the Internet. */
  readonly externalCidrs: readonly Cidr[];
  /** Publishes only the VM's main address as ExternalIP, even a private one, as the Go controller does. */
  readonly mainIpAsExternal: boolean;
}

/** What Xen Orchestra reports about a VM's addresses. */
interface AddressSource {
  /** By `<VIF device>/ipv4/<n>` or `<VIF device>/ipv6/<n>`. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly mainIpAddress?: string | undefined;
  /** VIF devices whose addresses count; absent: all. */
  readonly devices?: ReadonlySet<number> | undefined;
}

interface Found extends IpAddress {
  readonly device: number;
  readonly index: number;
}

/**
 * Chooses a VM's addresses. docs/explanation/addresses.md has a table of the results.
 *
 * ExternalIP: addresses that are globally routable or in `externalCidrs`. InternalIP: the first address of each family
 * that is not external. If a family has none, its first routable address becomes InternalIP instead of ExternalIP. With
 * `--node-ip`, that address stays ExternalIP ({@linkcode Instance.addressesWithNodeIp}). Link-local, loopback,
 * multicast and excluded addresses never count. A Node that has another reported address as InternalIP may keep it
 * ({@linkcode InstanceAddresses.alternatives}).
 *
 * @returns InternalIPs first (IPv4, then IPv6), then ExternalIPs by device, family and number; without duplicates
 */
export function toAddresses(source: AddressSource, settings: AddressSettings): InstanceAddresses {
  const chosen = chooseAddresses(listFound(source, settings), ({ text }) =>
    settings.externalCidrs.some((cidr) => isInCidr(text, cidr)),
  );
  return settings.mainIpAsExternal
    ? toInstanceAddresses(chosen, unique(listUsable(source.mainIpAddress ?? "", settings)))
    : toInstanceAddresses(chosen);
}

/** Lists usable addresses in numeric order of device, family and number. */
function listFound(
  { addresses, devices }: AddressSource,
  { exclude }: Pick<AddressSettings, "exclude">,
): Found[] {
  const found: Found[] = [];
  for (const [key, value] of Object.entries(addresses)) {
    // Old guest tools without IPv6 wrote `<device>/ip`.
    const [, device, index] = /^(\d+)\/ip(?:v[46]\/(\d+))?$/.exec(key) ?? [];
    if (device === undefined || (devices && !devices.has(Number(device)))) continue;
    for (const ip of listUsable(value, { exclude })) {
      found.push({ device: Number(device), index: Number(index ?? 0), ...ip });
    }
  }
  // Equal addresses keep their order in the text, because sorting is stable.
  return found.sort((a, b) => a.device - b.device || a.family - b.family || a.index - b.index);
}

/** Splits the text, because old guest tools put several addresses into one. */
function listUsable(text: string, { exclude }: Pick<AddressSettings, "exclude">): IpAddress[] {
  return text
    .split(/[\s,]+/)
    .flatMap((part) => parseIp(part) ?? [])
    .filter((ip) => isHostAddress(ip.text) && !exclude.some((cidr) => isInCidr(ip.text, cidr)));
}
