/**
 * The subnets of the networks of all Vinos, and what no machine may get in them. Pure.
 * @module
 */
import { type Cidr, formatCidr, formatIp, overlaps, parseCidr } from "../../../core/net/ip.ts";
import type { AddressRange } from "../resource/ip_pool.ts";
import type { VinoNetwork } from "../resource/vino.ts";

/** A network and its Vino. */
export interface OwnedNetwork {
  /** Key of the Vino: `namespace/name`. */
  readonly vino: string;
  readonly network: VinoNetwork;
}

/** A subnet in which machines get addresses. */
export interface Subnet {
  readonly block: Cidr;
  /** In canonical form. */
  readonly text: string;
}

/** Addresses that follow each other. */
export interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

/** From these on, a subnet has addresses that are for no machine. */
const SIZE_MIN = 4n;

/** Reads a subnet. @returns `undefined` if the text is none */
export function parseSubnet(text: string): Subnet | undefined {
  const block = text.includes("/") ? parseCidr(text) : undefined;
  return block && { block, text: formatCidr(block) };
}

/** The subnet of a network. @returns `undefined` if machines get no addresses in it */
export function findSubnet(network: VinoNetwork): Subnet | undefined {
  return findSpan(network) && parseSubnet(network.subnet ?? "");
}

/** The addresses that machines get in a network. @returns `undefined` if they get none */
export function findSpan(network: VinoNetwork): Span | undefined {
  const { staticAllocationStart: start, staticAllocationStop: stop } = network;
  return start === undefined || stop === undefined ? undefined : toSpan({ start, stop });
}

/** Reads a range. @returns `undefined` if an end is no address */
export function toSpan({ start, stop }: AddressRange): Span | undefined {
  const [first, last] = [parseCidr(start)?.first, parseCidr(stop)?.last];
  return first === undefined || last === undefined ? undefined : { first, last };
}

/** Writes a range. */
export function toRange(family: 4 | 6, { first, last }: Span): AddressRange {
  return { start: formatIp(family, first), stop: formatIp(family, last) };
}

/** How many bits of addresses the subnet has: 24 of `192.0.2.0/24`. */
export function toPrefixLength({ text }: Subnet): number {
  return Number(text.slice(text.indexOf("/") + 1));
}

/** Joins spans that overlap or follow each other; the lowest is the first. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.toSorted((one, other) => (one.first < other.first ? -1 : 1))) {
    const before = joined.at(-1);
    if (before === undefined || span.first > before.last + 1n) joined.push(span);
    else if (span.last > before.last)
      joined[joined.length - 1] = { first: before.first, last: span.last };
  }
  return joined;
}

/** The spans of all networks with this subnet, joined. */
export function listSpans({ text }: Subnet, networks: readonly OwnedNetwork[]): Span[] {
  const own = networks.filter(({ network }) => findSubnet(network)?.text === text);
  return joinSpans(own.flatMap(({ network }) => findSpan(network) ?? []));
}

/**
 * What no machine may get: the first and the last address of the subnet, and the gateways and name servers in it that
 * any network names. The first one of IPv6 is for routers, the last one is for machines. By address, with what it is.
 */
export function listReserved(
  { block, text }: Subnet,
  networks: readonly OwnedNetwork[],
): ReadonlyMap<bigint, string> {
  const reserved = new Map<bigint, string>();
  for (const { network } of networks) {
    if (parseSubnet(network.subnet ?? "")?.text !== text) continue;
    const { routes = [], dns_servers: servers = [] } = network;
    const named = [
      ...servers.map((address) => ({ address, what: "a name server" })),
      ...routes.map(({ gateway }) => ({ address: gateway, what: "a gateway" })),
    ];
    for (const { address, what } of named) {
      const at = parseCidr(address);
      if (at && overlaps(at, block)) reserved.set(at.first, what);
    }
  }
  if (block.last - block.first + 1n < SIZE_MIN) return reserved;
  reserved.set(block.first, "the address of the subnet");
  if (block.family === 4) reserved.set(block.last, "the broadcast address");
  return reserved;
}

/** A network with another subnet that has addresses in common with this one. */
export function findOverlap(
  { block, text }: Subnet,
  networks: readonly OwnedNetwork[],
): OwnedNetwork | undefined {
  return networks.find(({ network }) => {
    const other = findSubnet(network);
    return other !== undefined && other.text !== text && overlaps(other.block, block);
  });
}
