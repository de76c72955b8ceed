/**
 * Chooses candidates for all roles at once.
 * @module
 */
import { countPicks, listByConstraint, pickGreedily } from "./greedy.ts";
import { groupCandidates } from "./groups.ts";
import type { Candidate, Picks, Problem } from "./problem.ts";
import { searchPicks } from "./search.ts";

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
  const { picks: found, isProven } = searchPicks(grouped, maxSteps);
  const used = new Map<number, number>();
  const picks: Candidate[][] = problem.needs.map(() => []);
  for (const role of listByConstraint(problem)) {
    for (const { group } of found.filter((pick) => pick.role === role)) {
      const at = used.get(group) ?? 0;
      used.set(group, at + 1);
      const candidate = grouped.groups[group]?.candidates[at];
      if (candidate) picks[role]?.push(candidate);
    }
  }
  return { picks, isFull: countPicks(picks) === wanted, isProven };
}
