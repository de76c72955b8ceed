/**
 * Makes a problem smaller without changing its answers: drops domains that cannot decide, and puts together candidates
 * between which nothing decides.
 * @module
 */
import { type Candidate, type Demand, Occupancy, type Problem } from "./problem.ts";

/** Candidates with the same demands. */
export interface Group {
  /** The preferred first. */
  readonly candidates: readonly Candidate[];
  /** By the index of the role, as of each candidate, but without the domains that cannot decide. */
  readonly demands: readonly (Demand | undefined)[];
}

/** What remains of a problem. */
export interface GroupedProblem extends Pick<Problem, "needs" | "domains" | "scopes"> {
  readonly groups: readonly Group[];
}

/**
 * Groups the candidates. Demands that the held ones refuse are dropped, so that nothing is held any more: what remains
 * can only clash with one another.
 */
export function groupCandidates(problem: Problem): GroupedProblem {
  const held = new Occupancy(problem);
  const open = problem.candidates.map(({ demands }) =>
    demands.map((demand, role) =>
      (problem.needs[role] ?? 0) > 0 && demand && held.allows(demand) ? demand : undefined,
    ),
  );
  const decides = findDecidingDomains(open, problem.domains);
  const groups: { candidates: Candidate[]; demands: (Demand | undefined)[] }[] = [];
  const byHash = new Map<number, typeof groups>();
  problem.candidates.forEach((candidate, index) => {
    const demands = open[index] ?? [];
    if (demands.every((demand) => demand === undefined)) return;
    const hash = hashDemands(demands, decides);
    const alike = byHash.get(hash) ?? [];
    const group = alike.find((one) => isReducedTo(demands, one.demands, decides));
    if (group) {
      group.candidates.push(candidate);
      return;
    }
    const reduced = demands.map((demand) => demand && reduceDemand(demand, decides));
    const made = { candidates: [candidate], demands: reduced };
    groups.push(made);
    alike.push(made);
    byHash.set(hash, alike);
  });
  const { needs, domains, scopes } = problem;
  return { needs, domains, scopes, groups };
}

/** Which domains can refuse a candidate: 1 if so. */
type Deciding = Uint8Array;

function reduceDemand({ alone, beside }: Demand, decides: Deciding): Demand {
  return {
    alone: alone.map((domain) => (decides[domain] === 1 ? domain : -1)),
    beside: beside.filter((domain) => decides[domain] === 1),
  };
}

/** A number for reduced demands: equal ones have the same, others hardly ever. */
function hashDemands(demands: readonly (Demand | undefined)[], decides: Deciding): number {
  let hash = 0;
  for (const demand of demands) {
    hash = Math.imul(hash, 31) + (demand === undefined ? 1 : 2);
    for (const domain of demand?.alone ?? []) {
      hash = Math.imul(hash ^ (decides[domain] === 1 ? domain + 2 : 1), 0x01000193);
    }
    for (const domain of demand?.beside ?? []) {
      if (decides[domain] === 1) hash = Math.imul(hash ^ domain, 0x01000193);
    }
  }
  return hash;
}

/** Whether reduced demands are what these would be reduced to. */
function isReducedTo(
  demands: readonly (Demand | undefined)[],
  reduced: readonly (Demand | undefined)[],
  decides: Deciding,
): boolean {
  return demands.every((demand, role) => {
    const other = reduced[role];
    if (demand === undefined || other === undefined) return demand === other;
    let at = 0;
    for (const domain of demand.beside) {
      if (decides[domain] === 1 && other.beside[at++] !== domain) return false;
    }
    return (
      at === other.beside.length &&
      demand.alone.every((domain, at) => other.alone[at] === (decides[domain] === 1 ? domain : -1))
    );
  });
}

type OpenDemands = readonly (readonly (Demand | undefined)[])[];

/** Which domains can ever refuse a candidate that all others allow. */
function findDecidingDomains(open: OpenDemands, domains: number): Deciding {
  const decides = new Uint8Array(domains);
  const hasBeside = new Uint8Array(domains);
  /** Who came first, to tell whether others came. */
  const first = new Int32Array(domains).fill(-1);
  /** In which domains all are who must be alone in one: a rack, for a server in it. */
  const around: (readonly number[] | undefined)[] = Array.from({ length: domains });
  open.forEach((demands, index) => {
    for (const demand of demands) {
      for (const domain of demand?.beside ?? []) {
        hasBeside[domain] = 1;
        if (first[domain] === -1) first[domain] = index;
        else if (first[domain] !== index) decides[domain] = 1;
      }
      const alone = demand?.alone ?? [];
      for (const domain of alone) {
        if (domain < 0) continue;
        if (first[domain] === -1) first[domain] = index;
        else if (first[domain] !== index) decides[domain] = 1;
        const outer = around[domain];
        if (outer === undefined) around[domain] = alone;
        else if (outer.length > 1) around[domain] = outer.filter((one) => alone.includes(one));
      }
    }
  });
  for (let domain = 0; domain < domains; domain += 1) {
    const outer = around[domain];
    // Nothing clashes where no host must be alone. A domain within another one adds nothing.
    if (outer === undefined) decides[domain] = 0;
    else if (hasBeside[domain] === 0 && outer.some((one) => one !== domain && decides[one] === 1)) {
      decides[domain] = 0;
    }
  }
  return decides;
}
