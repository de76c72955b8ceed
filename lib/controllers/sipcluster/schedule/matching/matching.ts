/**
 * Chooses candidates for all roles at once.
 * @module
 */
import { countPicks, listByConstraint, pickGreedily } from "./greedy.ts";
import { exchangePicks } from "./exchange.ts";
import { groupCandidates, type GroupedProblem } from "./groups.ts";
import { countAtMost, countLimits } from "./layers.ts";
import type { Candidate, Picks, Problem } from "./problem.ts";
import { searchPicks } from "./search.ts";
import type { GroupPick } from "./selection.ts";

/** How much of the steps the first exchanges may take. */
const FIRST_SHARE = 0.2;

/** The best choice that was found. */
export interface Matching {
  /** By the index of the role. */
  readonly picks: Picks;
  /** Whether every role gets what it needs. */
  readonly isFull: boolean;
  /** False if the search ended at its limit: then another choice might fill all roles. */
  readonly isProven: boolean;
}

/**
 * Chooses the preferred candidates if they fit, role by role. If that leaves a place empty, it searches.
 *
 * Guaranteed: what it chooses always fits. With at most one topology key for each role, and with two where no host
 * suits two roles, one flow is the answer, so a choice that fills all roles is always found if there is one. For more
 * (with three keys that problem is NP-hard) this is true unless the search reaches `maxSteps`. The same problem
 * always gets the same answer.
 */
export function findMatching(problem: Problem, maxSteps: number): Matching {
  const wanted = problem.needs.reduce((sum, need) => sum + need, 0);
  const greedy = pickGreedily(problem);
  if (countPicks(greedy) === wanted) return { picks: greedy, isFull: true, isProven: true };
  const grouped = groupCandidates(problem);
  const limits = countLimits(grouped);
  const atMost = countAtMost(grouped, limits);
  if (countPicks(greedy) === atMost) return { picks: greedy, isFull: false, isProven: true };
  // Cheap, and often enough: without it, each tight choice would need a network of all candidates.
  const start = exchangePicks(grouped, toGroupPicks(greedy, grouped), {
    goal: atMost,
    maxSteps: maxSteps * FIRST_SHARE,
  });
  const left = maxSteps - start.steps;
  const found =
    start.picks.length === atMost
      ? { picks: start.picks, isProven: true }
      : searchPicks(grouped, { start: start.picks, limits, maxSteps: left });
  const picks = toPicks(found.picks, grouped, listByConstraint(problem));
  return { picks, isFull: found.picks.length === wanted, isProven: found.isProven };
}

function toGroupPicks(picks: Picks, { groups }: GroupedProblem): readonly GroupPick[] {
  const roles = new Map(picks.flatMap((ones, role) => ones.map((one) => [one, role] as const)));
  return groups.flatMap(({ candidates }, group) =>
    candidates.flatMap((candidate) => {
      const role = roles.get(candidate);
      return role === undefined ? [] : [{ role, group }];
    }),
  );
}

/** Gives the preferred candidates of each group to the first of these roles. */
function toPicks(
  found: readonly GroupPick[],
  { needs, groups }: GroupedProblem,
  roles: readonly number[],
): Picks {
  const used = new Map<number, number>();
  const picks: Candidate[][] = needs.map(() => []);
  for (const role of roles) {
    for (const { group } of found.filter((pick) => pick.role === role)) {
      const at = used.get(group) ?? 0;
      used.set(group, at + 1);
      const candidate = groups[group]?.candidates[at];
      if (candidate) picks[role]?.push(candidate);
    }
  }
  return picks;
}
