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

/** A host that may be chosen. */
export interface Candidate {
  readonly host: Key;
  /** By the index of the role; undefined if it is not eligible for the role. */
  readonly demands: readonly (Demand | undefined)[];
}

/** Choose `needs[r]` different candidates for each role r, whose demands all hold beside what is occupied. */
export interface Problem {
  /** By the index of the role. */
  readonly needs: readonly number[];
  /** The preferred first. */
  readonly candidates: readonly Candidate[];
  /** The demands of the hosts that stay. They may break each other's. */
  readonly held: readonly Demand[];
  /** Numbers of domains are below this. */
  readonly domains: number;
  /** What the domains in each place of a role's `alone` are values of: equal for roles that share domains. */
  readonly scopes: readonly (readonly string[])[];
}

/** The candidates chosen for each role, by the index of the role. */
export type Picks = readonly (readonly Candidate[])[];

/** Who is in which domain. */
export class Occupancy {
  readonly #alone: Int32Array;
  readonly #beside: Int32Array;

  constructor({ held, domains }: Pick<Problem, "held" | "domains">) {
    this.#alone = new Int32Array(domains);
    this.#beside = new Int32Array(domains);
    for (const demand of held) this.add(demand);
  }

  /** Whether a demand holds now. */
  allows(demand: Demand): boolean {
    return this.findConflict(demand) === undefined;
  }

  /** The first domain that refuses a demand. */
  findConflict({ alone, beside }: Demand): number | undefined {
    for (const domain of alone) {
      const isEmpty = (this.#alone[domain] ?? 0) === 0 && (this.#beside[domain] ?? 0) === 0;
      if (!isEmpty) return domain;
    }
    for (const domain of beside) if ((this.#alone[domain] ?? 0) > 0) return domain;
    return undefined;
  }

  add(demand: Demand): void {
    this.#change(demand, 1);
  }

  remove(demand: Demand): void {
    this.#change(demand, -1);
  }

  #change({ alone, beside }: Demand, by: 1 | -1): void {
    for (const domain of alone)
      if (domain >= 0) this.#alone[domain] = (this.#alone[domain] ?? 0) + by;
    for (const domain of beside) this.#beside[domain] = (this.#beside[domain] ?? 0) + by;
  }
}
