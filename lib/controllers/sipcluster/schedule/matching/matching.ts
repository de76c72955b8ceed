/**
 * Chooses hosts for all roles at once.
 * @module
 */
import type { Key } from "../../../../kube/cache/store.ts";
import {
  type Demand,
  type GroupPick,
  type NumberedGroup,
  Occupancy,
  type Problem,
  sum,
} from "./problem.ts";
import { limitByKeys } from "./relaxation.ts";
import { searchPicks } from "./search.ts";

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
