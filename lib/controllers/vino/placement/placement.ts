/**
 * Decides which machines a Vino wants, on which hosts, and which ones are too many. Pure.
 *
 * A machine that exists keeps its index and its host. Only the numbers of the spec make machines too many: a host that
 * the cloud does not show, that is disabled, or that lost its name or its tag is no reason for fewer machines.
 * @module
 */
import type { MachineHost, MachinePool } from "../../../cloud/capabilities/machines.ts";
import { nameSome } from "../../kinds/problems.ts";
import type { VinoHosts, VinoNode, XenOrchestraBlock } from "../resource/vino.ts";
import { isChosen, isExcluded, listUnmatched } from "./choice.ts";
import { compareKnown, type KnownMachine } from "./known.ts";
import { pickSurplus } from "./surplus.ts";

/** How many machines of a role are wanted, and where. */
export interface RoleDemand {
  readonly role: string;
  readonly count: number;
  readonly countPer: NonNullable<XenOrchestraBlock["countPer"]>;
  readonly hosts: VinoHosts;
}

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

/** Machines that are wanted, and cannot be begun now. */
export interface Shortage {
  readonly role: string;
  readonly missing: number;
  /** `noHosts`: the spec names hosts, and there are none; a person must correct one of both. */
  readonly kind: "noHosts" | "noRoom";
  /** Why, and what to do; no full stop. */
  readonly why: string;
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
  const surplus = pickSurplus(
    ours,
    countPer === "Total"
      ? { total: count }
      : {
          perHost: (hostId) => (isExcluded(hostId, demand.hosts) ? 0 : count),
          isNone: count === 0,
        },
  );
  const gone = new Set(surplus);
  const kept = ours.filter((one) => !gone.has(one));
  const used = new Set(ours.map(({ index }) => index));
  const seats = new Seats(chosen, shared.usage);
  const wanted: PlacedMachine[] = [];
  const homeless: KnownMachine[] = [];
  for (const known of kept) {
    if (mayMove(known, input)) homeless.push(known);
    else {
      wanted.push(toPlaced(known));
      if (known.hostId !== undefined) seats.take(known.hostId);
    }
  }
  const perHost = countPer === "Host" ? count : Infinity;
  for (const known of homeless) {
    const hostId = seats.give(perHost);
    wanted.push({ ...toPlaced(known), ...(hostId !== undefined && { hostId }) });
  }
  const shownIds = new Set(chosen.map(({ id }) => id));
  const elsewhere = kept.filter(
    (one) => !homeless.includes(one) && !shownIds.has(one.hostId ?? ""),
  ).length;
  const wantedCount =
    countPer === "Total" ? count : Math.max(kept.length, count * chosen.length + elsewhere);
  let missing = wantedCount - kept.length;
  let index = 0;
  while (missing > 0 && shared.room.left > 0) {
    const hostId = seats.give(perHost);
    if (hostId === undefined) break;
    while (used.has(index)) index += 1;
    used.add(index);
    wanted.push({ role, index, hostId });
    shared.room.left -= 1;
    missing -= 1;
  }
  const unmatched = count === 0 ? [] : listUnmatched(inPool, demand.hosts);
  // Without hosts and machines, a count for each host is zero, which is a mistake.
  const isNowhere = count > 0 && chosen.length === 0 && (missing > 0 || kept.length === 0);
  const shortage = isNowhere
    ? toNowhere(demand, Math.max(missing, count), { unmatched, pool: input.pool })
    : missing > 0 && explain(role, missing, { chosen, shared });
  return {
    wanted: wanted.toSorted(compareKnown),
    surplus,
    shortages: shortage ? [shortage] : [],
    notices: isNowhere ? [] : listNotices(unmatched, input.pool),
    wantedCount,
  };
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

function toNowhere(
  { role }: RoleDemand,
  missing: number,
  { unmatched, pool }: { readonly unmatched: readonly string[]; readonly pool: MachinePool },
): Shortage {
  const { name, isComplete } = pool;
  if (!isComplete) {
    return { role, missing, kind: "noRoom", why: `pool ${name} is disconnected or still loading` };
  }
  if (unmatched.length === 0) {
    return { role, missing, kind: "noHosts", why: `pool ${name} shows no host. Check the pool` };
  }
  const what = `pool ${name} shows no host with ${nameSome(unmatched)}`;
  const advice = "Correct xenOrchestra.hosts, or add the tag to a host";
  return { role, missing, kind: "noHosts", why: `${what}. ${advice}` };
}

/** A pool that does not answer in full may have the hosts. */
function listNotices(unmatched: readonly string[], { name, isComplete }: MachinePool): string[] {
  if (unmatched.length === 0 || !isComplete) return [];
  return [`Pool ${name} shows no host with ${nameSome(unmatched)} of xenOrchestra.hosts`];
}

function explain(
  role: string,
  missing: number,
  { chosen, shared }: { readonly chosen: readonly MachineHost[]; readonly shared: Shared },
): Shortage {
  if (shared.room.left <= 0) {
    return {
      role,
      missing,
      kind: "noRoom",
      why: "Landfall makes them when others are gone: a Vino has a largest number",
    };
  }
  const off = chosen.filter(({ isEnabled }) => !isEnabled).map(({ name, id }) => `${name} (${id})`);
  const why = `these hosts are disabled: ${off.slice(0, 5).join(", ")}. Enable them`;
  return { role, missing, kind: "noRoom", why };
}

function compareHosts(a: MachineHost, b: MachineHost): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** The hosts of a role, and how many machines each has. */
class Seats {
  readonly #hosts: readonly MachineHost[];
  /** Machines of all roles by host. */
  readonly #usage: Map<string, number>;
  /** Machines of this role by host. */
  readonly #own = new Map<string, number>();

  constructor(hosts: readonly MachineHost[], usage: Map<string, number>) {
    this.#hosts = hosts.filter(({ isEnabled }) => isEnabled);
    this.#usage = usage;
  }

  /** Counts a machine on a host. */
  take(hostId: string): void {
    this.#own.set(hostId, (this.#own.get(hostId) ?? 0) + 1);
    this.#usage.set(hostId, (this.#usage.get(hostId) ?? 0) + 1);
  }

  /** The least used host with fewer machines of the role than so many. `undefined`: there is none. */
  give(perHost: number): string | undefined {
    let best: MachineHost | undefined;
    for (const host of this.#hosts) {
      if ((this.#own.get(host.id) ?? 0) >= perHost) continue;
      if (best === undefined || this.#isLess(host, best)) best = host;
    }
    if (best !== undefined) this.take(best.id);
    return best?.id;
  }

  #isLess(a: MachineHost, b: MachineHost): boolean {
    const [ownA, ownB] = [a, b].map(({ id }) => this.#own.get(id) ?? 0);
    if (ownA !== ownB) return (ownA ?? 0) < (ownB ?? 0);
    return (this.#usage.get(a.id) ?? 0) < (this.#usage.get(b.id) ?? 0);
  }
}
