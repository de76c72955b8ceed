/**
 * Which topology keys a flow respects.
 * @module
 */
import type { GroupedProblem } from "./groups.ts";

/** Which place of `alone` is checked before and after the host, by the index of the role. -1: none. */
export interface Layers {
  readonly first: readonly number[];
  readonly second: readonly number[];
  /** Whether roles share the domains of `second`, so that it also holds for hosts that suit several roles. */
  readonly isSecondShared: boolean;
}

/** By role and place of `alone`: how many candidates that key alone would let the role have. */
export type Limits = readonly (readonly number[])[];

/** Counts the domains of each key, and the candidates in none. */
export function countLimits({ needs, groups, scopes }: GroupedProblem): Limits {
  const places = scopes.map((ofRole) =>
    ofRole.map(() => ({ domains: new Set<number>(), others: 0 })),
  );
  for (const { candidates, demands } of groups) {
    demands.forEach((demand, role) =>
      demand?.alone.forEach((domain, at) => {
        const place = places[role]?.[at];
        if (domain >= 0) place?.domains.add(domain);
        else if (place) place.others += candidates.length;
      }),
    );
  }
  return needs.map((_, role) =>
    (places[role] ?? []).map(({ domains, others }) => domains.size + others),
  );
}

/** A number of picks that no choice exceeds. */
export function countAtMost({ needs, groups }: GroupedProblem, limits: Limits): number {
  return needs.reduce((sum, need, role) => {
    const eligible = groups.reduce(
      (count, { candidates, demands }) => count + (demands[role] ? candidates.length : 0),
      0,
    );
    return sum + Math.min(need, eligible, ...(limits[role] ?? []));
  }, 0);
}

/** Chooses the keys that limit most. Domains that all roles share come after the host, where roles meet. */
export function chooseLayers({ needs, scopes }: GroupedProblem, limits: Limits): Layers {
  const ranked = limits.map((ofRole) =>
    [...ofRole.keys()].sort(
      (one, other) => (ofRole[one] ?? 0) - (ofRole[other] ?? 0) || one - other,
    ),
  );
  const active = needs.flatMap((need, role) => (need > 0 ? [role] : []));
  const [one = -1, ...others] = active;
  const shared = ranked[one]
    ?.map((at) => scopes[one]?.[at] ?? "")
    .find((scope) => others.length > 0 && others.every((role) => scopes[role]?.includes(scope)));
  const second = needs.map((_, role) =>
    shared === undefined ? (ranked[role]?.[1] ?? -1) : (scopes[role]?.indexOf(shared) ?? -1),
  );
  const first = needs.map((_, role) => ranked[role]?.find((at) => at !== second[role]) ?? -1);
  return { first, second, isSecondShared: shared !== undefined };
}
