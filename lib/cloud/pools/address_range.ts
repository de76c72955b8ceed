/**
 * The addresses of a pool as an operator writes them: a CIDR, a range `first-last`, or one address.
 * @module
 */
import { type Cidr, hasOnlyHosts, parseCidr } from "../../core/net/ip.ts";

/** Addresses of a pool that follow each other. */
export interface AddressRange extends Cidr {
  /** It was written as a CIDR, and the addresses of the subnet that are not for hosts are left out. */
  readonly isSubnet?: boolean;
}

/** A range, or what is wrong with the text. */
type ParsedRange =
  | { readonly range: AddressRange; readonly problem?: undefined }
  | { readonly range?: undefined; readonly problem: string };

const FORMS =
  "must be a CIDR, a range or an address, for example 192.0.2.0/28, 192.0.2.10-192.0.2.20 or 2001:db8::/64";
const NOT_HOSTS =
  "holds addresses that no Service can have: loopback, link-local, multicast, unspecified or broadcast";

/** An IPv4 subnet of four addresses or more has a network and a broadcast address; an IPv6 one an anycast address. */
const SUBNET_SIZE_MIN = 4n;

/**
 * Reads addresses of a pool. A CIDR is a subnet: its first address, and the last one of an IPv4 subnet, are not for
 * hosts, so they are left out. A subnet of one or two addresses is used in whole, and so is a range.
 *
 * @returns The range, or what is wrong; that never repeats the text, which may be a secret on the wrong line
 */
export function parseAddressRange(text: string): ParsedRange {
  const parsed = text.includes("-") ? parseEnds(text) : parseSubnet(text);
  if (parsed.range === undefined || hasOnlyHosts(parsed.range)) return parsed;
  return { problem: NOT_HOSTS };
}

/** What an address is to a subnet that leaves it out; `undefined` if the range does not leave it out. */
export function findLeftOut(
  { family, first, last, isSubnet = false }: AddressRange,
  address: Cidr,
): "first" | "last" | undefined {
  if (!isSubnet || address.family !== family) return undefined;
  if (address.first === first - 1n) return "first";
  return family === 4 && address.first === last + 1n ? "last" : undefined;
}

function parseSubnet(text: string): ParsedRange {
  const cidr = parseCidr(text);
  if (cidr === undefined) return { problem: FORMS };
  const [address = ""] = text.split("/");
  if (parseCidr(address)?.first !== cidr.first) {
    return {
      problem: "must begin with the first address of the subnet; or write a range first-last",
    };
  }
  const { family, first, last } = cidr;
  if (last - first + 1n < SUBNET_SIZE_MIN) return { range: cidr };
  const hosts = { family, first: first + 1n, last: family === 4 ? last - 1n : last };
  return { range: { ...hosts, isSubnet: true } };
}

function parseEnds(text: string): ParsedRange {
  const [first, last, ...more] = text.split("-").map(parseAddress);
  if (first === undefined || last === undefined || more.length > 0) return { problem: FORMS };
  if (first.family !== last.family) {
    return { problem: "must have two addresses of the same family" };
  }
  if (first.first > last.first) return { problem: "must name the lower address first" };
  return { range: { family: first.family, first: first.first, last: last.first } };
}

function parseAddress(text: string): Cidr | undefined {
  return text.includes("/") ? undefined : parseCidr(text);
}
