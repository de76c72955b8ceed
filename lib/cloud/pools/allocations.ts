/**
 * Which Service has which address, as an index over all Services that follows their changes.
 * @module
 */
import { isHostAddress, parseIp } from "../../core/net/ip.ts";
import type { LoadBalancerClaim, LoadBalancerOwner } from "../capabilities/load_balancers.ts";
import { accepts, type AddressPool, type Family, type PoolMap, toFamily } from "./pool.ts";
import { parseRecord } from "./record.ts";
import { findSharedKey } from "./request.ts";

/**
 * How sure it is that a Service has an address, the surest last: its record names it, this process gave it, its status
 * shows it. `disputed`: its status shows it, but another Service was given it before. That proves nothing, but keeps
 * the address from others.
 */
export type Hold = "disputed" | "recorded" | "reserved" | "shown";

/** A Service in the index. */
interface Holder {
  readonly claim: LoadBalancerClaim;
  /** Its addresses in canonical form. */
  readonly holds: ReadonlyMap<string, Hold>;
}

interface Entry extends Holder {
  claim: LoadBalancerClaim;
  holds: ReadonlyMap<string, Hold>;
  reserved: readonly string[];
  /** The key of {@linkcode Allocations.listPartners}. */
  group: string | undefined;
}

/** What uses an address, besides the Services that Landfall serves and their statuses. */
export interface Occupant {
  /** What the address is to it, for a message: `an address of the Node n1`. */
  readonly what: string;
  /** Whether a program may have put the address there to announce it for a Service. @default {false} */
  readonly mayAnnounce?: boolean;
  /** The Service that uses it, which may be one that Landfall serves. */
  readonly owner?: LoadBalancerOwner;
  /** Where that Service has it: `spec.externalIPs`. */
  readonly field?: string;
  /** Whether Landfall gave it to that Service, and does not serve it any more. @default {false} */
  readonly isGiven?: boolean;
}

/** What uses which address, by address in canonical form. */
export type Occupied = ReadonlyMap<string, readonly Occupant[]>;

/**
 * The index. Its only state of its own is what was given: what this process reserved, or found both in a status and in
 * a record, as Landfall writes them.
 *
 * Guarantees: a change of one Service costs as much as that Service has addresses, not as much as there are Services.
 */
export class Allocations {
  #pools: PoolMap;
  readonly #entries = new Map<string, Entry>();
  readonly #byAddress = new Map<string, Set<Entry>>();
  readonly #groups = new Map<string, Set<Entry>>();
  readonly #used = new Map<string, number>();
  /** The Services whose address something else began or ceased to use, by UID. */
  readonly #disturbed = new Map<string, LoadBalancerOwner>();
  /** What {@linkcode Allocations.setOccupied} was given, and what no Service may get of it. */
  #given: Occupied = new Map();
  #occupied: Occupied = new Map();

  constructor(pools: PoolMap) {
    this.#pools = pools;
  }

  get pools(): PoolMap {
    return this.#pools;
  }

  /** Takes the newest state of all Services, and forgets those that are missing. */
  sync(claims: Iterable<LoadBalancerClaim>): void {
    const seen = new Set<string>();
    // At the start, who was given an address comes before those that only show it.
    const isFirst = this.#entries.size === 0;
    const others: LoadBalancerClaim[] = [];
    for (const claim of claims) {
      seen.add(claim.owner.uid);
      if (isFirst && listGiven(claim).length === 0) others.push(claim);
      else this.#take(claim, isFirst);
    }
    for (const claim of others) this.note(claim);
    for (const uid of this.#entries.keys()) if (!seen.has(uid)) this.forget(uid);
  }

  /** Frees everything of a Service. */
  forget(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    this.#setHolds(entry, new Map());
    this.#leaveGroup(entry);
    this.#entries.delete(uid);
  }

  /** Takes the newest state of one Service. */
  note(claim: LoadBalancerClaim): void {
    this.#take(claim, false);
  }

  /** @param isTrusted Whether a record and a status together prove an address, although another Service has it */
  #take(claim: LoadBalancerClaim, isTrusted: boolean): void {
    const { uid } = claim.owner;
    const old = this.#entries.get(uid);
    if (old?.claim === claim) return;
    const entry: Entry = old ?? { claim, holds: new Map(), reserved: [], group: undefined };
    this.#entries.set(uid, entry);
    this.#regroup(entry, claim);
    entry.claim = claim;
    if (entry.reserved.length === 0) {
      const given = listGiven(claim);
      if (isTrusted || !given.some((one) => this.isDisputed(uid, one))) entry.reserved = given;
    }
    this.#index(entry);
  }

  /** Uses other pools from now on. What was reserved stays so. */
  setPools(pools: PoolMap): void {
    const entries = [...this.#entries.values()];
    const before = entries.map(({ holds }) => holds);
    for (const entry of entries) this.#setHolds(entry, new Map());
    for (const address of this.#occupied.keys()) this.#count(address, -1);
    this.#pools = pools;
    for (const address of this.#occupied.keys()) this.#count(address, 1);
    for (const [at, entry] of entries.entries()) this.#index(entry, before[at]);
  }

  /**
   * Takes what uses addresses from now on: no other Service may get them. Does nothing if it is the same object as
   * before. An address that a Service has when it is first seen where a program may announce it is left out as long as
   * it stays there.
   */
  setOccupied(occupied: Occupied): void {
    if (this.#given === occupied) return;
    const isAnnounced = ([address, occupants]: [string, readonly Occupant[]]): boolean =>
      occupants.every(({ mayAnnounce }) => mayAnnounce) &&
      !this.#occupied.has(address) &&
      (this.#given.has(address) || this.#isGiven(address));
    const next = new Map([...occupied].filter((one) => !isAnnounced(one)));
    for (const address of this.#occupied.keys())
      if (!next.has(address)) this.#countFree(address, -1);
    for (const address of next.keys())
      if (!this.#occupied.has(address)) this.#countFree(address, 1);
    for (const address of new Set([...this.#given.keys(), ...occupied.keys()])) {
      if (toConflict(this.#given.get(address)) === toConflict(occupied.get(address))) continue;
      for (const { claim } of this.listHolders(address)) {
        this.#disturbed.set(claim.owner.uid, claim.owner);
      }
    }
    this.#given = occupied;
    this.#occupied = next;
  }

  /** The Services whose address something else began or ceased to use since the last call. */
  takeDisturbed(): LoadBalancerOwner[] {
    const owners = [...this.#disturbed.values()];
    this.#disturbed.clear();
    return owners;
  }

  /** What keeps an address from a Service, besides other Services that have it. */
  listOccupants(address: string, uid: string): readonly Occupant[] {
    return (this.#occupied.get(address) ?? []).filter(
      ({ owner }) => owner === undefined || (owner.uid !== uid && !this.has(owner.uid, address)),
    );
  }

  /** Reserves addresses for a Service in the index, in place of those reserved before. */
  reserve(uid: string, addresses: readonly string[]): void {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return;
    entry.reserved = addresses;
    this.#index(entry);
  }

  /** What was given to a Service, as far as this process knows. */
  listReserved(uid: string): readonly string[] {
    return this.#entries.get(uid)?.reserved ?? [];
  }

  /** Whether the index knows that a Service has an address. */
  has(uid: string, address: string): boolean {
    return this.#entries.get(uid)?.holds.has(address) ?? false;
  }

  /**
   * Whether a status that shows an address was written after another Service was given it: by hand, or by a program
   * that found the address in a copied annotation.
   */
  isDisputed(uid: string, address: string): boolean {
    const own = this.#entries.get(uid);
    if (own?.holds.get(address) === "shown" || own?.reserved.includes(address)) return false;
    for (const entry of this.#byAddress.get(address) ?? []) {
      if (entry !== own && entry.reserved.includes(address)) return true;
    }
    return false;
  }

  /** The Services that have an address. */
  listHolders(address: string): Iterable<Holder> {
    return this.#byAddress.get(address) ?? [];
  }

  /** The Services of a namespace that ask to share with this key. */
  listPartners(namespace: string, key: string): Iterable<Holder> {
    return this.#groups.get(toGroup(namespace, key)) ?? [];
  }

  /** Whether a Service has an address, and not only a record of it, which a backup may bring. */
  #isGiven(address: string): boolean {
    for (const { holds } of this.listHolders(address)) {
      if (holds.get(address) !== "recorded") return true;
    }
    return false;
  }

  /** How many addresses of a family of a pool are in use. */
  countUsed(pool: AddressPool, family: Family): number {
    return this.#used.get(toCounter(pool, family)) ?? 0;
  }

  /** @param before What it had */
  #index(entry: Entry, before: Holder["holds"] = entry.holds): void {
    const { claim, reserved } = entry;
    const holds = new Map<string, Hold>();
    // A record may be written by hand: it holds only what the Service could get.
    for (const address of parseRecord(claim.record).addresses) {
      const pool = this.#pools.find(address);
      if (pool !== undefined && accepts(pool, claim)) holds.set(address, "recorded");
    }
    for (const address of reserved) holds.set(address, "reserved");
    for (const address of listShown(claim)) {
      const isOwn = before.get(address) === "shown" || reserved.includes(address);
      const isTaken = !isOwn && this.isDisputed(claim.owner.uid, address);
      holds.set(address, isTaken ? "disputed" : "shown");
    }
    this.#setHolds(entry, holds);
  }

  #setHolds(entry: Entry, holds: ReadonlyMap<string, Hold>): void {
    for (const address of entry.holds.keys()) if (!holds.has(address)) this.#drop(entry, address);
    for (const address of holds.keys()) if (!entry.holds.has(address)) this.#add(entry, address);
    entry.holds = holds;
  }

  #add(entry: Entry, address: string): void {
    const holders = this.#byAddress.get(address);
    if (holders !== undefined) {
      holders.add(entry);
      return;
    }
    this.#byAddress.set(address, new Set([entry]));
    if (!this.#occupied.has(address)) this.#count(address, 1);
  }

  #drop(entry: Entry, address: string): void {
    const holders = this.#byAddress.get(address);
    holders?.delete(entry);
    if (holders?.size !== 0) return;
    this.#byAddress.delete(address);
    if (!this.#occupied.has(address)) this.#count(address, -1);
  }

  #countFree(address: string, by: number): void {
    if (!this.#byAddress.has(address)) this.#count(address, by);
  }

  #count(address: string, by: number): void {
    const pool = this.#pools.find(address);
    if (pool === undefined) return;
    const counter = toCounter(pool, toFamily(address));
    this.#used.set(counter, (this.#used.get(counter) ?? 0) + by);
  }

  #regroup(entry: Entry, claim: LoadBalancerClaim): void {
    const key = findSharedKey(claim);
    const group = key === undefined ? undefined : toGroup(claim.owner.namespace, key);
    if (group === entry.group) return;
    this.#leaveGroup(entry);
    entry.group = group;
    if (group === undefined) return;
    const partners = this.#groups.get(group);
    if (partners === undefined) this.#groups.set(group, new Set([entry]));
    else partners.add(entry);
  }

  #leaveGroup(entry: Entry): void {
    if (entry.group === undefined) return;
    const partners = this.#groups.get(entry.group);
    partners?.delete(entry);
    if (partners?.size === 0) this.#groups.delete(entry.group);
    entry.group = undefined;
  }
}

/** The addresses that the status of a Service shows, in canonical form. What no host can have is none. */
export function listShown({ ingress }: Pick<LoadBalancerClaim, "ingress">): string[] {
  const shown = ingress.flatMap((one) => {
    const address = "ip" in one ? parseIp(one.ip)?.text : undefined;
    return address !== undefined && isHostAddress(address) ? [address] : [];
  });
  return [...new Set(shown)];
}

/** The addresses of the record, if the status shows all of them: then Landfall wrote both. */
function listGiven(claim: LoadBalancerClaim): readonly string[] {
  const shown = listShown(claim);
  const { addresses } = parseRecord(claim.record);
  return addresses.every((one) => shown.includes(one)) ? addresses : [];
}

/** What else uses an address than programs that may announce it, as a text. */
function toConflict(occupants: readonly Occupant[] = []): string {
  return occupants.flatMap(({ what, mayAnnounce }) => (mayAnnounce ? [] : what)).join(" ");
}

function toGroup(namespace: string, key: string): string {
  return `${namespace}/${key}`;
}

function toCounter({ name }: AddressPool, family: Family): string {
  return `${family}/${name}`;
}
