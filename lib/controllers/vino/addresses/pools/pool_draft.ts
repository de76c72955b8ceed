/**
 * An IPPool while addresses are given out. Pure, except for the draft itself.
 * @module
 */
import { formatIp, parseCidr } from "../../../../core/net/ip.ts";
import { ALLOCATED_MAX, type AllocatedIp, type IpPoolSpec } from "../../resource/ip_pool.ts";
import { parseOwner } from "../owners.ts";
import { ENTRY_LENGTH, type PoolIndex } from "./pool_index.ts";
import type { Span } from "../subnets.ts";

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
