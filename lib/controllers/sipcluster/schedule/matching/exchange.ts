/**
 * Improves a choice: takes a host that meets one other, drops that one, and fills the place that became free.
 * @module
 */
import type { ReducedProblem } from "./reduction.ts";
import type { GroupPick } from "./problem.ts";
import { Selection } from "./selection.ts";

/** For so many exchanges, a host that was dropped is not taken again. */
const REST = 12;

/** A choice, and what finding it cost. */
interface Exchanged {
  readonly picks: readonly GroupPick[];
  readonly steps: number;
}

/** When exchanges end. */
interface ExchangeOptions {
  /** With so many picks, no better choice is possible. */
  readonly goal: number;
  /** A step is about an edge of a network. */
  readonly maxSteps: number;
}

/**
 * Exchanges hosts until the goal is reached, or for about so many steps. It proves
 * nothing, but it finds quickly what a search needs long for: many keys, and hardly a place to spare.
 */
export function exchangePicks(
  problem: ReducedProblem,
  start: readonly GroupPick[],
  options: ExchangeOptions,
): Exchanged {
  return new Exchange(problem, start).run(options);
}

class Exchange {
  readonly #problem: ReducedProblem;
  readonly #selection: Selection;
  readonly #picks = new Set<GroupPick>();
  /** Picks by the domains that they are in, and by group. */
  readonly #inDomain: GroupPick[][];
  readonly #ofGroup: GroupPick[][];
  /** Groups by the domains that they may be in. */
  readonly #groupsIn: number[][];
  /** The exchange until which a pick rests, by group and role. */
  readonly #restsUntil: Int32Array;
  #cursor = 0;
  #steps = 0;

  constructor(problem: ReducedProblem, start: readonly GroupPick[]) {
    const { domains, groups, needs } = problem;
    this.#problem = problem;
    this.#selection = new Selection(problem);
    this.#inDomain = Array.from({ length: domains }, () => []);
    this.#groupsIn = Array.from({ length: domains }, () => []);
    this.#ofGroup = groups.map(() => []);
    this.#restsUntil = new Int32Array(groups.length * needs.length);
    groups.forEach(({ demands }, group) => {
      for (const demand of demands) {
        for (const domain of demand?.alone ?? []) this.#groupsIn[domain]?.push(group);
        for (const domain of demand?.beside ?? []) this.#groupsIn[domain]?.push(group);
      }
    });
    for (const pick of start) this.#take(pick);
  }

  run({ goal, maxSteps }: ExchangeOptions): Exchanged {
    // An exchange never makes the picks fewer.
    for (let round = 1; this.#steps < maxSteps && this.#picks.size < goal; round += 1) {
      const role = this.#problem.needs.findIndex((_, role) => this.#selection.needOf(role) > 0);
      if (role < 0 || !this.#exchange(role, round)) break;
    }
    return { picks: [...this.#picks], steps: this.#steps };
  }

  /** Gives the role one more host, at the cost of at most one other pick. False: there is none. */
  #exchange(role: number, round: number): boolean {
    const { length } = this.#problem.groups;
    for (let tried = 0; tried < length; tried += 1) {
      const group = (this.#cursor + tried) % length;
      const pick = { role, group };
      if ((this.#restsUntil[this.#toIndex(pick)] ?? 0) > round) continue;
      const clash = this.#findClash(pick);
      if (clash === "several") continue;
      this.#cursor = group + 1;
      if (clash !== undefined) {
        this.#drop(clash);
        this.#restsUntil[this.#toIndex(clash)] = round + REST;
      }
      this.#take(pick);
      if (clash !== undefined) this.#refill(clash);
      return true;
    }
    return false;
  }

  /** Takes what fits now in the place of a pick. */
  #refill(dropped: GroupPick): void {
    const demand = this.#selection.demandOf(dropped);
    for (const domain of [...(demand?.alone ?? []), ...(demand?.beside ?? [])]) {
      for (const group of this.#groupsIn[domain] ?? []) {
        this.#problem.needs.forEach((_, role) => {
          this.#steps += 2;
          if (this.#selection.allows({ role, group })) this.#take({ role, group });
        });
      }
    }
  }

  /** The only pick that stands in the way of another one, if there is one. */
  #findClash(pick: GroupPick): GroupPick | "several" | undefined {
    this.#steps += 4;
    const demand = this.#selection.demandOf(pick);
    if (demand === undefined) return "several";
    let clash: GroupPick | undefined;
    for (const domain of demand.alone) {
      for (const other of this.#inDomain[domain] ?? []) {
        if (clash !== undefined && clash !== other) return "several";
        clash = other;
      }
    }
    for (const domain of demand.beside) {
      for (const other of this.#inDomain[domain] ?? []) {
        if (clash === other || this.#isBeside(other, domain)) continue;
        if (clash !== undefined) return "several";
        clash = other;
      }
    }
    if (this.#selection.roomOf(pick.group) > 0 || clash?.group === pick.group) return clash;
    return clash === undefined ? this.#ofGroup[pick.group]?.[0] : "several";
  }

  #isBeside(pick: GroupPick, domain: number): boolean {
    this.#steps += 1;
    return this.#selection.demandOf(pick)?.beside.includes(domain) === true;
  }

  #take(pick: GroupPick): void {
    this.#selection.take(pick);
    this.#picks.add(pick);
    for (const list of this.#listsWith(pick)) list.push(pick);
  }

  #drop(pick: GroupPick): void {
    this.#selection.undo(pick);
    this.#picks.delete(pick);
    for (const list of this.#listsWith(pick)) list.splice(list.indexOf(pick), 1);
  }

  #listsWith(pick: GroupPick): readonly GroupPick[][] {
    const { alone = [], beside = [] } = this.#selection.demandOf(pick) ?? {};
    const lists = [...alone, ...beside].map((domain) => this.#inDomain[domain]);
    return [...lists, this.#ofGroup[pick.group]].filter((list) => list !== undefined);
  }

  #toIndex({ role, group }: GroupPick): number {
    return group * this.#problem.needs.length + role;
  }
}
