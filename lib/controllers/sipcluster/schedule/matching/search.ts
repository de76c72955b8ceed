/**
 * Finds the choice that leaves the fewest places empty, by branch and bound.
 * @module
 */
import { exchangePicks } from "./exchange.ts";
import type { ReducedProblem } from "./reduction.ts";
import type { Limits } from "./layers.ts";
import { Relaxation } from "./relaxation.ts";
import type { GroupPick } from "./problem.ts";
import { Selection } from "./selection.ts";

/** The best choice that was found. */
interface Found {
  readonly picks: readonly GroupPick[];
  /** Whether no choice leaves fewer places empty, or at least none fills all. */
  readonly isProven: boolean;
}

/** Where a search starts, and when it ends. */
interface SearchOptions {
  /** A choice that fits. */
  readonly start: readonly GroupPick[];
  readonly limits: Limits;
  /** About how many edges of networks it may look at. */
  readonly maxSteps: number;
}

/**
 * Searches for a choice that is better than the first one.
 *
 * Each node of the search asks for the largest flow ({@linkcode Relaxation}). If that is no better than the best known
 * choice, nothing below the node is. If its picks do not clash, it is the best below the node. Otherwise the search
 * takes one pick that clashes, then forbids it: together that is every choice, so a search that ends by itself is
 * exact.
 */
export function searchPicks(problem: ReducedProblem, options: SearchOptions): Found {
  return new Search(problem, options).run();
}

class Search {
  readonly #problem: ReducedProblem;
  readonly #relaxation: Relaxation;
  readonly #selection: Selection;
  readonly #forbidden: readonly Set<number>[];
  readonly #chosen: GroupPick[] = [];
  readonly #maxSteps: number;
  #best: readonly GroupPick[];
  #steps = 0;

  constructor(problem: ReducedProblem, { start, limits, maxSteps }: SearchOptions) {
    this.#problem = problem;
    this.#relaxation = new Relaxation(problem, limits);
    this.#selection = new Selection(problem);
    this.#forbidden = problem.needs.map(() => new Set<number>());
    this.#best = start;
    this.#maxSteps = maxSteps;
  }

  run(): Found {
    const wanted = this.#problem.needs.reduce((sum, need) => sum + need, 0);
    const picks = this.#solve();
    const atMost = picks.length;
    const clash = this.#tryAll(picks);
    if (this.#best.length < atMost) this.#improve(atMost);
    if (clash !== undefined && this.#best.length < atMost) this.#branch(clash, atMost);
    const isBest = this.#best.length === atMost || !this.#isCut;
    return { picks: this.#best, isProven: isBest || atMost < wanted };
  }

  /** Exchanges picks: often that is enough, if there is hardly a place to spare. */
  #improve(goal: number): void {
    const left = this.#maxSteps - this.#steps - this.#relaxation.steps;
    const { picks, steps } = exchangePicks(this.#problem, this.#best, {
      goal,
      maxSteps: left / 2,
    });
    this.#steps += steps;
    this.#best = picks;
  }

  get #isCut(): boolean {
    return this.#steps + this.#relaxation.steps >= this.#maxSteps;
  }

  #solve(): readonly GroupPick[] {
    return this.#relaxation.solve(
      this.#selection,
      ({ role, group }) => this.#forbidden[role]?.has(group) === true,
    );
  }

  #explore(goal: number): void {
    const picks = this.#solve();
    if (this.#chosen.length + picks.length <= this.#best.length) return;
    const clash = this.#tryAll(picks);
    if (clash !== undefined && this.#best.length < goal) this.#branch(clash, goal);
  }

  /** Looks at all choices with a pick, then at all without it. */
  #branch(pick: GroupPick, goal: number): void {
    if (this.#isCut) return;
    this.#take(pick);
    this.#explore(goal);
    this.#undo();
    if (this.#isCut || this.#best.length >= goal) return;
    this.#forbidden[pick.role]?.add(pick.group);
    this.#explore(goal);
    this.#forbidden[pick.role]?.delete(pick.group);
  }

  /** Remembers these picks if that is the best so far, without those that clash. Returns the first that does. */
  #tryAll(picks: readonly GroupPick[]): GroupPick | undefined {
    const before = this.#chosen.length;
    let clash: GroupPick | undefined;
    for (const pick of picks) {
      this.#steps += 1;
      if (this.#selection.allows(pick)) this.#take(pick);
      else clash ??= pick;
    }
    if (this.#chosen.length > this.#best.length) this.#best = [...this.#chosen];
    while (this.#chosen.length > before) this.#undo();
    return clash;
  }

  #take(pick: GroupPick): void {
    this.#selection.take(pick);
    this.#chosen.push(pick);
  }

  #undo(): void {
    const pick = this.#chosen.pop();
    if (pick) this.#selection.undo(pick);
  }
}
