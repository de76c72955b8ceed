/**
 * Chooses hosts for all roles at once: which hosts can serve which roles, and the choice that leaves the fewest places
 * empty, by branch and bound. Free of Kubernetes.
 * @module
 */
import { FlowNetwork } from "./flow.ts";
import type { Key } from "../../../kube/cache/store.ts";

/** The domains that a host takes in a role. */
export interface Demand {
  /** It must be the only one in each. By the number of the topology key; -1: the role has not this key, or the host. */
  readonly alone: readonly number[];
  /** It is in each, and must not meet a host that must be alone. */
  readonly beside: readonly number[];
}

/** Hosts between which nothing decides. */
export interface Group {
  /** The preferred first. */
  readonly hosts: readonly Key[];
  /** By the index of the role; undefined if they do not suit the role. */
  readonly demands: readonly (Demand | undefined)[];
}

/** A group with its number in a problem, and the demands that nothing refuses. */
interface NumberedGroup extends Group {
  readonly number: number;
}

/** Choose `needs[r]` different hosts for each role r, whose demands all hold beside what is occupied. */
export interface Problem {
  /** By the index of the role. */
  readonly needs: readonly number[];
  readonly groups: readonly Group[];
  /**
   * By the index of the role: the group of each host that suits it, the preferred first. Hosts of one group come in the
   * order of the group.
   */
  readonly orders: readonly (readonly number[])[];
  /** The demands of the hosts that stay. They may break each other's. */
  readonly held: readonly Demand[];
}

/** One host of the group for the role, both by their index. */
interface GroupPick {
  readonly role: number;
  readonly group: number;
  readonly demand: Demand;
}

/** What stands in the way of a pick: nothing, one other pick, or more. */
type Clash = GroupPick | "several" | undefined;

/** Who is in which domain. */
class Occupancy {
  readonly #alone: GroupPick[][] = [];
  readonly #beside: GroupPick[][] = [];

  constructor(held: readonly Demand[] = []) {
    for (const demand of held) this.add({ role: -1, group: -1, demand });
  }

  add(pick: GroupPick): void {
    for (const domain of pick.demand.alone) {
      if (domain >= 0) (this.#alone[domain] ??= []).push(pick);
    }
    for (const domain of pick.demand.beside) (this.#beside[domain] ??= []).push(pick);
  }

  remove(pick: GroupPick): void {
    const drop = (list: GroupPick[] = []): unknown => list.splice(list.indexOf(pick), 1);
    for (const domain of pick.demand.alone) if (domain >= 0) drop(this.#alone[domain]);
    for (const domain of pick.demand.beside) drop(this.#beside[domain]);
  }

  /** Whether nothing stands in the way of a demand. */
  allows(demand: Demand): boolean {
    return this.findClash(demand) === undefined;
  }

  findClash({ alone, beside }: Demand): Clash {
    let clash: Clash;
    for (const domain of alone) {
      if (domain < 0) continue;
      clash = join(join(clash, this.#alone[domain]), this.#beside[domain]);
    }
    for (const domain of beside) clash = join(clash, this.#alone[domain]);
    return clash;
  }
}

function join(clash: Clash, others: readonly GroupPick[] | undefined): Clash {
  const other = others?.[0];
  if (others === undefined || other === undefined) return clash;
  return others.length > 1 || (clash !== undefined && clash !== other) ? "several" : other;
}

/** All of them together. */
function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The best choice that was found. */
interface Found {
  readonly picks: readonly GroupPick[];
  /** Whether no choice leaves fewer places empty, or at least none fills all. */
  readonly isProven: boolean;
}

/** How a search goes, and when it ends. */
interface SearchOptions {
  readonly needs: readonly number[];
  readonly layers: Layers;
  /** A choice that fits. */
  readonly start: readonly GroupPick[];
  /** About how many edges of networks it may look at. */
  readonly maxSteps: number;
}

/** For so many exchanges, a host that was dropped is not taken again. */
const REST = 12;

/**
 * Searches for a choice of more picks than the one at the start.
 *
 * Each node of the search asks for the largest flow ({@linkcode relax}). If that is no better than the best known
 * choice, nothing below the node is. If its picks do not clash, it is the best below the node. Otherwise the search
 * takes one pick that clashes, then forbids it: together that is every choice, so a search that ends by itself is
 * exact. Before it branches, it exchanges picks: that often is enough, if there is hardly a place to spare.
 */
function searchPicks(groups: readonly NumberedGroup[], options: SearchOptions): Found {
  return new Search(groups, options).run();
}

class Search {
  /** By group. */
  readonly #picks: readonly (readonly GroupPick[])[];
  readonly #layers: Layers;
  readonly #maxSteps: number;
  readonly #occupancy = new Occupancy();
  readonly #needs: number[];
  readonly #room: number[] = [];
  readonly #chosen: GroupPick[] = [];
  readonly #forbidden = new Set<GroupPick>();
  #best: readonly GroupPick[];
  #steps = 0;

  constructor(groups: readonly NumberedGroup[], { needs, layers, start, maxSteps }: SearchOptions) {
    this.#picks = groups.map(({ number, demands }) =>
      demands.flatMap((demand, role) => (demand ? [{ role, group: number, demand }] : [])),
    );
    this.#layers = layers;
    this.#maxSteps = maxSteps;
    this.#needs = [...needs];
    for (const { number, hosts } of groups) this.#room[number] = hosts.length;
    this.#best = start;
  }

  run(): Found {
    const wanted = sum(this.#needs);
    const picks = this.#relax();
    const atMost = picks.length;
    const clash = this.#tryAll(picks);
    this.#exchange(atMost, (this.#maxSteps + this.#steps) / 2);
    this.#branch(clash, atMost);
    const isBest = this.#best.length === atMost || this.#steps < this.#maxSteps;
    return { picks: this.#best, isProven: isBest || atMost < wanted };
  }

  #relax(): readonly GroupPick[] {
    const open = this.#picks
      .map((picks) => picks.filter((pick) => this.#allows(pick) && !this.#forbidden.has(pick)))
      .filter(({ length }) => length > 0);
    const { picks, steps } = relax({ needs: this.#needs, room: this.#room, open }, this.#layers);
    this.#steps += steps + this.#picks.length;
    return picks;
  }

  /** Looks at all choices with a pick that clashes with others, then at all without it. */
  #branch(pick: GroupPick | undefined, goal: number): void {
    const isOver = (): boolean => this.#best.length >= goal || this.#steps >= this.#maxSteps;
    if (pick === undefined || isOver()) return;
    this.#take(pick);
    this.#explore(goal);
    this.#drop(pick);
    if (isOver()) return;
    this.#forbidden.add(pick);
    this.#explore(goal);
    this.#forbidden.delete(pick);
  }

  #explore(goal: number): void {
    const picks = this.#relax();
    if (this.#chosen.length + picks.length > this.#best.length) {
      this.#branch(this.#tryAll(picks), goal);
    }
  }

  /** Remembers these picks if that is the best so far, without those that clash. Returns the first that does. */
  #tryAll(picks: readonly GroupPick[]): GroupPick | undefined {
    const before = this.#chosen.length;
    let clash: GroupPick | undefined;
    for (const pick of picks) {
      if (this.#allows(pick)) this.#take(pick);
      else clash ??= pick;
    }
    this.#finish(before);
    return clash;
  }

  /** Remembers what is chosen if that is the best so far, and undoes all but the first picks. */
  #finish(before: number): void {
    if (this.#chosen.length > this.#best.length) this.#best = [...this.#chosen];
    for (const pick of this.#chosen.slice(before).reverse()) this.#drop(pick);
  }

  /**
   * Takes a host that meets one other, drops that one, and fills the place that became free: again and again. That
   * never makes the picks fewer.
   */
  #exchange(goal: number, maxSteps: number): void {
    const picks = this.#picks.flat();
    const inDomain = new Map<number, GroupPick[]>();
    for (const pick of picks) {
      for (const domain of listDomains(pick.demand)) {
        const known = inDomain.get(domain);
        if (known === undefined) inDomain.set(domain, [pick]);
        else known.push(pick);
      }
    }
    /** The exchange until which a pick rests. */
    const rests = new Map<GroupPick, number>();
    for (const pick of this.#best) this.#take(pick);
    let cursor = 0;
    for (let round = 1; this.#chosen.length < goal && this.#steps < maxSteps; round += 1) {
      let pick: GroupPick | undefined;
      let clash: Clash = "several";
      for (let tried = 0; tried < picks.length && clash === "several"; tried += 1) {
        pick = picks[cursor];
        cursor = (cursor + 1) % picks.length;
        this.#steps += 1;
        const isOffered =
          pick && (this.#needs[pick.role] ?? 0) > 0 && (rests.get(pick) ?? 0) <= round;
        if (pick && isOffered) clash = this.#findClash(pick);
      }
      if (pick === undefined || clash === "several") break;
      if (clash) {
        this.#steps += this.#chosen.length / 64;
        this.#drop(clash);
        rests.set(clash, round + REST);
      }
      this.#take(pick);
      for (const domain of clash ? listDomains(clash.demand) : []) {
        for (const other of inDomain.get(domain) ?? []) {
          this.#steps += 2;
          if (this.#allows(other)) this.#take(other);
        }
      }
    }
    this.#finish(0);
  }

  /** What must be dropped for a pick. */
  #findClash({ group, demand }: GroupPick): Clash {
    this.#steps += 4;
    const clash = this.#occupancy.findClash(demand);
    if ((this.#room[group] ?? 0) > 0) return clash;
    if (clash === undefined) return this.#chosen.find((other) => other.group === group);
    return clash !== "several" && clash.group === group ? clash : "several";
  }

  /** Whether a pick is needed, and fits those that are chosen. */
  #allows({ role, group, demand }: GroupPick): boolean {
    const isNeeded = (this.#needs[role] ?? 0) > 0 && (this.#room[group] ?? 0) > 0;
    return isNeeded && this.#occupancy.allows(demand);
  }

  #take(pick: GroupPick): void {
    this.#occupancy.add(pick);
    this.#chosen.push(pick);
    this.#count(pick, -1);
  }

  #drop(pick: GroupPick): void {
    this.#occupancy.remove(pick);
    this.#chosen.splice(this.#chosen.lastIndexOf(pick), 1);
    this.#count(pick, 1);
  }

  #count({ role, group }: GroupPick, by: 1 | -1): void {
    this.#needs[role] = (this.#needs[role] ?? 0) + by;
    this.#room[group] = (this.#room[group] ?? 0) + by;
  }
}

function listDomains({ alone, beside }: Demand): readonly number[] {
  return [...alone, ...beside].filter((domain) => domain >= 0);
}

/** By the index of the role: the topology keys that a flow respects before and after the host. -1: none. */
type Layers = readonly { readonly first: number; readonly second: number }[];

/** What single topology keys allow: one host in each domain, and all hosts in none. */
interface KeyLimits {
  /** The keys that limit most. A key whose domains roles share comes after the host, where roles meet. */
  readonly layers: Layers;
  /** A number of picks that no choice exceeds. */
  readonly atMost: number;
}

/** Counts the domains of each key. */
function limitByKeys(groups: readonly Group[], needs: readonly number[]): KeyLimits {
  const [some] = groups[0]?.demands.filter((demand) => demand !== undefined) ?? [];
  const keys = [...(some?.alone ?? []).keys()];
  const toSets = (): readonly Set<number>[] => keys.map(() => new Set());
  const all = toSets();
  const ofRoles = needs.map(toSets);
  let last = -1;
  for (const { hosts, demands } of groups) {
    demands.forEach((demand, role) => {
      demand?.alone.forEach((domain, key) => {
        // A host in no domain counts as alone in one.
        for (const one of domain < 0 ? hosts.map(() => (last -= 1)) : [domain]) {
          ofRoles[role]?.[key]?.add(one);
          all[key]?.add(one);
        }
      });
    });
  }
  const sizes = all.map(({ size }) => size);
  const sizesOf = ofRoles.map((sets) => sets.map(({ size }) => size));
  const rank = (counts: readonly number[], among = keys): readonly number[] =>
    among.toSorted((one, other) => (counts[one] ?? 0) - (counts[other] ?? 0));
  const isShared = (key: number): boolean =>
    (sizes[key] ?? 0) < sum(sizesOf.map((ofRole) => ofRole[key] ?? 0));
  const [shared] = rank(sizes, keys.filter(isShared));
  const layers = sizesOf.map((ofRole) => {
    const ranked = rank(ofRole);
    const second = shared ?? ranked[1] ?? -1;
    return { first: ranked.find((key) => key !== second) ?? -1, second };
  });
  const byRole = needs.map((need, role) => Math.min(need, ...(sizesOf[role] ?? [])));
  return { layers, atMost: Math.min(...sizes, sum(byRole)) };
}

/** What can still be chosen. */
interface Open {
  readonly needs: readonly number[];
  /** By group: how many hosts are left. */
  readonly room: readonly number[];
  /** By group: what can be picked. */
  readonly open: readonly (readonly GroupPick[])[];
}

/** Picks, and what finding them cost. */
interface Relaxed {
  readonly picks: readonly GroupPick[];
  /** Edges of networks. */
  readonly steps: number;
}

/**
 * Chooses as many as possible, and maybe some that clash in keys that are ignored.
 *
 * Hosts flow from roles to the sink: first through a domain of the role, then through the host, then through another
 * domain, if it is the same for all roles that the host suits. So nothing is ignored with one key for each role, nor
 * with two keys while hosts suit one role only.
 */
function relax({ needs, room, open }: Open, layers: Layers): Relaxed {
  const network = new FlowNetwork();
  const { source, sink } = network;
  const nodes = new Map<number, number>();
  /** A node that is connected once. */
  const nodeOf = (name: number, connect: (node: number) => unknown): number => {
    let node = nodes.get(name);
    if (node === undefined) {
      nodes.set(name, (node = network.addNode()));
      connect(node);
    }
    return node;
  };
  const kinds = needs.length + 1;
  const enter = (role: number, domain: number): number =>
    domain < 0
      ? nodeOf(-1 - role, (node) => network.addEdge(source, node, needs[role] ?? 0))
      : nodeOf(domain * kinds + role, (node) => network.addEdge(enter(role, -1), node, 1));
  const leave = (domain: number): number =>
    domain < 0
      ? sink
      : nodeOf(domain * kinds + needs.length, (node) => network.addEdge(node, sink, 1));
  const entries = open.flatMap((picks) => {
    const node = network.addNode();
    const size = room[picks[0]?.group ?? -1] ?? 0;
    const ends = picks.map(({ role, demand }) => demand.alone[layers[role]?.second ?? -1] ?? -1);
    const isOne = ends.every((end) => end === ends[0]);
    network.addEdge(node, leave(isOne ? (ends[0] ?? -1) : -1), size);
    return picks.map((pick) => {
      const {
        role,
        demand: { alone },
      } = pick;
      const most = alone.some((domain) => domain >= 0) ? 1 : size;
      const from = enter(role, alone[layers[role]?.first ?? -1] ?? -1);
      return { pick, edge: network.addEdge(from, node, most) };
    });
  });
  network.maximize();
  const chosen = entries.flatMap(({ pick, edge }) =>
    Array.from({ length: network.flowOf(edge) }, () => pick),
  );
  return { picks: chosen, steps: network.steps };
}

/** How far a search goes. */
interface SearchLimits {
  /** About how many edges of networks it looks at. */
  readonly maxSteps: number;
  /** Of more groups, it looks only at some. */
  readonly maxGroups: number;
}

/** The best choice that was found. */
export interface Matching {
  /** The chosen hosts, by the index of the role. */
  readonly picks: readonly (readonly Key[])[];
  /** Whether every role gets what it needs. */
  readonly isFull: boolean;
  /** False if the search ended at its limit: then another choice might fill all roles. */
  readonly isProven: boolean;
}

/** How many of too many groups, and of the steps, a first look takes: cheap, and often enough. */
const FIRST_SHARE = 0.2;

/**
 * Chooses the preferred hosts if they fit, role by role. If that leaves a place empty, it searches.
 *
 * Guaranteed: what it chooses always fits, and the same problem always gets the same answer. Within the limits, it
 * finds a choice that fills all roles if there is one, and else one that leaves the fewest places empty. One flow is
 * enough if each role has one topology key, of its own or the same, or two while no host suits two roles. With more
 * keys (from three on, the problem is NP-hard) a search may end at a limit: then `isProven` says so.
 */
export function findMatching(problem: Problem, limits: SearchLimits): Matching {
  const { needs, orders } = problem;
  const wanted = sum(needs);
  const possible = needs.map((need, role) => Math.min(need, orders[role]?.length ?? 0));
  const greedy = pickGreedily(problem);
  const isProven = greedy.length === sum(possible);
  let best: Choice = { picks: greedy, isProven };
  const asked = isProven ? [] : listAsked(orders);
  const { maxSteps, maxGroups } = limits;
  if (asked.length > maxGroups) {
    const stride = Math.ceil(asked.length / (maxGroups * FIRST_SHARE));
    const some = asked.filter((_, at) => at % stride === 0);
    const first = { start: greedy, maxSteps: maxSteps * FIRST_SHARE, maxGroups };
    const { picks } = search(problem, some, first);
    best = { picks, isProven: picks.length === wanted };
  }
  if (!best.isProven) best = search(problem, asked, { start: best.picks, ...limits });
  const isFull = best.picks.length === wanted;
  return { picks: toHosts(best.picks, problem), isFull, isProven: best.isProven };
}

/** Hosts that fit each other, and whether no choice has more. */
interface Choice {
  readonly picks: readonly GroupPick[];
  readonly isProven: boolean;
}

/** The indices of roles, the most constrained first: those with the fewest hosts to spare. */
function listByConstraint({ needs, orders }: Problem): readonly number[] {
  const spare = needs.map((need, role) => (orders[role]?.length ?? 0) - need);
  return [...needs.keys()].sort((a, b) => (spare[a] ?? 0) - (spare[b] ?? 0) || a - b);
}

/** Takes the preferred hosts as long as they fit: enough for most clusters, and it takes what a person expects. */
function pickGreedily(problem: Problem): readonly GroupPick[] {
  const { needs, groups, orders, held } = problem;
  const occupancy = new Occupancy(held);
  const used: number[] = [];
  const picks: GroupPick[] = [];
  for (const role of listByConstraint(problem)) {
    // Before this role, and seen by it: hosts of the group that other roles took are passed over.
    const before = [...used];
    const seen: number[] = [];
    const isClosed: boolean[] = [];
    let need = needs[role] ?? 0;
    for (const group of orders[role] ?? []) {
      if (need === 0) break;
      if (isClosed[group] === true) continue;
      seen[group] = (seen[group] ?? 0) + 1;
      if ((seen[group] ?? 0) <= (before[group] ?? 0)) continue;
      const demand = groups[group]?.demands[role];
      if (demand === undefined || !occupancy.allows(demand)) isClosed[group] = true;
      else {
        const pick = { role, group, demand };
        occupancy.add(pick);
        used[group] = (used[group] ?? 0) + 1;
        picks.push(pick);
        need -= 1;
      }
    }
  }
  return picks;
}

/** The groups that a role may choose from, in the order of their numbers. */
function listAsked(orders: Problem["orders"]): readonly number[] {
  const isAsked: boolean[] = [];
  for (const ofRole of orders) for (const group of ofRole) isAsked[group] = true;
  return [...isAsked.keys()].filter((group) => isAsked[group] === true);
}

/** Searches these groups for more picks than those at the start. */
function search(
  problem: Problem,
  among: readonly number[],
  { start, maxSteps, maxGroups }: SearchLimits & { readonly start: Choice["picks"] },
): Choice {
  const { needs } = problem;
  const open = listOpen(problem, among);
  const { layers, atMost } = limitByKeys(open, needs);
  if (start.length >= atMost) return { picks: start, isProven: true };
  const stride = Math.ceil(open.length / maxGroups);
  const picked = new Set(start.map(({ group }) => group));
  const groups = open.filter(({ number }, at) => at % stride === 0 || picked.has(number));
  const { picks, isProven } = searchPicks(groups, { needs, layers, start, maxSteps });
  const isAll = groups.length === open.length;
  return { picks, isProven: picks.length === atMost || (isProven && isAll) };
}

/** What can be chosen from these groups of a problem: it can only clash with one another. */
function listOpen(
  { needs, groups, held }: Problem,
  among: readonly number[],
): readonly NumberedGroup[] {
  const occupancy = new Occupancy(held);
  const open: NumberedGroup[] = [];
  for (const number of among) {
    const { hosts = [], demands = [] } = groups[number] ?? {};
    const fitting: (Demand | undefined)[] = [];
    let isOpen = false;
    for (let role = 0; role < demands.length; role += 1) {
      const demand = needs[role] === 0 ? undefined : demands[role];
      const fits = demand !== undefined && occupancy.allows(demand);
      fitting.push(fits ? demand : undefined);
      isOpen ||= fits;
    }
    if (isOpen) open.push({ number, hosts, demands: fitting });
  }
  return open;
}

/** Gives the preferred hosts of each group to the most constrained role. */
function toHosts(picks: readonly GroupPick[], problem: Problem): Matching["picks"] {
  const used: number[] = [];
  const hosts: Key[][] = problem.needs.map(() => []);
  for (const role of listByConstraint(problem)) {
    for (const { group } of picks.filter((pick) => pick.role === role)) {
      const at = (used[group] = (used[group] ?? 0) + 1);
      hosts[role]?.push(...(problem.groups[group]?.hosts.slice(at - 1, at) ?? []));
    }
  }
  return hosts;
}
