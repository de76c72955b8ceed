/**
 * How many hosts can be chosen at most, if some topology keys are ignored: a flow finds that exactly.
 * @module
 */
import { FlowNetwork } from "./flow.ts";
import type { ReducedProblem } from "./reduction.ts";
import { chooseLayers, type Layers, type Limits } from "./layers.ts";
import type { GroupPick } from "./problem.ts";
import type { Selection } from "./selection.ts";

/** The edges of one group and role. -1: there is none. */
interface RoleEdges {
  readonly role: number;
  /** Into the group: from the role, or from one of its domains. */
  readonly into: number;
  /** Out of the group, through another domain of the role. */
  readonly out: number;
  /** Whether at most one host of the group can serve the role. */
  readonly isSingle: boolean;
}

interface GroupEdges {
  readonly group: number;
  readonly roles: readonly RoleEdges[];
  /** Straight to the sink. -1: there is none. */
  readonly out: number;
}

/**
 * Hosts flow from roles to the sink: first through a domain of the role, then through the host, then through another
 * domain, if it is the role's only or shared by all roles. So nothing is ignored with one key for each role, nor with
 * two keys while hosts suit one role only.
 */
export class Relaxation {
  readonly #network = new FlowNetwork();
  readonly #isSecondShared: boolean;
  readonly #roleEdges: readonly number[];
  /** Edges that a single host can pass. */
  readonly #domainEdges: number[] = [];
  readonly #groups: readonly GroupEdges[];

  constructor(problem: ReducedProblem, limits: Limits) {
    const network = this.#network;
    const layers = chooseLayers(problem, limits);
    this.#isSecondShared = layers.isSecondShared;
    const roles = problem.needs.map(() => network.addNode());
    this.#roleEdges = roles.map((node) => network.addEdge(network.source, node));
    this.#groups = this.#addGroups(problem, layers, roles);
  }

  /** Edges made, set or looked at so far. */
  get steps(): number {
    return this.#network.steps;
  }

  /**
   * Chooses as many as possible beside a selection. They may clash in keys that are ignored; more cannot be chosen.
   *
   * @param isForbidden Picks that may not be chosen
   */
  solve(
    selection: Selection,
    isForbidden: (pick: GroupPick) => boolean = () => false,
  ): readonly GroupPick[] {
    const network = this.#network;
    this.#roleEdges.forEach((edge, role) => network.setCapacity(edge, selection.needOf(role)));
    for (const edge of this.#domainEdges) network.setCapacity(edge, 1);
    for (const { group, roles, out } of this.#groups) {
      const room = selection.roomOf(group);
      let open = 0;
      let second = -1;
      for (const edges of roles) {
        const pick = { role: edges.role, group };
        const isOpen = selection.allows(pick) && !isForbidden(pick);
        network.setCapacity(edges.into, isOpen ? (edges.isSingle ? 1 : room) : 0);
        if (edges.out >= 0) network.setCapacity(edges.out, 0);
        if (!isOpen) continue;
        open += 1;
        second = edges.out;
      }
      const isThrough = second >= 0 && (open === 1 || this.#isSecondShared);
      if (isThrough) network.setCapacity(second, room);
      if (out >= 0) network.setCapacity(out, isThrough ? 0 : room);
    }
    network.maximize();
    const picks: GroupPick[] = [];
    for (const { group, roles } of this.#groups) {
      for (const { role, into } of roles) {
        for (let left = network.flowOf(into); left > 0; left -= 1) picks.push({ role, group });
      }
    }
    return picks;
  }

  #addGroups(
    { groups }: ReducedProblem,
    { first, second }: Layers,
    roles: readonly number[],
  ): readonly GroupEdges[] {
    const network = this.#network;
    const before = new Map<string, number>();
    const after = new Map<number, number>();
    const enter = (role: number, domain: number): number => {
      const name = `${role} ${domain}`;
      const known = before.get(name);
      if (known !== undefined) return known;
      const node = network.addNode();
      before.set(name, node);
      this.#domainEdges.push(network.addEdge(roles[role] ?? 0, node));
      return node;
    };
    const leave = (domain: number): number => {
      const known = after.get(domain);
      if (known !== undefined) return known;
      const node = network.addNode();
      after.set(domain, node);
      this.#domainEdges.push(network.addEdge(node, network.sink));
      return node;
    };
    return groups.map(({ demands }, group) => {
      const node = network.addNode();
      const edges = demands.flatMap((demand, role): RoleEdges[] => {
        if (demand === undefined) return [];
        const [one, other] = [first, second].map((layer) => demand.alone[layer[role] ?? -1] ?? -1);
        const from = one === undefined || one < 0 ? roles[role] : enter(role, one);
        return [
          {
            role,
            into: network.addEdge(from ?? 0, node),
            out: other === undefined || other < 0 ? -1 : network.addEdge(node, leave(other)),
            isSingle: demand.alone.some((domain) => domain >= 0),
          },
        ];
      });
      const isThrough = this.#isSecondShared && edges.every(({ out }) => out >= 0);
      return { group, roles: edges, out: isThrough ? -1 : network.addEdge(node, network.sink) };
    });
  }
}
