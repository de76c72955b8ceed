/**
 * IPPools: which addresses of a subnet machines have.
 * @module
 */
import type { Kind, KubeObject } from "../../../kube/kinds/resource.ts";
import { type Cidr, formatCidr, parseCidr } from "../../../core/net/ip.ts";

/** The first and the last address, both included. */
export interface AddressRange {
  readonly start: string;
  readonly stop: string;
}

/** A part of the subnet that has one owner. */
export interface AllocatedRange extends AddressRange {
  readonly allocatedTo: string;
}

/** An address that has an owner. */
export interface AllocatedIp {
  readonly ip: string;
  /** Six pairs of hexadecimal digits with colons. */
  readonly mac: string;
  /** The same owner gets the same address again. */
  readonly allocatedTo: string;
}

/** How many addresses of a pool can have owners: an object has a limited size. */
export const ALLOCATED_MAX = 8192;
/** How many ranges a pool can have. */
export const RANGES_MAX = 64;

/** The addresses of a subnet. */
export interface IpPoolSpec {
  /** In CIDR form: `192.0.2.0/24`, `2001:db8::/64`. */
  readonly subnet: string;
  /** From which addresses are given out. Absent counts as none. */
  readonly ranges?: readonly AddressRange[];
  /** Of old pools: parts of the subnet for the DHCP servers of hosts. No address of them is given out. */
  readonly allocatedRanges?: readonly AllocatedRange[];
  readonly allocatedIPs?: readonly AllocatedIp[];
  /** The first MAC address, as six pairs of hexadecimal digits with colons. */
  readonly macPrefix?: string;
  /** Of old pools: the MAC address that comes next. */
  readonly nextMAC?: string;
}

/** A pool. It has no status. */
export interface IpPool extends KubeObject {
  readonly spec?: IpPoolSpec;
}

/** IPPools. */
export const IP_POOLS: Kind<IpPool> = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "IPPool",
  plural: "ippools",
  namespaced: true,
  isAlwaysWhole: true,
};

/** What the ends of a range are called. */
interface RangeNames {
  readonly start: string;
  readonly stop: string;
}

/**
 * Lists what is wrong with a range. Texts that are no addresses, or no subnet, are another problem.
 *
 * @param subnet In CIDR form; bits of hosts may be set
 */
export function listRangeProblems(
  subnet: string,
  range: AddressRange,
  names: RangeNames = { start: "start", stop: "stop" },
): string[] {
  const [block, first, last] = [subnet, range.start, range.stop].map(parseCidr);
  if (!subnet.includes("/") || block === undefined || first === undefined || last === undefined)
    return [];
  const outside = [
    { name: names.start, end: first },
    { name: names.stop, end: last },
  ].filter(({ end }) => !isWithin(end, block));
  if (outside.length > 0) {
    return outside.map(({ name }) => `${name} must be in ${formatCidr(block)}`);
  }
  return first.first > last.first ? [`${names.start} must not be greater than ${names.stop}`] : [];
}

function isWithin({ family, first }: Cidr, block: Cidr): boolean {
  return family === block.family && block.first <= first && first <= block.last;
}
