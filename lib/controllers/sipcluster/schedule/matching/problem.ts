/**
 * Which hosts can serve which roles: the problem that a matching solves, free of Kubernetes.
 * @module
 */
import type { Key } from "../../../../kube/cache/store.ts";

/** The domains that a host takes in a role. */
export interface Demand {
  /** It must be the only one in each. By the number of the topology key; -1: the role has not this key, or the host. */
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

/** A group with its number in a problem, and the demands that nothing refuses. */
export interface NumberedGroup extends Group {
  readonly number: number;
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
}

/** One host of the group for the role, both by their index. */
export interface GroupPick {
  readonly role: number;
  readonly group: number;
  readonly demand: Demand;
}

/** What stands in the way of a pick: nothing, one other pick, or more. */
export type Clash = GroupPick | "several" | undefined;

/** Who is in which domain. */
export class Occupancy {
  readonly #alone: GroupPick[][] = [];
  readonly #beside: GroupPick[][] = [];

  constructor(held: readonly Demand[] = []) {
    for (const demand of held) this.add({ role: -1, group: -1, demand });
  }

  add(pick: GroupPick): void {
    for (const domain of pick.demand.alone) {
      if (domain >= 0) (this.#alone[domain] ??= []).push(pick);
    }
    for (const domain of pick.demand.beside) (this.#beside[domain] ??= []).push(pick);
  }

  remove(pick: GroupPick): void {
    const drop = (list: GroupPick[] = []): unknown => list.splice(list.indexOf(pick), 1);
    for (const domain of pick.demand.alone) if (domain >= 0) drop(this.#alone[domain]);
    for (const domain of pick.demand.beside) drop(this.#beside[domain]);
  }

  /** Whether nothing stands in the way of a demand. */
  allows(demand: Demand): boolean {
    return this.findClash(demand) === undefined;
  }

  findClash({ alone, beside }: Demand): Clash {
    let clash: Clash;
    for (const domain of alone) {
      if (domain < 0) continue;
      clash = join(join(clash, this.#alone[domain]), this.#beside[domain]);
    }
    for (const domain of beside) clash = join(clash, this.#alone[domain]);
    return clash;
  }
}

function join(clash: Clash, others: readonly GroupPick[] | undefined): Clash {
  const other = others?.[0];
  if (others === undefined || other === undefined) return clash;
  return others.length > 1 || (clash !== undefined && clash !== other) ? "several" : other;
}

/** All of them together. */
export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
