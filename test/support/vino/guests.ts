/**
 * Guests with any networks, for properties, and readers of what is written for them.
 * @module
 */
import fc from "fast-check";
import { formatCidr, parseCidr, parseIp, parseMaskedCidr } from "../../../lib/core/net/ip.ts";
import type { GuestAddress, GuestInterface } from "../../../lib/controllers/vino/guest/types.ts";

/** What a guest sets up on one interface, in one form for both formats. */
export interface SeenInterface {
  readonly mac: string;
  readonly mtu?: number;
  readonly dhcp: readonly number[];
  readonly addresses: readonly string[];
  readonly routes: readonly string[];
  readonly dns: readonly string[];
}

const FORMS = { 4: fc.ipV4(), 6: fc.ipV6() } as const;

function address(family: 4 | 6): fc.Arbitrary<string> {
  return FORMS[family]
    .map((text) => parseIp(text)?.text ?? "")
    .filter((text) => parseIp(text)?.family === family);
}

function staticAddress(family: 4 | 6): fc.Arbitrary<GuestAddress> {
  return fc.record({
    ip: address(family),
    prefixLength: fc.integer({ min: 1, max: family === 4 ? 32 : 128 }),
  });
}

const route = fc.constantFrom(4 as const, 6 as const).chain((family) =>
  fc.tuple(staticAddress(family), fc.boolean(), address(family)).map(([to, isDefault, via]) => {
    const block = parseCidr(`${to.ip}/${isDefault ? 0 : to.prefixLength}`);
    return { to: block ? formatCidr(block) : "", via };
  }),
);

/** An interface without a MAC address and a name. */
const part = fc.record({
  network: fc.constantFrom("oam", "pxe", "storage"),
  mtu: fc.option(fc.integer({ min: 68, max: 9000 }), { nil: undefined }),
  addresses: fc.oneof(
    fc.constant([]),
    fc.tuple(staticAddress(4)),
    fc.tuple(staticAddress(6)),
    fc.tuple(staticAddress(4), staticAddress(6)),
  ),
  dhcp: fc.constantFrom(undefined, 4 as const, 6 as const),
  routes: fc.array(route, { maxLength: 3 }),
  dnsServers: fc.uniqueArray(fc.oneof(address(4), address(6)), { maxLength: 3 }),
});

/** Guests with up to four interfaces. */
export const guests: fc.Arbitrary<readonly GuestInterface[]> = fc
  .array(part, { maxLength: 4 })
  .map((parts) =>
    parts.map(({ mtu, dhcp, ...one }, at) => ({
      ...one,
      name: `eth${at}`,
      mac: `02:00:00:00:00:0${at}`,
      ...(mtu !== undefined && { mtu }),
      ...(dhcp !== undefined && { dhcp }),
    })),
  );

/** Network data of OpenStack, as its readers see it. */
interface NetworkData {
  readonly links: readonly { id: string; ethernet_mac_address: string; mtu?: number }[];
  readonly networks: readonly {
    readonly id: string;
    readonly type: string;
    readonly link: string;
    readonly ip_address?: string;
    readonly netmask?: string;
    readonly routes: readonly { network: string; netmask: string; gateway: string }[];
    readonly services: readonly { type: string; address: string }[];
  }[];
  readonly services: readonly { type: string; address: string }[];
}

/** Reads network data. */
export function seeNetworkData(text: string): SeenInterface[] {
  const { links, networks }: NetworkData = JSON.parse(text);
  return links.map(({ id, ethernet_mac_address: mac, mtu }) => {
    const own = networks.filter(({ link }) => link === id);
    const toBlock = (start: string, mask: string): string => {
      const block = parseMaskedCidr(start, mask);
      return block ? formatCidr(block) : "none";
    };
    return {
      mac,
      ...(mtu !== undefined && { mtu }),
      dhcp: own.flatMap(({ type }) => /^ipv([46])_dhcp$/.exec(type)?.[1] ?? []).map(Number),
      addresses: own.flatMap(({ ip_address: ip = "", netmask = "" }) =>
        ip === "" ? [] : [`${ip}/${toBlock(ip, netmask).split("/")[1]}`],
      ),
      routes: own
        .flatMap(({ routes }) => routes)
        .map(({ network, netmask, gateway }) => `${toBlock(network, netmask)} via ${gateway}`)
        .toSorted(),
      dns: own.flatMap(({ services }) => services.map((one) => one.address)),
    };
  });
}

/** The network configuration of cloud-init, as its readers see it. */
interface NetworkConfig {
  readonly version: number;
  readonly ethernets: Readonly<
    Record<
      string,
      {
        readonly match: { readonly macaddress: string };
        readonly mtu?: number;
        readonly dhcp4: boolean;
        readonly dhcp6: boolean;
        readonly addresses?: readonly string[];
        readonly gateway6?: string;
        readonly routes?: readonly { to: string; via: string }[];
        readonly nameservers?: { readonly addresses: readonly string[] };
      }
    >
  >;
}

/** Reads a network configuration. */
export function seeNetworkConfig(text: string): SeenInterface[] {
  const { ethernets }: NetworkConfig = JSON.parse(text);
  return Object.values(ethernets).map(({ match, mtu, dhcp4, dhcp6, ...one }) => ({
    mac: match.macaddress,
    ...(mtu !== undefined && { mtu }),
    dhcp: [...(dhcp4 ? [4] : []), ...(dhcp6 ? [6] : [])],
    addresses: one.addresses ?? [],
    routes: [
      ...(one.gateway6 === undefined ? [] : [`::/0 via ${one.gateway6}`]),
      ...(one.routes ?? []).map(({ to, via }) => `${to} via ${via}`),
    ].toSorted(),
    dns: one.nameservers?.addresses ?? [],
  }));
}
