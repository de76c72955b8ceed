/**
 * Decides which machines a Vino wants, on which hosts, and which ones are too many. Pure.
 *
 * A machine that exists keeps its index and its host. Only the numbers of the spec make machines too many: a host that
 * the cloud does not show, that is disabled, or that lost its name or its tag is no reason for fewer machines.
 * @module
 */
import type { MachineHost, MachinePool } from "../../../cloud/capabilities/machines.ts";
import type { VinoNode } from "../resource/vino.ts";
import { findUnmatched, isChosen, isExcluded } from "./choice.ts";
import { compareKnown, type KnownMachine, wasComplete } from "./known.ts";
import type { RoleDemand } from "../resource/role_form.ts";
import { explainShortage, type Shortage } from "./shortages.ts";

/** What placement is decided from. */
export interface PlacementInput {
  /** In the order of the spec; each role once. */
  readonly demands: readonly RoleDemand[];
  readonly pool: MachinePool;
  /** All hosts that the cloud shows. */
  readonly hosts: readonly MachineHost[];
  /** Machines of roles that no demand names are too many. */
  readonly known: readonly KnownMachine[];
  /** Whether all pools answered in full: then what the cloud does not show does not exist. */
  readonly isWhole: boolean;
  /** How many machines there may be at once. */
  readonly machinesMax: number;
}

/** A machine that must exist. */
export interface PlacedMachine {
  readonly role: VinoNode["name"];
  readonly index: number;
  /** Absent: it may exist on a host that the cloud does not show, so nothing can be done about it. */
  readonly hostId?: string;
  /** Absent for one that does not exist yet. */
  readonly known?: KnownMachine;
}

/** The decision. */
export interface Placement {
  /** By role in the order of the spec, then by index. */
  readonly wanted: readonly PlacedMachine[];
  /** In the order of their removal within each role. */
  readonly surplus: readonly KnownMachine[];
  readonly shortages: readonly Shortage[];
  /** What is worth knowing; sentences without a full stop. */
  readonly notices: readonly string[];
  /** How many machines the spec wants, with those that are missing. */
  readonly wantedCount: number;
}

/** Decides about all roles. The same input gives the same answer, in any order of machines and hosts. */
export function planPlacement(input: PlacementInput): Placement {
  const { demands, known } = input;
  const roles = new Set(demands.map(({ role }) => role));
  const orphans = known.filter(({ role }) => !roles.has(role));
  const usage = new Map<string, number>();
  const room = { left: input.machinesMax - known.length };
  const parts = demands.map((demand) => placeRole(demand, input, { usage, room }));
  return {
    wanted: parts.flatMap(({ wanted }) => wanted),
    surplus: [...parts.flatMap(({ surplus }) => surplus), ...orphans.toSorted(compareKnown)],
    shortages: parts.flatMap(({ shortages }) => shortages),
    notices: [...new Set(parts.flatMap(({ notices }) => notices))],
    wantedCount: parts.reduce((sum, { wantedCount }) => sum + wantedCount, 0),
  };
}

/** What roles share while they are placed one after the other. */
interface Shared {
  /** Machines by host, of all roles so far. */
  readonly usage: Map<string, number>;
  /** How many machines may be added. */
  readonly room: { left: number };
}

function placeRole(demand: RoleDemand, input: PlacementInput, shared: Shared): Placement {
  const { role, count, countPer } = demand;
  const inPool = input.hosts.filter(({ poolId }) => poolId === input.pool.id);
  const chosen = inPool.filter((host) => isChosen(host, demand.hosts)).toSorted(compareHosts);
  const ours = input.known.filter((one) => one.role === role).toSorted(compareKnown);
  const tooMany = pickSurplus(ours, toLimit(demand));
  const leaving = new Set(tooMany);
  const stay = ours.filter((one) => !leaving.has(one));
  const slots = new HostSlots(chosen, shared.usage, countPer === "Host" ? count : Infinity);
  const placed = placeKept(stay, input, slots);
  const { homeless } = placed;
  const kept = stay.filter((one) => !homeless.includes(one));
  const wantedCount =
    countPer === "Total" ? count : countPerHost(count, { chosen, kept, stays: placed.stays });
  const wanted = wantedCount - kept.length;
  const added = addMachines(demand, wanted, { slots, taken: ours, room: shared.room });
  const shortage = explainShortage({
    demand,
    pool: input.pool,
    chosen,
    unmatched: findUnmatched(inPool, demand.hosts),
    kept: kept.length,
    missing: wanted - added.length,
    isFull: shared.room.left <= 0,
    machinesMax: input.machinesMax,
  });
  return {
    wanted: [...placed.machines, ...added].toSorted(compareKnown),
    surplus: [...tooMany, ...homeless],
    shortages: shortage.shortages,
    notices: shortage.notices,
    wantedCount,
  };
}

function toLimit({ count, countPer, hosts }: RoleDemand): SurplusLimit {
  if (countPer === "Total") return { total: count };
  const perHost = (hostId: string): number => (isExcluded(hostId, hosts) ? 0 : count);
  return { perHost, isNone: count === 0 };
}

/**
 * Places machines that exist where they are; those whose host is gone get another one.
 *
 * @returns `homeless`: nothing shows them, no host is known for them, and each host has as many as it is to have
 */
function placeKept(
  kept: readonly KnownMachine[],
  input: PlacementInput,
  slots: HostSlots,
): {
  readonly machines: readonly PlacedMachine[];
  readonly stays: readonly KnownMachine[];
  readonly homeless: readonly KnownMachine[];
} {
  const movers = kept.filter((one) => mayMove(one, input));
  const stays = kept.filter((one) => !mayMove(one, input));
  for (const { hostId } of stays) if (hostId !== undefined) slots.take(hostId);
  const homeless: KnownMachine[] = [];
  const moved = movers.flatMap((known): PlacedMachine[] => {
    const hostId = slots.give();
    const isNowhere = known.machine === undefined && known.hostId === undefined;
    if (hostId === undefined && isNowhere && slots.isFull) {
      homeless.push(known);
      return [];
    }
    return [{ ...toPlaced(known), ...(hostId !== undefined && { hostId }) }];
  });
  return { machines: [...stays.map(toPlaced), ...moved], stays, homeless };
}

/** How many machines a count for each host means. Those on a host that is not shown are wanted, too. */
function countPerHost(
  count: number,
  {
    chosen,
    kept,
    stays,
  }: {
    readonly chosen: readonly MachineHost[];
    readonly kept: readonly KnownMachine[];
    readonly stays: readonly KnownMachine[];
  },
): number {
  const shownIds = new Set(chosen.map(({ id }) => id));
  const elsewhere = stays.filter(({ hostId = "" }) => !shownIds.has(hostId)).length;
  return Math.max(kept.length, count * chosen.length + elsewhere);
}

/** Adds machines with the lowest free indexes, as far as there are hosts and room. */
function addMachines(
  { role }: RoleDemand,
  wanted: number,
  {
    slots,
    taken,
    room,
  }: {
    readonly slots: HostSlots;
    readonly taken: readonly KnownMachine[];
    readonly room: Shared["room"];
  },
): PlacedMachine[] {
  const used = new Set(taken.map(({ index }) => index));
  const added: PlacedMachine[] = [];
  let index = 0;
  while (added.length < wanted && room.left > 0) {
    const hostId = slots.give();
    if (hostId === undefined) break;
    while (used.has(index)) index += 1;
    used.add(index);
    added.push({ role, index, hostId });
    room.left -= 1;
  }
  return added;
}

/** Whether a machine has no host, or one that is gone together with it. */
function mayMove({ hostId, machine }: KnownMachine, { hosts, isWhole }: PlacementInput): boolean {
  if (hostId === undefined) return machine !== undefined || isWhole;
  return machine === undefined && isWhole && hosts.every(({ id }) => id !== hostId);
}

function toPlaced(known: KnownMachine): PlacedMachine {
  const { role, index, hostId } = known;
  return { role, index, known, ...(hostId !== undefined && { hostId }) };
}

function compareHosts(a: MachineHost, b: MachineHost): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** The enabled hosts of a role. */
export class HostSlots {
  readonly #hosts: readonly MachineHost[];
  /** Machines of all roles by host. */
  readonly #usage: Map<string, number>;
  readonly #perHost: number;
  /** Machines of this role by host. */
  readonly #own = new Map<string, number>();

  /**
   * @param hosts In the order in which equal ones are chosen
   * @param usage Machines of all roles so far by host. Machines of this role are added
   * @param perHost How many machines of the role a host may have
   */
  constructor(hosts: readonly MachineHost[], usage: Map<string, number>, perHost: number) {
    this.#hosts = hosts.filter(({ isEnabled }) => isEnabled);
    this.#usage = usage;
    this.#perHost = perHost;
  }

  /** Whether there are hosts, and each has as many machines as it may have. */
  get isFull(): boolean {
    return this.#hosts.length > 0 && this.#hosts.every(({ id }) => !this.#hasRoom(id));
  }

  /** Counts a machine on a host. */
  take(hostId: string): void {
    this.#own.set(hostId, (this.#own.get(hostId) ?? 0) + 1);
    this.#usage.set(hostId, (this.#usage.get(hostId) ?? 0) + 1);
  }

  /** Takes the least used host for a machine. @returns `undefined` if no host may have another one */
  give(): string | undefined {
    let best: MachineHost | undefined;
    for (const host of this.#hosts) {
      if (!this.#hasRoom(host.id)) continue;
      if (best === undefined || this.#isLess(host, best)) best = host;
    }
    if (best !== undefined) this.take(best.id);
    return best?.id;
  }

  #hasRoom(hostId: string): boolean {
    return (this.#own.get(hostId) ?? 0) < this.#perHost;
  }

  #isLess(a: MachineHost, b: MachineHost): boolean {
    const [ownA, ownB] = [a, b].map(({ id }) => this.#own.get(id) ?? 0);
    if (ownA !== ownB) return (ownA ?? 0) < (ownB ?? 0);
    return (this.#usage.get(a.id) ?? 0) < (this.#usage.get(b.id) ?? 0);
  }
}

/** How many machines of a role may stay. */
type SurplusLimit =
  | { readonly total: number }
  | {
      /** For each host. Machines without a known host stay, because they may be those that a host lacks. */
      readonly perHost: (hostId: string) => number;
      /** Whether no host may have any: then the others go, too. */
      readonly isNone: boolean;
    };

/**
 * Picks the machines that are too many, in the order in which they should go: those whose removal has begun; then those
 * that no object uses; then those that were never made, or never complete; then those on the host with the most; then
 * the highest index.
 */
export function pickSurplus(
  machines: readonly KnownMachine[],
  limit: SurplusLimit,
): KnownMachine[] {
  const removing = machines
    .filter(({ isRemoving }) => isRemoving)
    .toSorted((a, b) => b.index - a.index);
  const others = machines.filter(({ isRemoving }) => !isRemoving);
  if ("total" in limit) return [...removing, ...pick(others, others.length - limit.total)];
  const byHost = Map.groupBy(others, ({ hostId }) => hostId);
  const surplus = [...byHost].flatMap(([hostId, here]) => {
    const most = hostId === undefined ? (limit.isNone ? 0 : Infinity) : limit.perHost(hostId);
    return pick(here, here.length - most);
  });
  return [...removing, ...surplus.toSorted((a, b) => b.index - a.index)];
}

function pick(machines: readonly KnownMachine[], count: number): KnownMachine[] {
  const left = new Set(machines);
  const crowd = new Map<string, number>();
  for (const { hostId = "" } of left) crowd.set(hostId, (crowd.get(hostId) ?? 0) + 1);
  const picked: KnownMachine[] = [];
  while (picked.length < count) {
    let next: KnownMachine | undefined;
    for (const one of left) if (next === undefined || goesBefore(one, next, crowd)) next = one;
    if (next === undefined) break;
    left.delete(next);
    picked.push(next);
    const { hostId = "" } = next;
    crowd.set(hostId, (crowd.get(hostId) ?? 0) - 1);
  }
  return picked;
}

/**
 * What would be lost. A cloud that shows no machines must not make one of them worth as little as one that was never
 * made: the choice would stand when they are shown again.
 */
function toWorth(one: KnownMachine): 0 | 1 | 2 {
  if (wasComplete(one)) return 2;
  return one.machine === undefined && one.entry?.machineId === undefined ? 0 : 1;
}

function goesBefore(a: KnownMachine, b: KnownMachine, crowd: ReadonlyMap<string, number>): boolean {
  const ranks = [a, b].map((one) => [
    one.isConsumed ? 1 : 0,
    toWorth(one),
    -(crowd.get(one.hostId ?? "") ?? 0),
    -one.index,
  ]);
  const [of = [], than = []] = ranks;
  for (const [at, rank] of of.entries()) {
    const other = than[at] ?? 0;
    if (rank !== other) return rank < other;
  }
  return false;
}
