/**
 * Takes the preferred hosts as long as they fit: enough for most clusters, and it takes what a person expects.
 * @module
 */
import { type GroupPick, Occupancy, type Problem } from "./problem.ts";

/** The indices of roles, the most constrained first: those with the fewest hosts to spare. */
export function listByConstraint({ needs, orders }: Pick<Problem, "needs" | "orders">): number[] {
  const spare = needs.map((need, role) => (orders[role]?.length ?? 0) - need);
  return [...needs.keys()].sort((a, b) => (spare[a] ?? 0) - (spare[b] ?? 0) || a - b);
}

/** Fills one role after the other. What it misses may still be found by a search. */
export function pickGreedily(problem: Problem): readonly GroupPick[] {
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
        occupancy.add(demand);
        used[group] = (used[group] ?? 0) + 1;
        picks.push({ role, group });
        need -= 1;
      }
    }
  }
  return picks;
}
