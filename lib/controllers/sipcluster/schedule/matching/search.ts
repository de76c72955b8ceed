/**
 * Finds the choice that leaves the fewest places empty, by branch and bound.
 * @module
 */
import type { Group, GroupedProblem } from "./groups.ts";
import { type Demand, Occupancy } from "./problem.ts";
import { chooseLayers, type GroupPick, type Layers, relax } from "./relaxation.ts";

/** The best choice that was found. */
export interface Found {
  readonly picks: readonly GroupPick[];
  /** Whether no choice leaves fewer places empty, or at least none fills all. */
  readonly isProven: boolean;
}

/**
 * Searches for at most so many steps: edges of networks and places of picks that it looks at.
 *
 * Each node of the search asks for the largest flow ({@linkcode relax}). If that is no better than the best known
 * choice, nothing below the node is. If its picks do not clash, it is the best below the node. Otherwise the search
 * takes one pick that clashes, then forbids it: together that is every choice, so a search that ends by itself is exact.
 */
export function searchPicks(problem: GroupedProblem, maxSteps: number): Found {
  return new Search(problem, maxSteps).run();
}

class Search {
  readonly #groups: readonly Group[];
  readonly #layers: Layers;
  readonly #occupancy: Occupancy;
  readonly #needs: number[];
  readonly #room: number[];
  readonly #forbidden: readonly Set<number>[];
  readonly #chosen: GroupPick[] = [];
  readonly #wanted: number;
  #best: readonly GroupPick[] = [];
  #steps = 0;
  readonly #maxSteps: number;

  constructor(problem: GroupedProblem, maxSteps: number) {
    this.#groups = problem.groups;
    this.#layers = chooseLayers(problem);
    this.#occupancy = new Occupancy({ held: [], domains: problem.domains });
    this.#needs = [...problem.needs];
    this.#room = problem.groups.map(({ candidates }) => candidates.length);
    this.#forbidden = problem.needs.map(() => new Set<number>());
    this.#wanted = problem.needs.reduce((sum, need) => sum + need, 0);
    this.#maxSteps = maxSteps;
  }

  run(): Found {
    const atMost = this.#explore();
    const isCut = this.#steps >= this.#maxSteps;
    return { picks: this.#best, isProven: !isCut || atMost < this.#wanted || this.#isFull };
  }

  get #isFull(): boolean {
    return this.#best.length === this.#wanted;
  }

  /** Returns how many can be chosen at most from here. */
  #explore(): number {
    const { picks, steps } = relax(this.#groups, this.#layers, {
      needs: this.#needs,
      room: this.#room,
      mayPick: (role, group, demand) =>
        this.#forbidden[role]?.has(group) !== true && this.#occupancy.allows(demand),
    });
    this.#steps += steps + 1;
    const atMost = this.#chosen.length + picks.length;
    if (atMost <= this.#best.length) return atMost;
    const clash = this.#tryAll(picks);
    if (clash === undefined || this.#isFull || this.#steps >= this.#maxSteps) return atMost;
    this.#take(clash);
    this.#explore();
    this.#undo();
    if (this.#isFull || this.#steps >= this.#maxSteps) return atMost;
    this.#forbidden[clash.role]?.add(clash.group);
    this.#explore();
    this.#forbidden[clash.role]?.delete(clash.group);
    return atMost;
  }

  /** Remembers these picks if that is the best so far, without those that clash. Returns the first that does. */
  #tryAll(picks: readonly GroupPick[]): GroupPick | undefined {
    const before = this.#chosen.length;
    const clashes = picks.filter((pick) => !this.#tryOne(pick));
    if (clashes.length > 0) this.#fill();
    if (this.#chosen.length > this.#best.length) this.#best = [...this.#chosen];
    while (this.#chosen.length > before) this.#undo();
    return clashes[0];
  }

  /** Takes what else fits. */
  #fill(): void {
    this.#groups.forEach(({ demands }, group) =>
      demands.forEach((_, role) => {
        this.#steps += 1;
        while (this.#tryOne({ role, group }));
      }),
    );
  }

  #tryOne(pick: GroupPick): boolean {
    const demand = this.#demandOf(pick);
    const isOpen = (this.#needs[pick.role] ?? 0) > 0 && (this.#room[pick.group] ?? 0) > 0;
    if (!isOpen || !demand || this.#forbidden[pick.role]?.has(pick.group) === true) return false;
    if (!this.#occupancy.allows(demand)) return false;
    this.#take(pick);
    return true;
  }

  #take(pick: GroupPick): void {
    this.#count(pick, -1);
    this.#chosen.push(pick);
  }

  #undo(): void {
    const pick = this.#chosen.pop();
    if (pick) this.#count(pick, 1);
  }

  #count({ role, group }: GroupPick, by: 1 | -1): void {
    const demand = this.#demandOf({ role, group });
    if (demand && by < 0) this.#occupancy.add(demand);
    else if (demand) this.#occupancy.remove(demand);
    this.#needs[role] = (this.#needs[role] ?? 0) + by;
    this.#room[group] = (this.#room[group] ?? 0) + by;
  }

  #demandOf({ role, group }: GroupPick): Demand | undefined {
    return this.#groups[group]?.demands[role];
  }
}
