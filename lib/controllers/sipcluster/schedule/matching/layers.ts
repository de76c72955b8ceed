/**
 * Which topology keys a flow respects.
 * @module
 */
import type { Problem } from "./problem.ts";
import type { ReducedGroup, ReducedProblem } from "./reduction.ts";

/** Which place of `alone` is checked before and after the host, by the index of the role. -1: none. */
export interface Layers {
  readonly first: readonly number[];
  readonly second: readonly number[];
  /** Whether roles share the domains of `second`, so that it also holds for hosts that suit several roles. */
  readonly isSecondShared: boolean;
}

/** Hosts in the same domains. */
type Place = Pick<ReducedGroup, "demands" | "size">;

/** What one topology key alone would allow. */
interface KeyLimit {
  readonly domains: ReadonlySet<number>;
  /** Hosts in none of the domains. */
  readonly others: number;
}

/** By role and place of `alone`. */
export type Limits = readonly (readonly KeyLimit[])[];

/** Counts the domains of each key, and the hosts in none. */
export function countLimits(places: readonly Place[], { scopes }: Pick<Problem, "scopes">): Limits {
  const limits = scopes.map((ofRole) =>
    ofRole.map(() => ({ domains: new Set<number>(), others: 0 })),
  );
  for (const { size, demands } of places) {
    for (let role = 0; role < demands.length; role += 1) {
      const alone = demands[role]?.alone ?? [];
      for (let at = 0; at < alone.length; at += 1) {
        const limit = limits[role]?.[at];
        const domain = alone[at] ?? -1;
        if (domain >= 0) limit?.domains.add(domain);
        else if (limit) limit.others += size;
      }
    }
  }
  return limits;
}

/** A number of picks that no choice exceeds: no key alone would allow more. */
export function countAtMost(
  places: readonly Place[],
  { needs, scopes }: Pick<Problem, "needs" | "scopes">,
  limits: Limits,
): number {
  const eligible = needs.map((_, role) =>
    places.reduce((sum, { size, demands }) => sum + (demands[role] ? size : 0), 0),
  );
  const byRole = needs.map((need, role) =>
    Math.min(need, eligible[role] ?? 0, ...(limits[role] ?? []).map(toCount)),
  );
  const shared = listShared(needs, scopes).map((scope) => {
    const ofScope = limits.flatMap(
      (ofRole, role) => ofRole[scopes[role]?.indexOf(scope) ?? -1] ?? [],
    );
    const domains = ofScope.reduce((all, one) => all.union(one.domains), new Set<number>());
    return ofScope.reduce((sum, { others }) => sum + others, domains.size);
  });
  return Math.min(
    byRole.reduce((sum, count) => sum + count, 0),
    ...shared,
  );
}

function toCount({ domains, others }: KeyLimit): number {
  return domains.size + others;
}

/** The keys whose domains all roles share that need hosts: at least two. */
function listShared(needs: readonly number[], scopes: Problem["scopes"]): readonly string[] {
  const active = [...needs.keys()].filter((role) => (needs[role] ?? 0) > 0);
  const [one = -1, ...others] = active;
  if (others.length === 0) return [];
  return (scopes[one] ?? []).filter((scope) =>
    others.every((role) => scopes[role]?.includes(scope) === true),
  );
}

/** Chooses the keys that limit most. Domains that all roles share come after the host, where roles meet. */
export function chooseLayers({ needs, scopes }: ReducedProblem, limits: Limits): Layers {
  const rank = (one: KeyLimit | undefined): number => (one ? toCount(one) : 0);
  const ranked = limits.map((ofRole) =>
    [...ofRole.keys()].sort((one, other) => rank(ofRole[one]) - rank(ofRole[other]) || one - other),
  );
  const keys = listShared(needs, scopes);
  const first = needs.findIndex((need) => need > 0);
  const shared = ranked[first]
    ?.map((at) => scopes[first]?.[at] ?? "")
    .find((one) => keys.includes(one));
  const second = needs.map((_, role) =>
    shared === undefined ? (ranked[role]?.[1] ?? -1) : (scopes[role]?.indexOf(shared) ?? -1),
  );
  return {
    first: needs.map((_, role) => ranked[role]?.find((at) => at !== second[role]) ?? -1),
    second,
    isSecondShared: shared !== undefined,
  };
}
