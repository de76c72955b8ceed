/**
 * Says what a role has, and why it does not get what it wants.
 * @module
 */
import type { Key } from "../../../kube/cache/store.ts";
import type { Role } from "../resource/sip_cluster.ts";
import { findRefusal, type Wish } from "./candidates.ts";
import type { Domains } from "./domains.ts";
import type { Matching } from "./matching/matching.ts";
import { type Candidate, Occupancy, type Problem } from "./matching/problem.ts";
import type { HostFacts, RoleReport } from "./types.ts";

/** A search for hosts, and what came of it. */
export interface Search {
  readonly wishes: readonly Wish[];
  /** Hosts that were asked, in the order of keys. */
  readonly hosts: readonly HostFacts[];
  readonly problem: Problem;
  readonly matching: Matching;
  readonly domains: Domains;
}

/** What came of the search for the role with this index, and why it refused hosts, if any are missing. */
export function reportSearch(
  search: Search,
  role: number,
): Pick<RoleReport, "missing" | "eligible" | "rejected" | "refused"> {
  const { matching, problem, wishes } = search;
  const eligible = problem.candidates.filter(({ demands }) => demands[role] !== undefined);
  const missing = (wishes[role]?.need ?? 0) - (matching.picks[role]?.length ?? 0);
  const refused = missing > 0 ? listRefused(search, role, eligible) : new Map<Key, string>();
  return { missing, eligible: eligible.length, rejected: countReasons(refused), refused };
}

function listRefused(
  { wishes, hosts, problem, matching, domains }: Search,
  role: number,
  eligible: readonly Candidate[],
): ReadonlyMap<Key, string> {
  const occupancy = new Occupancy(problem);
  const roles = new Map<Key, Role>();
  matching.picks.forEach((picks, index) => {
    const wish = wishes[index];
    for (const { host, demands } of picks) {
      const demand = demands[index];
      if (demand) occupancy.add(demand);
      if (wish) roles.set(host, wish.role);
    }
  });
  const candidates = new Map(eligible.map((candidate) => [candidate.host, candidate]));
  const own = wishes[role]?.role;
  const refused = new Map<Key, string>();
  for (const host of hosts) {
    const taker = roles.get(host.key);
    if (taker === own) continue;
    const demand = candidates.get(host.key)?.demands[role];
    const closed = demand && occupancy.findConflict(demand);
    const reason =
      findRefusal(host, wishes[role]?.set) ??
      (taker === undefined ? undefined : `needed for ${taker}`) ??
      (closed === undefined ? "not tried" : `same ${domains.toKey(closed)}`);
    refused.set(host.key, reason);
  }
  return refused;
}

/** How many hosts have each reason, the most frequent first. */
function countReasons(refused: ReadonlyMap<Key, string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const reason of refused.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return new Map([...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)));
}
