/**
 * The IPPools from which the networks of one Vino give addresses. Pure, except for its drafts.
 * @module
 */
import { overlaps, parseCidr } from "../../../../core/net/ip.ts";
import type { IpPoolSpec } from "../../resource/ip_pool.ts";
import type { VinoNetwork } from "../../resource/vino.ts";
import { PoolDraft } from "./pool_draft.ts";
import { type Allocation, type PoolIndex, PoolIndexes, toIndex } from "./pool_index.ts";
import {
  type AddressProblem,
  toDamaged,
  toOverlap,
  toPoolOverlap,
  toTwoPools,
} from "../problems.ts";
import type { SeenMacs } from "../seen_macs.ts";
import { reshape } from "./reshape.ts";
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
