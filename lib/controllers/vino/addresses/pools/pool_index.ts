/**
 * Indexes over the specs of IPPools, each made once for a state of a pool. Pure, except for what it remembers.
 * @module
 */
import { formatIp, parseCidr } from "../../../../core/net/ip.ts";
import type { AllocatedIp, IpPoolSpec } from "../../resource/ip_pool.ts";
import { type AddressOwner, parseOwner } from "../owners.ts";
import { joinSpans, parseSubnet, type Span, type Subnet, toSpan } from "../subnets.ts";

/** An address that has an owner, as it was read. Immutable. */
export interface Allocation {
  /** As the spec has it. */
  readonly source: AllocatedIp;
  readonly address: bigint;
  /** In canonical form. */
  readonly ip: string;
  /** In lower case. */
  readonly mac: string;
  /** Absent: Landfall did not write it. */
  readonly owner?: AddressOwner;
}

/** What can be asked of a pool. Immutable. */
export interface PoolIndex {
  readonly spec: IpPoolSpec;
  readonly subnet: Subnet | undefined;
  /** By the text of the owner. */
  readonly byOwner: ReadonlyMap<string, Allocation>;
  /** The addresses that have an owner. */
  readonly taken: ReadonlySet<bigint>;
  /** In lower case. */
  readonly macs: ReadonlySet<string>;
  /** The ranges that have an owner, joined. */
  readonly blocked: readonly Span[];
  /** Of the allocations in JSON, about. */
  readonly length: number;
}

/** An entry without its owner in JSON, at most: `{"ip":"…","mac":"…","allocatedTo":"…"},`. */
export const ENTRY_LENGTH = 100;

/** The indexes of all pools. It remembers the last one of each pool. */
export class PoolIndexes {
  #last = new Map<string, PoolIndex>();

  /** The index of each pool, by name of its object. @param pools Checked */
  read(pools: ReadonlyMap<string, IpPoolSpec>): ReadonlyMap<string, PoolIndex> {
    const next = new Map<string, PoolIndex>();
    for (const [name, spec] of pools) {
      const last = this.#last.get(name);
      next.set(name, last?.spec === spec ? last : toIndex(spec, last));
    }
    this.#last = next;
    return next;
  }
}

/** Makes the index of a pool. @param last The one before: to read an address takes most of the time */
export function toIndex(spec: IpPoolSpec, last?: PoolIndex): PoolIndex {
  const { allocatedIPs = [], allocatedRanges = [] } = spec;
  const byOwner = new Map<string, Allocation>();
  const taken = new Set<bigint>();
  const macs = new Set<string>();
  let length = 0;
  for (const source of allocatedIPs) {
    const known = last?.byOwner.get(source.allocatedTo);
    const allocation = known && isSame(known.source, source) ? known : toAllocation(source);
    if (allocation === undefined) continue;
    byOwner.set(source.allocatedTo, allocation);
    taken.add(allocation.address);
    macs.add(allocation.mac);
    length += source.allocatedTo.length + ENTRY_LENGTH;
  }
  const blocked = joinSpans(allocatedRanges.flatMap((one) => toSpan(one) ?? []));
  return { spec, subnet: parseSubnet(spec.subnet), byOwner, taken, macs, blocked, length };
}

function isSame(one: AllocatedIp, other: AllocatedIp): boolean {
  return one.ip === other.ip && one.mac === other.mac && one.allocatedTo === other.allocatedTo;
}

function toAllocation(source: AllocatedIp): Allocation | undefined {
  const block = parseCidr(source.ip);
  if (block === undefined) return undefined;
  const { family, first: address } = block;
  const owner = parseOwner(source.allocatedTo);
  const mac = source.mac.toLowerCase();
  return { source, address, ip: formatIp(family, address), mac, ...(owner && { owner }) };
}
