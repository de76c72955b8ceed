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
  readonly demands: readonly (Demand | undefined)[];
}

/** What remains of a problem. */
export interface GroupedProblem extends Pick<Problem, "needs" | "domains" | "scopes"> {
  readonly groups: readonly Group[];
}

/**
 * Groups the candidates. Demands that what is held refuses are dropped, and so are held domains: all that remains may
 * be taken, and can only clash with one another.
 */
export function groupCandidates(problem: Problem): GroupedProblem {
  const held = new Occupancy(problem);
  const open = problem.candidates.map(({ demands }) =>
    demands.map((demand, role) =>
      (problem.needs[role] ?? 0) > 0 && demand && held.allows(demand) ? demand : undefined,
    ),
  );
  const decides = findDecidingDomains(open, problem.domains);
  const groups = new Map<string, { candidates: Candidate[]; demands: (Demand | undefined)[] }>();
  open.forEach((demands, index) => {
    const candidate = problem.candidates[index];
    if (candidate === undefined || demands.every((demand) => demand === undefined)) return;
    const reduced = demands.map((demand) => demand && reduceDemand(demand, decides));
    const signature = reduced
      .map((demand) => (demand ? `${demand.alone.join(",")};${demand.beside.join(",")}` : "-"))
      .join("|");
    const group = groups.get(signature);
    if (group) group.candidates.push(candidate);
    else groups.set(signature, { candidates: [candidate], demands: reduced });
  });
  const { needs, domains, scopes } = problem;
  return { needs, domains, scopes, groups: [...groups.values()] };
}

function reduceDemand({ alone, beside }: Demand, decides: readonly boolean[]): Demand {
  return {
    alone: alone.map((domain) => (domain >= 0 && decides[domain] === true ? domain : -1)),
    beside: beside.filter((domain) => decides[domain] === true),
  };
}

type OpenDemands = readonly (readonly (Demand | undefined)[])[];

/** Which domains can ever refuse a candidate that all others allow. */
function findDecidingDomains(open: OpenDemands, domains: number): readonly boolean[] {
  const alone: (readonly number[])[][] = Array.from({ length: domains }, () => []);
  const first = new Int32Array(domains).fill(-1);
  const isContested = Array.from({ length: domains }, () => false);
  const isShared = Array.from({ length: domains }, () => false);
  open.forEach((demands, index) => {
    const enter = (domain: number): void => {
      if (first[domain] === -1) first[domain] = index;
      else if (first[domain] !== index) isContested[domain] = true;
    };
    for (const demand of demands) {
      for (const domain of demand?.beside ?? []) {
        isShared[domain] = true;
        enter(domain);
      }
      for (const domain of demand?.alone ?? []) {
        if (domain < 0) continue;
        alone[domain]?.push(demand?.alone ?? []);
        enter(domain);
      }
    }
  });
  // One candidate alone cannot clash, nor can domains that nobody must be alone in.
  const decides = isContested.map((isOne, domain) => isOne && (alone[domain]?.length ?? 0) > 0);
  // A rack decides for the servers in it: a domain within another one adds nothing.
  for (let domain = 0; domain < domains; domain += 1) {
    const members = alone[domain] ?? [];
    if (decides[domain] !== true || isShared[domain] === true) continue;
    const isWithin = members[0]?.some(
      (outer) =>
        outer !== domain &&
        outer >= 0 &&
        decides[outer] === true &&
        members.every((others) => others.includes(outer)),
    );
    if (isWithin === true) decides[domain] = false;
  }
  return decides;
}
