/**
 * Addresses of a VM, from what the guest tools report.
 * @module
 */
import {
  chooseAddresses,
  listAddresses,
  toInstanceAddresses,
  unique,
} from "../../../cloud/addresses.ts";
import type { Instance } from "../../../cloud/provider.ts";
import {
  isHostAddress,
  isInCidr,
  parseIp,
  type Cidr,
  type IpAddress,
} from "../../../core/net/ip.ts";

/** How addresses are chosen. */
export interface AddressSettings {
  /** Addresses that never go on a Node, such as virtual IPs. */
  readonly exclude: readonly Cidr[];
  /** Addresses that are external although no packet on the Internet may carry them. */
  readonly externalCidrs: readonly Cidr[];
  /** Publishes the VM's main address of any kind, and no other, as ExternalIP, as the Go controller does. */
  readonly mainIpAsExternal: boolean;
}

/** What Xen Orchestra says of a VM's addresses. */
export interface AddressSource {
  /** By `<VIF device>/ipv4/<n>` or `<VIF device>/ipv6/<n>`. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly mainIpAddress?: string | undefined;
  /** VIF devices to look at; all when absent. */
  readonly devices?: ReadonlySet<number> | undefined;
}

interface Found extends IpAddress {
  readonly device: number;
  readonly index: number;
}

/**
 * Chooses a VM's addresses. docs/explanation/addresses.md has a table of what comes out.
 *
 * ExternalIP: addresses that are globally routable or in `externalCidrs`. InternalIP: in each family the first that is
 * not external. A family without one gets its first routable address as InternalIP instead of ExternalIP. If the
 * kubelet names its node IPs, that address stays ExternalIP ({@linkcode Instance.besideNodeIps}). Link-local, loopback,
 * multicast and excluded addresses are never used.
 *
 * @returns Internal ones first (IPv4, then IPv6), then external ones by device, family and number; no type and address
 * twice
 */
export function toAddresses(
  source: AddressSource,
  settings: AddressSettings,
): Pick<Instance, "addresses" | "besideNodeIps"> {
  const chosen = chooseAddresses(listFound(source, settings), ({ text }) =>
    settings.externalCidrs.some((cidr) => isInCidr(text, cidr)),
  );
  if (!settings.mainIpAsExternal) return toInstanceAddresses(chosen);
  const main = unique(listUsable(source.mainIpAddress ?? "", settings));
  return {
    addresses: listAddresses(chosen.internal, main),
    besideNodeIps: { externalIps: main, repeatsNodeIps: true },
  };
}

/** Usable addresses in numeric order of device, family and number. */
function listFound(
  { addresses, devices }: AddressSource,
  { exclude }: Pick<AddressSettings, "exclude">,
): Found[] {
  const found: Found[] = [];
  for (const [key, value] of Object.entries(addresses)) {
    // `<device>/ip` is what guest tools wrote before there was IPv6.
    const [, device, index] = /^(\d+)\/ip(?:v[46]\/(\d+))?$/.exec(key) ?? [];
    if (device === undefined || (devices && !devices.has(Number(device)))) continue;
    for (const ip of listUsable(value, { exclude })) {
      found.push({ device: Number(device), index: Number(index ?? 0), ...ip });
    }
  }
  // Equal ranks keep their order in the text: sorting is stable.
  return found.sort((a, b) => a.device - b.device || a.family - b.family || a.index - b.index);
}

/** Old guest tools put several addresses into one text. */
function listUsable(text: string, { exclude }: Pick<AddressSettings, "exclude">): IpAddress[] {
  return text
    .split(/[\s,]+/)
    .flatMap((part) => parseIp(part) ?? [])
    .filter((ip) => isHostAddress(ip.text) && !exclude.some((cidr) => isInCidr(ip.text, cidr)));
}
