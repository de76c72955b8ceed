/**
 * How many hosts can be chosen at most, if some topology keys are ignored.
 * @module
 */
import { FlowNetwork } from "./flow.ts";
import { type Group, type GroupPick, sum } from "./problem.ts";

/** By the index of the role: the topology keys that a flow respects before and after the host. -1: none. */
export type Layers = readonly { readonly first: number; readonly second: number }[];

/** What single topology keys allow: one host in each domain, and all hosts in none. */
interface KeyLimits {
  /** The keys that limit most. A key whose domains roles share comes after the host, where roles meet. */
  readonly layers: Layers;
  /** A number of picks that no choice exceeds. */
  readonly atMost: number;
}

/** Counts the domains of each key. */
export function limitByKeys(groups: readonly Group[], needs: readonly number[]): KeyLimits {
  const [some] = groups[0]?.demands.filter((demand) => demand !== undefined) ?? [];
  const keys = [...(some?.alone ?? []).keys()];
  const toSets = (): readonly Set<number>[] => keys.map(() => new Set());
  const all = toSets();
  const ofRoles = needs.map(toSets);
  let last = -1;
  for (const { hosts, demands } of groups) {
    demands.forEach((demand, role) => {
      demand?.alone.forEach((domain, key) => {
        // A host in no domain counts as alone in one.
        for (const one of domain < 0 ? hosts.map(() => (last -= 1)) : [domain]) {
          ofRoles[role]?.[key]?.add(one);
          all[key]?.add(one);
        }
      });
    });
  }
  const sizes = all.map(({ size }) => size);
  const sizesOf = ofRoles.map((sets) => sets.map(({ size }) => size));
  const rank = (counts: readonly number[], among = keys): readonly number[] =>
    among.toSorted((one, other) => (counts[one] ?? 0) - (counts[other] ?? 0));
  const isShared = (key: number): boolean =>
    (sizes[key] ?? 0) < sum(sizesOf.map((ofRole) => ofRole[key] ?? 0));
  const [shared] = rank(sizes, keys.filter(isShared));
  const layers = sizesOf.map((ofRole) => {
    const ranked = rank(ofRole);
    const second = shared ?? ranked[1] ?? -1;
    return { first: ranked.find((key) => key !== second) ?? -1, second };
  });
  const byRole = needs.map((need, role) => Math.min(need, ...(sizesOf[role] ?? [])));
  return { layers, atMost: Math.min(...sizes, sum(byRole)) };
}

/** What can still be chosen. */
interface Open {
  readonly needs: readonly number[];
  /** By group: how many hosts are left. */
  readonly room: readonly number[];
  /** By group: what can be picked. */
  readonly open: readonly (readonly GroupPick[])[];
}

/** Picks, and what finding them cost. */
interface Relaxed {
  readonly picks: readonly GroupPick[];
  /** Edges of networks. */
  readonly steps: number;
}

/**
 * Chooses as many as possible, and maybe some that clash in keys that are ignored.
 *
 * Hosts flow from roles to the sink: first through a domain of the role, then through the host, then through another
 * domain, if it is the same for all roles that the host suits. So nothing is ignored with one key for each role, nor
 * with two keys while hosts suit one role only.
 */
export function relax({ needs, room, open }: Open, layers: Layers): Relaxed {
  const network = new FlowNetwork();
  const { source, sink } = network;
  const nodes = new Map<number, number>();
  /** A node that is connected once. */
  const nodeOf = (name: number, connect: (node: number) => unknown): number => {
    let node = nodes.get(name);
    if (node === undefined) {
      nodes.set(name, (node = network.addNode()));
      connect(node);
    }
    return node;
  };
  const kinds = needs.length + 1;
  const enter = (role: number, domain: number): number =>
    domain < 0
      ? nodeOf(-1 - role, (node) => network.addEdge(source, node, needs[role] ?? 0))
      : nodeOf(domain * kinds + role, (node) => network.addEdge(enter(role, -1), node, 1));
  const leave = (domain: number): number =>
    domain < 0
      ? sink
      : nodeOf(domain * kinds + needs.length, (node) => network.addEdge(node, sink, 1));
  const entries = open.flatMap((picks) => {
    const node = network.addNode();
    const size = room[picks[0]?.group ?? -1] ?? 0;
    const ends = picks.map(({ role, demand }) => demand.alone[layers[role]?.second ?? -1] ?? -1);
    const isOne = ends.every((end) => end === ends[0]);
    network.addEdge(node, leave(isOne ? (ends[0] ?? -1) : -1), size);
    return picks.map((pick) => {
      const {
        role,
        demand: { alone },
      } = pick;
      const most = alone.some((domain) => domain >= 0) ? 1 : size;
      const from = enter(role, alone[layers[role]?.first ?? -1] ?? -1);
      return { pick, edge: network.addEdge(from, node, most) };
    });
  });
  network.maximize();
  const chosen = entries.flatMap(({ pick, edge }) =>
    Array.from({ length: network.flowOf(edge) }, () => pick),
  );
  return { picks: chosen, steps: network.steps };
}
