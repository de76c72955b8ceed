/**
 * Gives machines their addresses and MAC addresses, and takes them back. Pure.
 *
 * What was given stays: the same interface of the same machine always gets the same address and MAC address. A machine
 * gets all that it needs, or nothing.
 * @module
 */
import type { MachineOwner } from "../../../cloud/capabilities/machines.ts";
import { overlaps, parseCidr } from "../../../core/net/ip.ts";
import type { IpPoolSpec } from "../resource/ip_pool.ts";
import type { VinoNetwork } from "../resource/vino.ts";
import { hasPrefix, isNarrow, toMac, type SeenMacs } from "./macs.ts";
import {
  formatOwner,
  type PoolDraft,
  type NetworkPool,
  type PoolFacts,
  type Pools,
  PoolSet,
  type OpenPool,
  isIn,
} from "./pools/pool_set.ts";
import {
  type AddressProblem,
  toExhausted,
  toFull,
  toNoMac,
  toReserved,
  toStrays,
} from "./problems.ts";
import type { MachineRequest, RestoredAddress } from "./types.ts";
import { parseSubnet, findSpan, findSubnet } from "./subnets.ts";

/** The machines of one Vino that need addresses. */
export interface AddressRequest {
  readonly owner: MachineOwner;
  /** The networks of the Vino. They are among those of the facts, too. */
  readonly networks: readonly VinoNetwork[];
  readonly machines: readonly MachineRequest[];
}

/** What an interface has. */
export interface InterfaceAddresses {
  readonly name: string;
  readonly network: string;
  /** In lower case. */
  readonly mac: string;
  /** Absent: a DHCP server gives it one. */
  readonly ip?: string;
  /** Of the subnet. With `ip` only. */
  readonly prefixLength?: number;
}

/** Who gets what. */
export interface AddressPlan {
  /** By name of the machine, in the order of its interfaces. Machines with a problem are missing. */
  readonly machines: ReadonlyMap<string, readonly InterfaceAddresses[]>;
  /** By name of the machine. */
  readonly problems: ReadonlyMap<string, AddressProblem>;
  /** What a person should know about addresses in use. */
  readonly notices: readonly AddressProblem[];
  /** Whether MAC addresses were chosen that another interface in the cloud may have, which was not asked. */
  readonly needsMacs: boolean;
  /** Addresses that machines have and no pool listed any more, in the order of the machines. */
  readonly restored: readonly RestoredAddress[];
  /** The pools that must be written before a machine uses its addresses, by name of their object. */
  readonly changed: Pools;
}

/** Plans the addresses of machines. Their order does not matter. */
export function planAddresses(request: AddressRequest, facts: PoolFacts): AddressPlan {
  const allocator = new Allocator(request, facts);
  const machines = new Map<string, readonly InterfaceAddresses[]>();
  const problems = new Map<string, AddressProblem>();
  for (const machine of request.machines.toSorted(byName)) {
    const given = allocator.giveAll(machine);
    if ("message" in given) problems.set(machine.name, given);
    else machines.set(machine.name, given);
  }
  const notices = listNotices(allocator.vino, request.networks, allocator.pools.listOpen());
  const { needsMacs, restored } = allocator;
  const changed = allocator.pools.listChanged();
  return { machines, problems, notices, needsMacs, restored, changed };
}

/**
 * Takes addresses back.
 *
 * @param isGone Whether the machine of an owner, as `allocatedTo` names it, is proven gone
 * @returns The pools that change
 */
export function releaseAddresses(pools: Pools, isGone: (owner: string) => boolean): Pools {
  const changed = new Map<string, IpPoolSpec>();
  for (const [name, spec] of pools) {
    const { allocatedIPs = [] } = spec;
    const kept = allocatedIPs.filter(({ allocatedTo }) => !isGone(allocatedTo));
    if (kept.length < allocatedIPs.length) changed.set(name, { ...spec, allocatedIPs: kept });
  }
  return changed;
}

/** Gives addresses to the machines of one Vino, one after the other. */
class Allocator {
  readonly vino: string;
  readonly pools: PoolSet;
  readonly #uid: string;
  readonly #networks: ReadonlyMap<string, VinoNetwork>;
  readonly #known: NonNullable<PoolFacts["known"]>;
  /** Those of machines, and those that were given now. */
  readonly #macs: Set<string>;
  readonly #seen: SeenMacs | undefined;
  /** As {@linkcode AddressPlan.needsMacs}. */
  needsMacs = false;
  /** As {@linkcode AddressPlan.restored}. */
  readonly restored: RestoredAddress[] = [];
  /** By name of the network. */
  readonly #exhausted = new Map<string, AddressProblem>();

  constructor({ owner, networks }: AddressRequest, facts: PoolFacts) {
    this.vino = `${owner.namespace}/${owner.name}`;
    this.pools = new PoolSet(facts);
    this.#uid = owner.uid;
    this.#networks = new Map(networks.map((network) => [network.name, network]));
    this.#known = facts.known ?? new Map();
    this.#seen = facts.seen;
    this.#macs = new Set(this.#known.values().map(({ mac }) => mac));
  }

  /** Gives a machine all that it needs, or nothing. */
  giveAll({ name, interfaces }: MachineRequest): readonly InterfaceAddresses[] | AddressProblem {
    const given: InterfaceAddresses[] = [];
    const restored = this.restored.length;
    const undo: (() => void)[] = [() => void this.restored.splice(restored)];
    for (const [device, one] of interfaces.entries()) {
      const network = this.#networks.get(one.network) ?? { name: one.network };
      const answer = this.#give(network, { machine: name, name: one.name, device }, undo);
      if ("message" in answer) {
        for (const back of undo.toReversed()) back();
        return answer;
      }
      given.push(answer);
    }
    return given;
  }

  #give(
    network: VinoNetwork,
    place: Place,
    undo: (() => void)[],
  ): InterfaceAddresses | AddressProblem {
    const { machine, name } = place;
    const owner = formatOwner({ vino: this.vino, machine, interface: name });
    const held = this.pools.find(owner);
    const source = this.pools.open(network);
    if (source !== undefined && "message" in source) return source;
    const base = { name, network: network.name };
    if (source !== undefined && held !== undefined) {
      const { subnet, prefixLength } = source.pool;
      if (held.subnet !== subnet.text) {
        return toMoved(network, place, held, [...this.#networks.values()]);
      }
      return { ...base, mac: held.mac, ip: held.ip, prefixLength };
    }
    const mac = held?.mac ?? this.#toMac(network, place, owner);
    if (mac === undefined) return toNoMac(network);
    if (!this.#macs.has(mac)) {
      this.#macs.add(mac);
      undo.push(() => void this.#macs.delete(mac));
    }
    if (source === undefined) return { ...base, mac };
    const { draft, prefixLength } = source.pool;
    const ip = this.#take(network, source, { owner, mac, place });
    if (typeof ip !== "string") return ip;
    undo.push(() => draft.putBack(ip));
    return { ...base, mac, ip, prefixLength };
  }

  /** Takes the address that the machine has, or a free one. */
  #take(
    network: VinoNetwork,
    { pool: { name: pool, draft, subnet, isNew }, span }: NetworkPool,
    { place, ...to }: { readonly owner: string; readonly mac: string; readonly place: Place },
  ): string | AddressProblem {
    if (!draft.hasRoomFor(to.owner)) return toFull(network);
    const { ip } = this.#known.get(to.owner) ?? {};
    if (ip === undefined) return draft.take(span, to) ?? this.#toExhausted(network, draft);
    const known = parseCidr(ip);
    if (known === undefined || !overlaps(known, subnet.block)) {
      return toMoved(network, place, { ip }, [...this.#networks.values()]);
    }
    const other = draft.findOwner(known.first);
    if (other !== undefined) return toTaken(network, place, ip, other);
    this.restored.push({ pool, ip, isPoolNew: isNew });
    return draft.give(known.first, to);
  }

  /** The same for all machines that get none. */
  #toExhausted(network: VinoNetwork, draft: PoolDraft): AddressProblem {
    const known = this.#exhausted.get(network.name);
    if (known !== undefined) return known;
    const problem = toExhausted(network, draft.countByVino());
    this.#exhausted.set(network.name, problem);
    return problem;
  }

  #toMac(network: VinoNetwork, place: Place, owner: string): string | undefined {
    const known = this.#known.get(owner)?.mac;
    // The owner has none in a pool: if a pool has it, it is that of another one.
    if (known !== undefined && !this.pools.hasMac(known)) return known;
    const { macPrefix: prefix } = network;
    const isTaken = (mac: string): boolean => this.#macs.has(mac) || this.pools.hasMac(mac);
    // Without a prefix, the hash alone tells all interfaces apart, also after a restart.
    const seen = isNarrow(prefix) ? this.#seen : undefined;
    if (isNarrow(prefix) && seen === undefined) this.needsMacs = true;
    const { machine, name, device } = place;
    const before = seen?.find(machine, device);
    if (before !== undefined && hasPrefix(before, prefix) && !isTaken(before)) return before;
    const taken = {
      has: (mac: string) => isTaken(mac) || seen?.all.has(mac) === true,
      size: this.#macs.size + this.pools.countMacs() + (seen?.all.size ?? 0),
    };
    const options = { taken, ...(prefix !== undefined && { prefix }) };
    return toMac({ uid: this.#uid, machine, interface: name }, options);
  }
}

/** Which interface. */
interface Place {
  readonly machine: string;
  readonly name: string;
  /** From 0 on. */
  readonly device: number;
}

const NATURAL = new Intl.Collator("en", { numeric: true });

/** `worker-2` comes before `worker-10`. */
function byName({ name: one }: MachineRequest, { name: other }: MachineRequest): number {
  return NATURAL.compare(one, other) || (one < other ? -1 : 1);
}

/** Which interface of which machine. */
interface InterfacePlace {
  readonly machine: string;
  /** Of the interface. */
  readonly name: string;
}

/** What an interface has. */
export interface HeldAddress {
  readonly ip: string;
  /** Name of the IPPool that lists it. Absent: it was deleted. */
  readonly pool?: string;
  /** The subnet of that IPPool. */
  readonly subnet?: string;
}

/**
 * An interface has an address of another subnet than that of its network. Either the interface changed its network, or
 * the network its subnet, or the IPPool its subnet.
 *
 * @param network Where the spec puts the interface
 * @param networks All networks of the Vino
 */
export function toMoved(
  network: VinoNetwork,
  place: InterfacePlace,
  { ip, pool, subnet }: HeldAddress,
  networks: readonly VinoNetwork[],
): AddressProblem {
  const who = toWho(place);
  if (pool !== undefined && isInNetwork(ip, network)) {
    const what = `IPPool ${pool} lists ${ip} of ${who}, and has the subnet ${subnet} now`;
    return toDifference(network, `${what}. Set its spec.subnet back to ${network.subnet}`);
  }
  const other = networks.find((one) => one.name !== network.name && isInNetwork(ip, one));
  if (other !== undefined) {
    const what = `${who} has ${ip} of network ${other.name}, but the spec puts it into network ${network.name}`;
    const advice = `Set the name and the network of the interface back to ${place.name} and ${other.name}`;
    return toDifference(network, `${what}. ${advice}, or remove the machine`);
  }
  const what = `${who} has ${ip}, but the subnet of network ${network.name} is ${network.subnet} now`;
  const back = subnet === undefined ? "" : ` to ${subnet}`;
  return toDifference(network, `${what}. Set the subnet back${back}, or remove the machine`);
}

/** An interface has an address that the IPPool lists for another owner. */
export function toTaken(
  network: VinoNetwork,
  place: InterfacePlace,
  ip: string,
  owner: string,
): AddressProblem {
  const what = `${toWho(place)} has ${ip}, but the IPPool of network ${network.name} lists that for ${owner}`;
  return toDifference(network, `${what}. Correct the IPPool, or remove one of the machines`);
}

function toWho({ machine, name }: InterfacePlace): string {
  return `interface ${name} of ${machine}`;
}

function toDifference({ name }: VinoNetwork, message: string): AddressProblem {
  return { network: name, message, isDifference: true };
}

function isInNetwork(ip: string, { subnet = "" }: VinoNetwork): boolean {
  const [address, block] = [parseCidr(ip), parseSubnet(subnet)?.block];
  return address !== undefined && block !== undefined && overlaps(address, block);
}

/** Lists addresses that the networks do not give out any more, or that are something else there. */
function listNotices(
  vino: string,
  networks: readonly VinoNetwork[],
  pools: Iterable<OpenPool>,
): AddressProblem[] {
  return Array.from(pools).flatMap((pool) => {
    const own = networks.filter((network) => findSubnet(network)?.text === pool.subnet.text);
    const [network] = own;
    if (network === undefined) return [];
    const spans = own.flatMap((one) => findSpan(one) ?? []);
    const used = listUsed(vino, pool);
    const strays = used.filter(({ address }) => !isIn(address, spans));
    const clashes = used.flatMap(({ address, ip, machine }) => {
      const what = pool.reserved.get(address);
      return what === undefined ? [] : [toReserved(network, ip, machine, what)];
    });
    return [...(strays.length > 0 ? [toStrays(network, strays)] : []), ...clashes];
  });
}

interface Used {
  readonly address: bigint;
  readonly ip: string;
  readonly machine: string;
}

/** What machines of a Vino had before in a pool. */
function listUsed(vino: string, { index: { byOwner } }: OpenPool): Used[] {
  return Array.from(byOwner.values()).flatMap(({ address, ip, owner }) =>
    owner?.vino === vino ? [{ address, ip, machine: owner.machine }] : [],
  );
}
