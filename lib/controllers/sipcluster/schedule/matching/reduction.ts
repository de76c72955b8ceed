/**
 * Makes a problem smaller without changing its answers: drops domains that cannot decide, and puts groups together
 * between which nothing decides then.
 * @module
 */
import { type Demand, type Group, type GroupPick, Occupancy, type Problem } from "./problem.ts";

/** What remains of a problem. Nothing is held any more. */
export interface ReducedProblem extends Pick<Problem, "needs" | "scopes"> {
  readonly groups: readonly ReducedGroup[];
  /** Numbers of domains are below this. */
  readonly domains: number;
}

/** Groups with the same demands. */
export interface ReducedGroup extends Pick<Group, "demands"> {
  /** How many hosts they have. */
  readonly size: number;
  /** The groups of the problem, in its order, and their numbers there. */
  readonly sources: readonly { readonly group: number; readonly size: number }[];
}

/** A group of the problem, without the demands that the held ones refuse, and those of roles that need nothing. */
export interface OpenGroup extends Pick<Group, "demands"> {
  /** Its number in the problem. */
  readonly group: number;
  /** How many hosts it has. */
  readonly size: number;
}

/**
 * The groups from which something can be chosen: they can only clash with one another.
 *
 * @param among The groups to look at, by their numbers. @default {those that a role may choose from}
 */
export function listOpen(
  { needs, groups, orders, held }: Problem,
  among: Iterable<number> = listAsked(orders),
): readonly OpenGroup[] {
  const occupancy = new Occupancy(held);
  const open: OpenGroup[] = [];
  for (const group of among) {
    const one = groups[group];
    if (one === undefined) continue;
    const demands: (Demand | undefined)[] = [];
    let isOpen = false;
    for (let role = 0; role < one.demands.length; role += 1) {
      const demand = (needs[role] ?? 0) > 0 ? one.demands[role] : undefined;
      const isAllowed = demand !== undefined && occupancy.allows(demand);
      demands.push(isAllowed ? demand : undefined);
      isOpen ||= isAllowed;
    }
    if (isOpen) open.push({ group, size: one.hosts.length, demands });
  }
  return open;
}

/** The groups that a role may choose from, in the order of their numbers. */
export function listAsked(orders: Problem["orders"]): readonly number[] {
  const isAsked: boolean[] = [];
  for (const ofRole of orders) for (const group of ofRole) isAsked[group] = true;
  return [...isAsked.keys()].filter((group) => isAsked[group] === true);
}

/** Reduces a problem to these groups of it. */
export function reduceProblem(
  open: readonly OpenGroup[],
  { needs, scopes }: Pick<Problem, "needs" | "scopes">,
): ReducedProblem {
  const decides = findDecidingDomains(open);
  const byName = new Map<string, { size: number; demands: Group["demands"]; sources: Source[] }>();
  for (const { group, size, demands } of open) {
    const reduced = demands.map((demand) => demand && reduceDemand(demand, decides));
    const name = reduced.map((one) => (one ? `${one.alone}/${one.beside}` : "")).join("|");
    const known = byName.get(name) ?? { size: 0, demands: reduced, sources: [] };
    known.size += size;
    known.sources.push({ group, size });
    byName.set(name, known);
  }
  return { needs, scopes, groups: [...byName.values()], domains: decides.length };
}

type Source = ReducedGroup["sources"][number];

/** Picks of the problem, as picks of what remains of it. Those of groups that are left out are lost. */
export function toReducedPicks(
  picks: readonly GroupPick[],
  { groups }: ReducedProblem,
): readonly GroupPick[] {
  const numbers = new Map(
    groups.flatMap(({ sources }, number) => sources.map(({ group }) => [group, number] as const)),
  );
  return picks.flatMap(({ role, group }) => {
    const number = numbers.get(group);
    return number === undefined ? [] : [{ role, group: number }];
  });
}

/** Picks of what remains of a problem, as picks of the problem: the first hosts of each group. */
export function toOriginalPicks(
  picks: readonly GroupPick[],
  { groups }: ReducedProblem,
): readonly GroupPick[] {
  const left = groups.map(({ sources }) =>
    sources.flatMap(({ group, size }) => Array.from({ length: size }, () => group)).values(),
  );
  return picks.map(({ role, group }) => ({ role, group: left[group]?.next().value ?? -1 }));
}

function reduceDemand({ alone, beside }: Demand, decides: readonly boolean[]): Demand {
  return {
    alone: alone.map((domain) => (decides[domain] === true ? domain : -1)),
    beside: beside.filter((domain) => decides[domain] === true),
  };
}

/** Which domains can ever refuse a host that all others allow. */
function findDecidingDomains(open: readonly OpenGroup[]): readonly boolean[] {
  /** By domain: how many hosts may come, and the last group of which they were counted. */
  const hosts: number[] = [];
  const last: number[] = [];
  const hasBeside: boolean[] = [];
  /** In which domains all are who must be alone in one: a rack, for a server in it. */
  const around: (readonly number[])[] = [];
  for (const { group, size, demands } of open) {
    for (const { alone, beside } of demands.filter((demand) => demand !== undefined)) {
      for (const domain of [...alone, ...beside]) {
        if (domain < 0 || last[domain] === group) continue;
        last[domain] = group;
        hosts[domain] = (hosts[domain] ?? 0) + size;
      }
      for (const domain of beside) hasBeside[domain] = true;
      for (const domain of alone) {
        const outer = around[domain] ?? alone;
        if (domain < 0) continue;
        around[domain] = outer.length > 1 ? outer.filter((one) => alone.includes(one)) : outer;
      }
    }
  }
  // A domain decides if a host must be alone there, and others may come.
  const decides = Array.from(hosts, (count = 0, domain) => count > 1 && domain in around);
  for (const [domain, outer] of around.entries()) {
    // A domain within another one adds nothing.
    const isWithin = outer?.some((one) => one !== domain && decides[one] === true) === true;
    if (isWithin && hasBeside[domain] !== true) decides[domain] = false;
  }
  return decides;
}
