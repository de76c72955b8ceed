/**
 * A pool of addresses, and which Services it is for.
 * @module
 */
import { createHash } from "node:crypto";
import { type Cidr, formatIp, overlaps, parseCidr, subtract } from "../../core/net/ip.ts";
import { isFor } from "../address_sharing.ts";
import type { LoadBalancerClaim, SharingRule } from "../capabilities/load_balancers.ts";
import { type AddressRange, findLeftOut } from "./address_range.ts";

/** Addresses that Landfall gives to Services. */
export interface AddressPool {
  readonly name: string;
  /** None overlaps another one, of any pool. */
  readonly ranges: readonly AddressRange[];
  /** Namespaces of the Services that it is for. @default {all} */
  readonly namespaces?: readonly string[];
  /** Labels that those Services have. @default {any} */
  readonly selector?: Readonly<Record<string, string>>;
  /** Whether Services may share one of its addresses. */
  readonly isShareable: boolean;
  /** Whether a Service that asks for no pool and no address may get one of these. */
  readonly isAutoAssigned: boolean;
}

/** The IP family as a number. */
export type Family = Cidr["family"];

/** Both families, in the order in which they are shown. */
export const FAMILIES: readonly Family[] = [4, 6];

/** Whether a pool is for a Service. */
export function accepts(
  { namespaces, selector = {} }: AddressPool,
  { owner, labels }: Pick<LoadBalancerClaim, "labels" | "owner">,
): boolean {
  if (namespaces !== undefined && !namespaces.includes(owner.namespace)) return false;
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** The family of an address in canonical form. */
export function toFamily(address: string): Family {
  return address.includes(":") ? 6 : 4;
}

/** A pool without the addresses that the operator gives only to other namespaces; the pool itself if it has none. */
export function withoutReserved(
  pool: AddressPool,
  namespace: string,
  rules: readonly SharingRule[],
): AddressPool {
  const list = (isOwn: boolean): readonly Cidr[] =>
    rules
      .filter((rule) => isFor(rule, namespace) === isOwn)
      .flatMap(({ addresses }) => addresses)
      .filter((one) => pool.ranges.some((range) => overlaps(range, one)));
  const reserved = subtract(list(false), list(true));
  return reserved.length === 0 ? pool : { ...pool, ranges: subtract(pool.ranges, reserved) };
}

/** How many addresses of a family a pool has. */
export function countAddresses({ ranges }: AddressPool, family: Family): bigint {
  let count = 0n;
  for (const one of ranges) if (one.family === family) count += one.last - one.first + 1n;
  return count;
}

/**
 * Lists the addresses of a family in a pool, each once, in an order that depends only on the pool and on the text: a
 * Service of the same name prefers the same addresses in a cluster that was restored. The order must not change.
 *
 * @param text What the order is for: the namespace and name of a Service
 */
export function* listPreferred(pool: AddressPool, family: Family, text: string): Generator<string> {
  const ranges = pool.ranges.filter((one) => one.family === family);
  const size = countAddresses(pool, family);
  if (size === 0n) return;
  const digest = createHash("sha256").update(text).digest("hex");
  const start = BigInt(`0x${digest.slice(0, 32)}`) % size;
  const stride = toStride(BigInt(`0x${digest.slice(32)}`), size);
  // With a step that shares no divisor with the size, this visits every address once, and in no order that makes
  // Services queue behind each other in a pool that is nearly full.
  let offset = start;
  do {
    yield formatIp(family, toBits(ranges, offset));
    offset = (offset + stride) % size;
  } while (offset !== start);
}

function toStride(wanted: bigint, size: bigint): bigint {
  let stride = (wanted % size) + 1n;
  while (findDivisor(stride, size) !== 1n) stride += 1n;
  return stride;
}

/** The greatest common divisor. */
function findDivisor(one: bigint, other: bigint): bigint {
  let [a, b] = [one, other];
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

function toBits(ranges: readonly Cidr[], offset: bigint): bigint {
  let left = offset;
  for (const { first, last } of ranges) {
    const size = last - first + 1n;
    if (left < size) return first + left;
    left -= size;
  }
  throw new RangeError(`Cannot find address ${offset}: the pool is smaller`);
}

/** Finds the pool of an address, for any number of pools and ranges. */
export class PoolMap {
  readonly pools: readonly AddressPool[];
  /** What the operator says about who may share addresses. */
  readonly sharing: readonly SharingRule[];
  readonly #ranges: readonly { readonly range: Cidr; readonly pool: AddressPool }[];

  constructor(pools: readonly AddressPool[], sharing: readonly SharingRule[] = []) {
    this.pools = pools;
    this.sharing = sharing;
    this.#ranges = pools
      .flatMap((pool) => pool.ranges.map((range) => ({ range, pool })))
      .toSorted((one, other) => compareRanges(one.range, other.range));
  }

  /** The pool that has an address now. @param address In canonical form; any other text has no pool */
  find(address: string): AddressPool | undefined {
    const value = parseCidr(address);
    if (value === undefined) return undefined;
    let [low, high] = [0, this.#ranges.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#ranges[middle];
      if (found === undefined) return undefined;
      const order = compareToRange(value, found.range);
      if (order === 0) return found.pool;
      if (order < 0) high = middle - 1;
      else low = middle + 1;
    }
    return undefined;
  }
}

/** The pool with a CIDR that leaves an address out, in words for a message; `undefined` if there is none. */
export function describeLeftOut(
  pools: readonly AddressPool[],
  address: string,
): string | undefined {
  const value = parseCidr(address);
  if (value === undefined) return undefined;
  for (const { name, ranges } of pools) {
    for (const range of ranges) {
      const end = findLeftOut(range, value);
      if (end === undefined) continue;
      const kind = end === "last" ? "broadcast" : value.family === 4 ? "network" : "anycast";
      return `the ${end} address of a CIDR of the pool ${name}, its ${kind} address`;
    }
  }
  return undefined;
}

function compareRanges(one: Cidr, other: Cidr): number {
  if (one.family !== other.family) return one.family - other.family;
  return one.first < other.first ? -1 : 1;
}

function compareToRange(address: Cidr, range: Cidr): number {
  if (address.family !== range.family) return address.family - range.family;
  if (address.first < range.first) return -1;
  return address.first > range.last ? 1 : 0;
}
