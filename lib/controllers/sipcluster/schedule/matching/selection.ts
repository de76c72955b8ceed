/**
 * Hosts chosen so far, which can be undone.
 * @module
 */
import { type Demand, type GroupPick, Occupancy } from "./problem.ts";
import type { ReducedGroup, ReducedProblem } from "./reduction.ts";

/** Picks that fit each other. */
export class Selection {
  readonly groups: readonly ReducedGroup[];
  readonly occupancy: Occupancy;
  readonly #needs: number[];
  readonly #room: number[];

  constructor({ groups, needs }: ReducedProblem) {
    this.groups = groups;
    this.occupancy = new Occupancy();
    this.#needs = [...needs];
    this.#room = groups.map(({ size }) => size);
  }

  /** How many hosts a role still needs. */
  needOf(role: number): number {
    return this.#needs[role] ?? 0;
  }

  /** How many hosts of a group are left. */
  roomOf(group: number): number {
    return this.#room[group] ?? 0;
  }

  demandOf({ role, group }: GroupPick): Demand | undefined {
    return this.groups[group]?.demands[role];
  }

  /** Whether the pick is needed, and fits those that are taken. */
  allows(pick: GroupPick): boolean {
    if (this.needOf(pick.role) <= 0 || this.roomOf(pick.group) <= 0) return false;
    const demand = this.demandOf(pick);
    return demand !== undefined && this.occupancy.allows(demand);
  }

  take(pick: GroupPick): void {
    const demand = this.demandOf(pick);
    if (demand) this.occupancy.add(demand);
    this.#count(pick, -1);
  }

  undo(pick: GroupPick): void {
    const demand = this.demandOf(pick);
    if (demand) this.occupancy.remove(demand);
    this.#count(pick, 1);
  }

  #count({ role, group }: GroupPick, by: 1 | -1): void {
    this.#needs[role] = this.needOf(role) + by;
    this.#room[group] = this.roomOf(group) + by;
  }
}
