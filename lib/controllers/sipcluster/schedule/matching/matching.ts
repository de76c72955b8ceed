/**
 * Chooses hosts for all roles at once.
 * @module
 */
import type { Key } from "../../../../kube/cache/store.ts";
import { exchangePicks } from "./exchange.ts";
import { listByConstraint, pickGreedily } from "./greedy.ts";
import { countAtMost, countLimits } from "./layers.ts";
import type { Demand, GroupPick, Problem } from "./problem.ts";
import {
  listAsked,
  listOpen,
  type OpenGroup,
  reduceProblem,
  toOriginalPicks,
  toReducedPicks,
} from "./reduction.ts";
import { searchPicks } from "./search.ts";

/** How far a search goes. */
interface SearchLimits {
  /** About how many edges of networks it looks at. */
  readonly maxSteps: number;
  /** Of so many groups, it looks only at some in each domain. */
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

/** How much of the steps the first exchanges may take. */
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
  const found = areIndependent(problem)
    ? problem.needs.map((_, role) => findPicks(toRoleProblem(problem, role), limits))
    : [findPicks(problem, limits)];
  const all = found.flatMap(({ picks }) => picks);
  return {
    picks: toHosts(all, problem),
    isFull: all.length === problem.needs.reduce((sum, need) => sum + need, 0),
    isProven: found.every(({ isProven }) => isProven),
  };
}

/** A choice, and whether there is no better one. */
interface Found {
  readonly picks: readonly GroupPick[];
  readonly isProven: boolean;
}

function findPicks(problem: Problem, limits: SearchLimits): Found {
  const greedy = pickGreedily(problem);
  const isBest = greedy.length === countPossible(problem);
  return isBest ? { picks: greedy, isProven: true } : searchFrom(problem, greedy, limits);
}

/** Whether roles neither share hosts nor domains: then each is a problem of its own. */
function areIndependent({ orders, sharesDomains }: Problem): boolean {
  const roles: number[] = [];
  for (const [role, groups] of orders.entries()) {
    for (const group of groups) {
      if ((roles[group] ?? role) !== role) return false;
      roles[group] = role;
    }
  }
  return !sharesDomains;
}

function toRoleProblem(problem: Problem, role: number): Problem {
  const { needs, orders } = problem;
  return {
    ...problem,
    needs: needs.map((need, at) => (at === role ? need : 0)),
    orders: orders.map((groups, at) => (at === role ? groups : [])),
  };
}

/** The smaller of what each role needs and has to choose from. */
function countPossible({ needs, orders }: Problem): number {
  return needs.reduce((sum, need, role) => sum + Math.min(need, orders[role]?.length ?? 0), 0);
}

function searchFrom(
  problem: Problem,
  greedy: readonly GroupPick[],
  { maxSteps, maxGroups }: SearchLimits,
): Found {
  const asked = listAsked(problem.orders);
  if (asked.length > maxGroups) {
    const full = searchAmong(problem, greedy, { groups: sample(asked, maxGroups / 3), maxSteps });
    if (full !== undefined) return { picks: full, isProven: true };
  }
  const open = listOpen(problem, asked);
  const openLimits = countLimits(open, problem);
  const most = countAtMost(open, problem, openLimits);
  if (greedy.length === most) return { picks: greedy, isProven: true };
  const domains = openLimits.flat().reduce((sum, one) => sum + one.domains.size, 0);
  const share = Math.ceil(maxGroups / Math.max(1, domains));
  const some = chooseGroups(open, greedy, { max: maxGroups, share });
  const reduced = reduceProblem(some, problem);
  const limits = countLimits(reduced.groups, problem);
  const atMost = Math.min(most, countAtMost(reduced.groups, problem, limits));
  // Cheap, and often enough: without it, each tight choice would need a network.
  const start = exchangePicks(reduced, toReducedPicks(greedy, reduced), {
    goal: atMost,
    maxSteps: maxSteps * FIRST_SHARE,
  });
  const found =
    start.picks.length === atMost
      ? { picks: start.picks, isProven: true }
      : searchPicks(reduced, { start: start.picks, limits, maxSteps: maxSteps - start.steps });
  const isComplete = some.length === open.length || found.picks.length === most;
  // Of equal choices, the one of the preferred hosts.
  const isBetter = found.picks.length > greedy.length;
  return {
    picks: isBetter ? toOriginalPicks(found.picks, reduced) : greedy,
    isProven: found.isProven && isComplete,
  };
}

/** Searches among these groups, and those of the picks. Undefined: that does not fill all roles. */
function searchAmong(
  problem: Problem,
  picks: readonly GroupPick[],
  { groups, maxSteps }: { readonly groups: readonly number[]; readonly maxSteps: number },
): readonly GroupPick[] | undefined {
  const among = new Set([...picks.map(({ group }) => group), ...groups]);
  const reduced = reduceProblem(listOpen(problem, among), problem);
  const found = searchPicks(reduced, {
    start: toReducedPicks(picks, reduced),
    limits: countLimits(reduced.groups, problem),
    maxSteps: maxSteps * FIRST_SHARE,
  });
  const wanted = problem.needs.reduce((sum, need) => sum + need, 0);
  return found.picks.length === wanted ? toOriginalPicks(found.picks, reduced) : undefined;
}

/** About so many of these numbers, evenly from the first to the last. */
function sample(all: readonly number[], count: number): readonly number[] {
  const stride = Math.ceil(all.length / count);
  return all.filter((_, at) => at % stride === 0);
}

/** All groups; or of too many, those chosen so far, and others while one of their domains has fewer than `share`. */
function chooseGroups(
  open: readonly OpenGroup[],
  picks: readonly GroupPick[],
  { max, share }: { readonly max: number; readonly share: number },
): readonly OpenGroup[] {
  if (open.length <= max) return open;
  const picked = new Set(picks.map(({ group }) => group));
  const counts: number[] = [];
  let left = max - picked.size;
  return open.filter(({ group, demands }) => {
    const isPicked = picked.has(group);
    const ofGroup = listDomains(demands);
    if (!isPicked && (left <= 0 || !ofGroup.some((domain) => (counts[domain] ?? 0) < share))) {
      return false;
    }
    for (const domain of ofGroup) counts[domain] = (counts[domain] ?? 0) + 1;
    left -= isPicked ? 0 : 1;
    return true;
  });
}

function listDomains(demands: readonly (Demand | undefined)[]): readonly number[] {
  const domains: number[] = [];
  for (const demand of demands) {
    for (const domain of demand?.alone ?? []) if (domain >= 0) domains.push(domain);
  }
  return domains;
}

/** Gives the preferred hosts of each group to the most constrained role. */
function toHosts(picks: readonly GroupPick[], problem: Problem): readonly (readonly Key[])[] {
  const used = new Map<number, number>();
  const hosts: Key[][] = problem.needs.map(() => []);
  for (const role of listByConstraint(problem)) {
    for (const pick of picks.filter((pick) => pick.role === role)) {
      const at = used.get(pick.group) ?? 0;
      used.set(pick.group, at + 1);
      const host = problem.groups[pick.group]?.hosts[at];
      if (host !== undefined) hosts[role]?.push(host);
    }
  }
  return hosts;
}
