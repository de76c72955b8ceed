/**
 * Which hosts can serve which roles: the problem that a matching solves, free of Kubernetes.
 * @module
 */
import type { Key } from "../../../../kube/cache/store.ts";

/** The domains that a host takes in a role. */
export interface Demand {
  /** It must be the only one in each. In the order of the role's topology keys; -1: in no domain of that key. */
  readonly alone: readonly number[];
  /** It is in each, and must not meet a host that must be alone. */
  readonly beside: readonly number[];
}

/** Hosts between which nothing decides. */
export interface Group {
  /** The preferred first. */
  readonly hosts: readonly Key[];
  /** By the index of the role; undefined if they do not suit the role. */
  readonly demands: readonly (Demand | undefined)[];
}

/** Choose `needs[r]` different hosts for each role r, whose demands all hold beside what is occupied. */
export interface Problem {
  /** By the index of the role. */
  readonly needs: readonly number[];
  readonly groups: readonly Group[];
  /**
   * By the index of the role: the group of each host that suits it, the preferred first. Hosts of one group come in the
   * order of the group.
   */
  readonly orders: readonly (readonly number[])[];
  /** The demands of the hosts that stay. They may break each other's. */
  readonly held: readonly Demand[];
  /** What the domains in each place of a role's `alone` are values of: equal for roles that share domains. */
  readonly scopes: readonly (readonly string[])[];
  /** Whether a host of one role may be refused because of a host of another role. */
  readonly sharesDomains: boolean;
}

/** One host of the group for the role, both by their index. */
export interface GroupPick {
  readonly role: number;
  readonly group: number;
}

/** Who is in which domain. */
export class Occupancy {
  readonly #alone: number[] = [];
  readonly #beside: number[] = [];

  constructor(held: readonly Demand[] = []) {
    for (const demand of held) this.add(demand);
  }

  /** Whether a demand holds now. */
  allows({ alone, beside }: Demand): boolean {
    for (const domain of alone) {
      if ((this.#alone[domain] ?? 0) > 0 || (this.#beside[domain] ?? 0) > 0) return false;
    }
    for (const domain of beside) if ((this.#alone[domain] ?? 0) > 0) return false;
    return true;
  }

  add(demand: Demand): void {
    this.#change(demand, 1);
  }

  remove(demand: Demand): void {
    this.#change(demand, -1);
  }

  #change({ alone, beside }: Demand, by: 1 | -1): void {
    for (const domain of alone) {
      if (domain >= 0) this.#alone[domain] = (this.#alone[domain] ?? 0) + by;
    }
    for (const domain of beside) this.#beside[domain] = (this.#beside[domain] ?? 0) + by;
  }
}
