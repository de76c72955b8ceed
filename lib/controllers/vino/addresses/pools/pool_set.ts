/**
 * The IPPools from which the networks of one Vino give addresses. Pure, except for its drafts.
 * @module
 */
import { overlaps, parseCidr, formatIp } from "../../../../core/net/ip.ts";
import {
  type IpPoolSpec,
  type AddressRange,
  RANGES_MAX,
  ALLOCATED_MAX,
  type AllocatedIp,
} from "../../resource/ip_pool.ts";
import type { VinoNetwork } from "../../resource/vino.ts";
import {
  type AddressProblem,
  toDamaged,
  toOverlap,
  toPoolOverlap,
  toTwoPools,
} from "../problems.ts";
import type { SeenMacs } from "../macs.ts";
import {
  findOverlap,
  findSpan,
  findSubnet,
  listReserved,
  listSpans,
  type OwnedNetwork,
  type Span,
  type Subnet,
  toPrefixLength,
  joinSpans,
  toRange,
  toSpan,
  parseSubnet,
} from "../subnets.ts";

/** Specs of pools by name of their object. Checked. */
export type Pools = ReadonlyMap<string, IpPoolSpec>;

/** What is known of pools. */
export interface PoolFacts {
  /** All pools that can be used. */
  readonly pools: Pools;
  /** Why others cannot be used, by name of their object. @default {none} */
  readonly damaged?: ReadonlyMap<string, string>;
  /** The networks of all Vinos: their ranges, gateways, name servers and subnets count, too. */
  readonly networks: readonly OwnedNetwork[];
  /** Remembers what it read of pools: pass the same ones each time. @default {new ones} */
  readonly indexes?: PoolIndexes;
  /**
   * What interfaces of machines of all Vinos have, by the text of their owner, for what no pool lists: MAC addresses of
   * those that get their addresses from a DHCP server, and all of them in case that a user deletes a pool. They stay as
   * long as they are here. @default {none}
   */
  readonly known?: ReadonlyMap<string, KnownInterface>;
  /** The MAC addresses that the cloud shows. @default {not asked for} */
  readonly seen?: SeenMacs;
}

/** What the interface of a machine has. */
export interface KnownInterface {
  /** In lower case. */
  readonly mac: string;
  readonly ip?: string;
}

/** What an owner has in any pool. */
interface Held extends Allocation {
  /** In canonical form. */
  readonly subnet: string;
  /** Name of the pool. */
  readonly pool: string;
}

/** A pool that addresses are taken from. */
export interface OpenPool {
  readonly name: string;
  readonly subnet: Subnet;
  readonly prefixLength: number;
  /** As it was before. */
  readonly index: PoolIndex;
  /** Whether there is no object yet. */
  readonly isNew: boolean;
  /** What no machine may get, with what it is. */
  readonly reserved: ReadonlyMap<bigint, string>;
  readonly draft: PoolDraft;
}

/** Where the machines of a network get addresses. */
export interface NetworkPool {
  readonly pool: OpenPool;
  readonly span: Span;
}

/** The name of the object for a subnet, as the original operator made it. @param subnet In canonical form */
export function toPoolName(subnet: string): string {
  return `ippool-${subnet.replaceAll(/[:./]/g, "-")}`;
}

/** All pools, and drafts of those that addresses are taken from. */
export class PoolSet {
  readonly #facts: PoolFacts;
  readonly #indexes: ReadonlyMap<string, PoolIndex>;
  readonly #open = new Map<string, OpenPool>();
  /** Of {@linkcode PoolSet.open}: each machine of a role asks again. */
  readonly #answers = new Map<VinoNetwork, NetworkPool | AddressProblem | undefined>();
  #known: ReadonlySet<bigint> | undefined;

  constructor(facts: PoolFacts) {
    this.#facts = facts;
    this.#indexes = (facts.indexes ?? new PoolIndexes()).read(facts.pools);
  }

  /** What an owner had before in any pool. */
  find(owner: string): Held | undefined {
    for (const [pool, { byOwner, subnet, spec }] of this.#indexes) {
      const one = byOwner.get(owner);
      if (one !== undefined) return { ...one, pool, subnet: subnet?.text ?? spec.subnet };
    }
    return undefined;
  }

  /** Whether any pool had a MAC address before. @param mac In lower case */
  hasMac(mac: string): boolean {
    return this.#indexes.values().some(({ macs }) => macs.has(mac));
  }

  /** How many MAC addresses all pools had before. */
  countMacs(): number {
    return this.#indexes.values().reduce((sum, { macs }) => sum + macs.size, 0);
  }

  /** Where the machines of a network get addresses. @returns `undefined`: from a DHCP server */
  open(network: VinoNetwork): NetworkPool | AddressProblem | undefined {
    if (!this.#answers.has(network)) this.#answers.set(network, this.#find(network));
    return this.#answers.get(network);
  }

  #find(network: VinoNetwork): NetworkPool | AddressProblem | undefined {
    const [subnet, span] = [findSubnet(network), findSpan(network)];
    if (subnet === undefined || span === undefined) return undefined;
    const found = this.#open.get(subnet.text);
    if (found !== undefined) return { pool: found, span };
    const names = this.#listNames(subnet);
    if (names.length > 1) return toTwoPools(network, names);
    const name = names[0] ?? toPoolName(subnet.text);
    const damage = this.#facts.damaged?.get(name);
    if (damage !== undefined) return toDamaged(network, name, damage);
    const before = this.#indexes.get(name);
    const isInUse = before !== undefined && before.byOwner.size > 0;
    const problem = isInUse ? undefined : this.#refuseOverlap(network, subnet);
    if (problem !== undefined) return problem;
    const index = before ?? toIndex(toNewPool(network, subnet));
    const reserved = listReserved(subnet, this.#facts.networks);
    const draft = new PoolDraft(index, reserved, () => this.#listKnown());
    const prefixLength = toPrefixLength(subnet);
    const isNew = before === undefined;
    const pool = { name, subnet, prefixLength, index, isNew, reserved, draft };
    this.#open.set(subnet.text, pool);
    return { pool, span };
  }

  /** All pools that {@linkcode PoolSet.open} opened. */
  listOpen(): Iterable<OpenPool> {
    return this.#open.values();
  }

  /** The pools with what was taken from them, if they differ from before. */
  listChanged(): Pools {
    const changed = new Map<string, IpPoolSpec>();
    for (const { name, subnet, index, isNew, draft } of this.#open.values()) {
      const spec = draft.toSpec();
      if (isNew && spec === index.spec) continue;
      const { ranges: before } = spec;
      // New addresses are in the range of a network.
      const ranges = reshape(index, listSpans(subnet, this.#facts.networks));
      if (spec !== index.spec || ranges !== before) changed.set(name, { ...spec, ranges });
    }
    return changed;
  }

  /** The addresses that machines have. */
  #listKnown(): ReadonlySet<bigint> {
    this.#known ??= new Set(
      [...(this.#facts.known?.values() ?? [])].flatMap(({ ip = "" }) => parseCidr(ip)?.first ?? []),
    );
    return this.#known;
  }

  #listNames({ text }: Subnet): string[] {
    const all = Array.from(this.#indexes);
    return all.flatMap(([name, { subnet }]) => (subnet?.text === text ? [name] : []));
  }

  /** Two subnets with common addresses have two pools, and both could give out the same address. */
  #refuseOverlap(network: VinoNetwork, subnet: Subnet): AddressProblem | undefined {
    for (const [name, { subnet: other, byOwner }] of this.#indexes) {
      const isOther = other !== undefined && other.text !== subnet.text && byOwner.size > 0;
      if (isOther && overlaps(other.block, subnet.block)) return toPoolOverlap(network, name);
    }
    const other = findOverlap(subnet, this.#facts.networks);
    return other && toOverlap(network, other);
  }
}

function toNewPool({ macPrefix }: VinoNetwork, { text }: Subnet): IpPoolSpec {
  return { subnet: text, allocatedIPs: [], ...(macPrefix !== undefined && { macPrefix }) };
}

/**
 * The ranges of a pool as the networks of all Vinos want them, and the old ones that have addresses in use.
 *
 * @param wanted Joined
 * @returns The same array if nothing changes
 */
function reshape(
  { spec: { ranges = [] }, subnet, taken }: PoolIndex,
  wanted: readonly Span[],
): readonly AddressRange[] {
  const strays = [...taken].filter((address) => !isIn(address, wanted));
  const inUse = ranges.flatMap((range) => {
    const span = toSpan(range);
    return span && strays.some((address) => isIn(address, [span])) ? [span] : [];
  });
  const next = joinSpans([...wanted, ...inUse])
    .slice(0, RANGES_MAX)
    .map((span) => toRange(subnet?.block.family ?? 4, span));
  return JSON.stringify(next) === JSON.stringify(ranges) ? ranges : next;
}

/** Whether an address is in one of the spans. */
export function isIn(address: bigint, spans: readonly Span[]): boolean {
  return spans.some(({ first, last }) => first <= address && address <= last);
}

/** How many characters of JSON the allocations of a pool may have: etcd refuses objects of 1.5 MiB. */
const POOL_LENGTH_MAX = 1_200_000;

const NONE: ReadonlySet<bigint> = new Set();

/**
 * A draft of a pool.
 *
 * Guarantees: an address never has two owners; what others wrote stays byte for byte; giving out n addresses takes as
 * long as the pool has addresses in use plus n, however large the subnet is.
 */
export class PoolDraft {
  readonly #index: PoolIndex;
  readonly #reserved: ReadonlyMap<bigint, unknown>;
  readonly #known: () => ReadonlySet<bigint>;
  readonly #added = new Map<bigint, AllocatedIp>();
  /** By the beginning of a span: no address of it before this one is free. */
  readonly #cursors = new Map<bigint, bigint>();
  #length: number;

  /**
   * @param reserved What no machine may get
   * @param known What machines have, although the pool does not list it. Asked when it is needed
   */
  constructor(
    index: PoolIndex,
    reserved: ReadonlyMap<bigint, unknown>,
    known: () => ReadonlySet<bigint> = () => NONE,
  ) {
    this.#index = index;
    this.#reserved = reserved;
    this.#known = known;
    this.#length = index.length;
  }

  /** Whether the object has room for one more. */
  hasRoomFor(owner: string): boolean {
    const count = (this.#index.spec.allocatedIPs?.length ?? 0) + this.#added.size;
    const length = this.#length + owner.length + ENTRY_LENGTH;
    return count < ALLOCATED_MAX && length <= POOL_LENGTH_MAX;
  }

  /**
   * Gives the first free address of a span to an owner that has none.
   *
   * @returns `undefined` if there is none
   */
  take(
    span: Span,
    { owner, mac }: { readonly owner: string; readonly mac: string },
  ): string | undefined {
    const address = this.#findFree(span);
    if (address === undefined) return undefined;
    return this.give(address, { owner, mac });
  }

  /** Who has an address. @returns The text of the owner, `undefined` if there is none */
  findOwner(address: bigint): string | undefined {
    const added = this.#added.get(address);
    if (added !== undefined) return added.allocatedTo;
    if (!this.#index.taken.has(address)) return undefined;
    const all = this.#index.byOwner.values();
    return all.find((one) => one.address === address)?.source.allocatedTo;
  }

  /** How many addresses each Vino has, by its key; the most first. What others wrote does not count. */
  countByVino(): readonly (readonly [vino: string, count: number])[] {
    const counts = new Map<string, number>();
    for (const { allocatedTo } of this.toSpec().allocatedIPs ?? []) {
      const vino = parseOwner(allocatedTo)?.vino;
      if (vino !== undefined) counts.set(vino, (counts.get(vino) ?? 0) + 1);
    }
    return [...counts].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  }

  /** Gives an address that has no owner. */
  give(address: bigint, { owner, mac }: { readonly owner: string; readonly mac: string }): string {
    const ip = formatIp(this.#index.subnet?.block.family ?? 4, address);
    this.#added.set(address, { ip, mac, allocatedTo: owner });
    this.#length += owner.length + ENTRY_LENGTH;
    return ip;
  }

  /** Takes back an address that {@linkcode PoolDraft.take} gave. */
  putBack(ip: string): void {
    const address = parseCidr(ip)?.first ?? -1n;
    const one = this.#added.get(address);
    if (one === undefined) return;
    this.#added.delete(address);
    this.#length -= one.allocatedTo.length + ENTRY_LENGTH;
    for (const [first, at] of this.#cursors) {
      if (first <= address && address < at) this.#cursors.set(first, address);
    }
  }

  /** The spec with what was given out; the same object if nothing was. */
  toSpec(): IpPoolSpec {
    const { spec } = this.#index;
    if (this.#added.size === 0) return spec;
    return { ...spec, allocatedIPs: [...(spec.allocatedIPs ?? []), ...this.#added.values()] };
  }

  #isOut(address: bigint): boolean {
    return this.#added.has(address) || this.#reserved.has(address) || this.#known().has(address);
  }

  #findFree({ first, last }: Span): bigint | undefined {
    const { taken, blocked } = this.#index;
    let at = this.#cursors.get(first) ?? first;
    while (at <= last) {
      const block = findSpanWith(blocked, at);
      if (block !== undefined) at = block.last + 1n;
      else if (taken.has(at) || this.#isOut(at)) at += 1n;
      else break;
    }
    this.#cursors.set(first, at);
    return at <= last ? at : undefined;
  }
}

/** Binary search. @param spans Joined */
function findSpanWith(spans: readonly Span[], address: bigint): Span | undefined {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const span = spans[middle];
    if (span === undefined) return undefined;
    if (address < span.first) high = middle;
    else if (address > span.last) low = middle + 1;
    else return span;
  }
  return undefined;
}

/** An address that has an owner, as it was read. Immutable. */
interface Allocation {
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
interface PoolIndex {
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
const ENTRY_LENGTH = 100;

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

/** An interface of a machine. */
export interface AddressOwner {
  /** Key of the Vino: `namespace/name`. */
  readonly vino: string;
  /** Name of the machine, which has the beginning of the UID of its Vino. */
  readonly machine: string;
  /** Name of the interface. */
  readonly interface: string;
}

const FORM = /^([^/]+\/[^/]+)\/(vino-[^/]+)\/(.+)$/;

/** `metal/tenant/vino-1b4e28ba-worker-3/oam`. Frozen: machines keep their addresses by it. */
export function formatOwner({ vino, machine, interface: name }: AddressOwner): string {
  return `${vino}/${machine}/${name}`;
}

/** Reads the owner of an address. @returns `undefined` if Landfall did not write it */
export function parseOwner(text: string): AddressOwner | undefined {
  const [, vino, machine, name] = FORM.exec(text) ?? [];
  if (vino === undefined || machine === undefined || name === undefined) return undefined;
  return { vino, machine, interface: name };
}
