/**
 * Takes the preferred candidates as long as they fit: enough for most clusters, and it takes what a person expects.
 * @module
 */
import { type Candidate, Occupancy, type Picks, type Problem } from "./problem.ts";

/** The indices of roles, the most constrained first: those with the fewest candidates to spare. */
export function listByConstraint({ needs, candidates }: Problem): readonly number[] {
  const spare = needs.map((need) => -need);
  for (const { demands } of candidates) {
    demands.forEach((demand, role) => (spare[role] = (spare[role] ?? 0) + (demand ? 1 : 0)));
  }
  return needs.map((_, role) => role).sort((a, b) => (spare[a] ?? 0) - (spare[b] ?? 0) || a - b);
}

/** Fills one role after the other. What it misses may still be found by a search. */
export function pickGreedily(problem: Problem): Picks {
  const occupancy = new Occupancy(problem);
  const taken = new Set<Candidate>();
  const picks: Candidate[][] = problem.needs.map(() => []);
  for (const role of listByConstraint(problem)) {
    const chosen = picks[role] ?? [];
    for (const candidate of problem.candidates) {
      if (chosen.length >= (problem.needs[role] ?? 0)) break;
      const demand = candidate.demands[role];
      if (demand === undefined || taken.has(candidate) || !occupancy.allows(demand)) continue;
      occupancy.add(demand);
      taken.add(candidate);
      chosen.push(candidate);
    }
  }
  return picks;
}

/** How many candidates are chosen. */
export function countPicks(picks: Picks): number {
  return picks.reduce((sum, { length }) => sum + length, 0);
}
