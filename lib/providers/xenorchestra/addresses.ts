/**
 * Addresses of a VM, from what the guest tools report.
 * @module
 */
import type { InstanceAddress } from "../../cloud/provider.ts";
import {
  isGloballyRoutable,
  isHostAddress,
  isInCidr,
  parseIp,
  type Cidr,
  type IpAddress,
} from "../../core/ip.ts";

/** How addresses are chosen. */
export interface AddressSettings {
  /** Addresses that never go on a Node, such as virtual IPs. */
  readonly exclude: readonly Cidr[];
  /** Addresses that are external although no packet on the Internet may carry them. */
  readonly externalCidrs: readonly Cidr[];
  /** Publishes the VM's main address as ExternalIP, whatever it is, as the Go controller does. */
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

interface Found {
  readonly device: number;
  readonly index: number;
  readonly family: 4 | 6;
  readonly text: string;
}

/**
 * Chooses a VM's addresses.
 *
 * InternalIP: the first IPv4 and the first IPv6 address of the lowest VIF device that has any to offer.
 * ExternalIP: those that are globally routable or in `externalCidrs`. Never both, never link-local,
 * loopback, multicast or excluded ones. An address that is external by `externalCidrs` is not internal;
 * one that is merely routable is, when it is the first of its device.
 *
 * @returns Internal ones first (IPv4, then IPv6), then external ones by device, family and number; without duplicates
 */
export function toAddresses(source: AddressSource, settings: AddressSettings): InstanceAddress[] {
  const found = listFound(source, settings);
  const isDeclaredExternal = ({ text }: Found): boolean =>
    settings.externalCidrs.some((cidr) => isInCidr(text, cidr));
  const inner = found.filter((one) => !isDeclaredExternal(one));
  const lowest = inner.filter(({ device }) => device === inner[0]?.device);
  const internal = [4, 6].flatMap(
    (family) => lowest.find((one) => one.family === family)?.text ?? [],
  );
  const external = settings.mainIpAsExternal
    ? listUsable(source.mainIpAddress ?? "", settings).map(({ text }) => text)
    : found
        .filter((one) => isDeclaredExternal(one) || isGloballyRoutable(one.text))
        .map(({ text }) => text)
        .filter((text) => !internal.includes(text));
  return [
    ...internal.map((address): InstanceAddress => ({ type: "InternalIP", address })),
    ...unique(external).map((address): InstanceAddress => ({ type: "ExternalIP", address })),
  ];
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

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
