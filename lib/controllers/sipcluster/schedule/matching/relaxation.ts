/**
 * How many candidates can be chosen at most, if some topology keys are ignored: a flow finds that exactly.
 *
 * Hosts flow from roles to the sink, first through one domain of the role, then through the host itself, then through
 * another domain. So nothing is ignored with one key for each role, nor with two keys and hosts that suit one role only.
 * @module
 */
import { FlowNetwork } from "./flow.ts";
import type { Group, GroupedProblem } from "./groups.ts";
import type { Demand } from "./problem.ts";

/** A candidate of the group for the role. */
export interface GroupPick {
  readonly role: number;
  readonly group: number;
}

/** Which place of `alone` is checked before and after the host, by the index of the role. -1: none. */
export interface Layers {
  readonly first: readonly number[];
  readonly second: readonly number[];
  /** Whether roles share the domains of `second`, so that it also holds for hosts that suit several roles. */
  readonly isSecondShared: boolean;
}

/** What is still to be chosen. */
export interface Remainder {
  readonly needs: readonly number[];
  /** Candidates left, by the index of the group. */
  readonly room: readonly number[];
  /** Whether one more of the group may serve the role. */
  mayPick(role: number, group: number, demand: Demand): boolean;
}

/** Chooses the keys that limit most. */
export function chooseLayers({ needs, groups, scopes }: GroupedProblem): Layers {
  const active = needs.flatMap((need, role) => (need > 0 ? [role] : []));
  const limits = needs.map((_, role) =>
    (scopes[role] ?? []).map((_, at) => countLimit(groups, role, at)),
  );
  const rank = (role: number): number[] =>
    (limits[role] ?? [])
      .map((_, at) => at)
      .sort((a, b) => (limits[role]?.[a] ?? 0) - (limits[role]?.[b] ?? 0));
  const [one = -1] = active;
  const shared =
    active.length < 2
      ? undefined
      : rank(one)
          .map((at) => scopes[one]?.[at])
          .find((scope) =>
            active.every((role) => scope !== undefined && scopes[role]?.includes(scope)),
          );
  const second = needs.map((_, role) =>
    shared === undefined ? (rank(role)[1] ?? -1) : (scopes[role]?.indexOf(shared) ?? -1),
  );
  const first = needs.map((_, role) => rank(role).find((at) => at !== second[role]) ?? -1);
  return { first, second, isSecondShared: shared !== undefined };
}

/** How many candidates one key alone would let a role have. */
function countLimit(groups: readonly Group[], role: number, at: number): number {
  const domains = new Set<number>();
  let free = 0;
  for (const { candidates, demands } of groups) {
    const domain = demands[role]?.alone[at];
    if (domain === undefined) continue;
    if (domain < 0) free += candidates.length;
    else domains.add(domain);
  }
  return domains.size + free;
}

/** Chooses as many as possible. They may clash in the keys that are ignored; more cannot be chosen. */
export function relax(
  groups: readonly Group[],
  layers: Layers,
  remainder: Remainder,
): { readonly picks: readonly GroupPick[]; readonly steps: number } {
  const network = new FlowNetwork();
  const roles = remainder.needs.map((need) => {
    const node = network.addNode();
    network.addEdge(FlowNetwork.SOURCE, node, need);
    return node;
  });
  const nodes = new Map<string, number>();
  const enter = (name: string, from?: number): number => {
    const known = nodes.get(name);
    if (known !== undefined) return known;
    const node = network.addNode();
    nodes.set(name, node);
    if (from === undefined) network.addEdge(node, FlowNetwork.SINK, 1);
    else network.addEdge(from, node, 1);
    return node;
  };
  const edges: (GroupPick & { readonly edge: number })[] = [];
  groups.forEach(({ demands }, group) => {
    const room = remainder.room[group] ?? 0;
    const open = demands.flatMap((demand, role) =>
      room > 0 &&
      (remainder.needs[role] ?? 0) > 0 &&
      demand &&
      remainder.mayPick(role, group, demand)
        ? [{ role, demand }]
        : [],
    );
    const [sole] = open;
    if (sole === undefined) return;
    const node = network.addNode();
    for (const { role, demand } of open) {
      const domain = demand.alone[layers.first[role] ?? -1] ?? -1;
      const from = domain < 0 ? roles[role] : enter(`${role} ${domain}`, roles[role]);
      const capacity = demand.alone.some((one) => one >= 0) ? 1 : room;
      edges.push({ role, group, edge: network.addEdge(from ?? 0, node, capacity) });
    }
    const isSecond = layers.isSecondShared || open.length === 1;
    const domain = isSecond ? (sole.demand.alone[layers.second[sole.role] ?? -1] ?? -1) : -1;
    network.addEdge(node, domain < 0 ? FlowNetwork.SINK : enter(`${domain}`), room);
  });
  network.maximize();
  const picks = edges.flatMap(({ role, group, edge }) =>
    Array.from({ length: network.flowOf(edge) }, () => ({ role, group })),
  );
  return { picks, steps: network.steps };
}
