/**
 * Problems for tests of the matching, and what every choice is like.
 * @module
 */
import type {
  Demand,
  Group,
  Problem,
} from "../../../lib/controllers/sipcluster/schedule/matching.ts";
import type { Random } from "../random.ts";

/** Hosts, separated by blanks, that must be alone in these domains, in each role that they suit. */
export function toGroup(
  hosts: string,
  ...demands: readonly (readonly number[] | undefined)[]
): Group {
  return {
    hosts: hosts.split(" "),
    demands: demands.map((alone) => alone && { alone, beside: [] }),
  };
}

/** A problem without held hosts. */
export function toProblem(needs: readonly number[], groups: readonly Group[]): Problem {
  return { needs, groups, orders: toOrders(needs, groups), held: [] };
}

function toOrders(needs: readonly number[], groups: readonly Group[]): readonly number[][] {
  return needs.map((_, role) =>
    groups.flatMap(({ hosts, demands }, group) => (demands[role] ? hosts.map(() => group) : [])),
  );
}

/** Two roles with up to three keys, apart or shared, and a few hosts that hold domains. */
export function drawProblem(random: Random, size: number): Problem {
  const isShared = random.chance(0.5);
  const values = random.between(2, 5);
  const keys = [0, 1, 2].filter(() => random.chance(0.7));
  const own = [0, 1].map(() => keys.filter(() => random.chance(0.8)));
  const suits = random.between(1, 3);
  const draw = (): Group["demands"] => {
    const at = keys.map(() => (random.chance(0.1) ? -1 : random.between(0, values - 1)));
    const only = suits === 1 ? random.between(0, 1) : undefined;
    const place = (key: number, role: number): number => {
      const value = at[keys.indexOf(key)] ?? -1;
      return value < 0 ? -1 : (key * values + value) * 2 + (isShared ? 0 : role);
    };
    return own.map((ofRole, role): Demand | undefined => {
      if (random.chance(0.2) || (only !== undefined && only !== role)) return undefined;
      const others = isShared ? (own[1 - role] ?? []).filter((key) => !ofRole.includes(key)) : [];
      return {
        alone: [0, 1, 2].map((key) => (ofRole.includes(key) ? place(key, role) : -1)),
        beside: others.map((key) => place(key, role)).filter((domain) => domain >= 0),
      };
    });
  };
  const held = Array.from({ length: random.between(0, 2) }, () => random.pick(draw()));
  const needs = [random.between(0, 3), random.between(0, 4)];
  const groups = Array.from({ length: random.between(0, size) }, (_, at): Group => {
    const hosts = random.chance(0.2) ? [`h${at}`, `h${at}b`] : [`h${at}`];
    return { hosts, demands: draw() };
  });
  return {
    needs,
    groups,
    orders: toOrders(needs, groups),
    held: held.filter((demand) => demand !== undefined),
  };
}

/** Whether two hosts can stand beside each other. Written without a look at the matching. */
function fit(one: Demand, other: Demand): boolean {
  const isIn = ({ alone, beside }: Demand, domain: number): boolean =>
    domain >= 0 && (alone.includes(domain) || beside.includes(domain));
  return (
    !one.alone.some((domain) => isIn(other, domain)) &&
    !other.alone.some((domain) => isIn(one, domain))
  );
}

/** What is wrong with a choice: nothing, if it is one. */
export function findFault(
  { needs, held, groups }: Problem,
  picks: readonly (readonly string[])[],
): string | undefined {
  const placed = picks.flatMap((hosts, role) =>
    hosts.map((host) => {
      const group = groups.find((one) => one.hosts.includes(host));
      return { host, demand: group?.demands[role] };
    }),
  );
  if (new Set(placed.map(({ host }) => host)).size < placed.length) return "a host in two roles";
  if (picks.some((hosts, role) => hosts.length > (needs[role] ?? 0))) return "more than needed";
  for (const [at, { host, demand }] of placed.entries()) {
    if (demand === undefined) return `${host} does not suit its role`;
    const others = [...held, ...placed.slice(0, at).flatMap(({ demand }) => demand ?? [])];
    if (!others.every((other) => fit(demand, other))) return `${host} clashes`;
  }
  return undefined;
}

/** How many hosts the best choice has: every choice is tried. */
export function countBest({ needs, held, groups }: Problem): number {
  const left = [...needs];
  const chosen: Demand[] = [...held];
  const hosts = groups.flatMap(({ hosts, demands }) => hosts.map(() => demands));
  const count = (at: number): number => {
    const demands = hosts[at];
    if (demands === undefined) return 0;
    let best = count(at + 1);
    demands.forEach((demand, role) => {
      const need = left[role] ?? 0;
      if (need === 0 || !demand || !chosen.every((other) => fit(demand, other))) return;
      left[role] = need - 1;
      chosen.push(demand);
      best = Math.max(best, 1 + count(at + 1));
      chosen.pop();
      left[role] = need;
    });
    return best;
  };
  return count(0);
}
