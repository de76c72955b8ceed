/**
 * Finds the choice that leaves the fewest places empty, by branch and bound.
 * @module
 */
import {
  type Clash,
  type Demand,
  type GroupPick,
  type NumberedGroup,
  Occupancy,
  sum,
} from "./problem.ts";
import { type Layers, relax } from "./relaxation.ts";

/** The best choice that was found. */
interface Found {
  readonly picks: readonly GroupPick[];
  /** Whether no choice leaves fewer places empty, or at least none fills all. */
  readonly isProven: boolean;
}

/** How a search goes, and when it ends. */
interface SearchOptions {
  readonly needs: readonly number[];
  readonly layers: Layers;
  /** A choice that fits. */
  readonly start: readonly GroupPick[];
  /** About how many edges of networks it may look at. */
  readonly maxSteps: number;
}

/** For so many exchanges, a host that was dropped is not taken again. */
const REST = 12;

/**
 * Searches for a choice of more picks than the one at the start.
 *
 * Each node of the search asks for the largest flow ({@linkcode relax}). If that is no better than the best known
 * choice, nothing below the node is. If its picks do not clash, it is the best below the node. Otherwise the search
 * takes one pick that clashes, then forbids it: together that is every choice, so a search that ends by itself is
 * exact. Before it branches, it exchanges picks: that often is enough, if there is hardly a place to spare.
 */
export function searchPicks(groups: readonly NumberedGroup[], options: SearchOptions): Found {
  return new Search(groups, options).run();
}

class Search {
  /** By group. */
  readonly #picks: readonly (readonly GroupPick[])[];
  readonly #layers: Layers;
  readonly #maxSteps: number;
  readonly #occupancy = new Occupancy();
  readonly #needs: number[];
  readonly #room: number[] = [];
  readonly #chosen: GroupPick[] = [];
  readonly #forbidden = new Set<GroupPick>();
  #best: readonly GroupPick[];
  #steps = 0;

  constructor(groups: readonly NumberedGroup[], { needs, layers, start, maxSteps }: SearchOptions) {
    this.#picks = groups.map(({ number, demands }) =>
      demands.flatMap((demand, role) => (demand ? [{ role, group: number, demand }] : [])),
    );
    this.#layers = layers;
    this.#maxSteps = maxSteps;
    this.#needs = [...needs];
    for (const { number, hosts } of groups) this.#room[number] = hosts.length;
    this.#best = start;
  }

  run(): Found {
    const wanted = sum(this.#needs);
    const picks = this.#relax();
    const atMost = picks.length;
    const clash = this.#tryAll(picks);
    this.#exchange(atMost, (this.#maxSteps + this.#steps) / 2);
    this.#branch(clash, atMost);
    const isBest = this.#best.length === atMost || this.#steps < this.#maxSteps;
    return { picks: this.#best, isProven: isBest || atMost < wanted };
  }

  #relax(): readonly GroupPick[] {
    const open = this.#picks
      .map((picks) => picks.filter((pick) => this.#allows(pick) && !this.#forbidden.has(pick)))
      .filter(({ length }) => length > 0);
    const { picks, steps } = relax({ needs: this.#needs, room: this.#room, open }, this.#layers);
    this.#steps += steps + this.#picks.length;
    return picks;
  }

  /** Looks at all choices with a pick that clashes with others, then at all without it. */
  #branch(pick: GroupPick | undefined, goal: number): void {
    const isOver = (): boolean => this.#best.length >= goal || this.#steps >= this.#maxSteps;
    if (pick === undefined || isOver()) return;
    this.#take(pick);
    this.#explore(goal);
    this.#drop(pick);
    if (isOver()) return;
    this.#forbidden.add(pick);
    this.#explore(goal);
    this.#forbidden.delete(pick);
  }

  #explore(goal: number): void {
    const picks = this.#relax();
    if (this.#chosen.length + picks.length > this.#best.length) {
      this.#branch(this.#tryAll(picks), goal);
    }
  }

  /** Remembers these picks if that is the best so far, without those that clash. Returns the first that does. */
  #tryAll(picks: readonly GroupPick[]): GroupPick | undefined {
    const before = this.#chosen.length;
    let clash: GroupPick | undefined;
    for (const pick of picks) {
      if (this.#allows(pick)) this.#take(pick);
      else clash ??= pick;
    }
    this.#finish(before);
    return clash;
  }

  /** Remembers what is chosen if that is the best so far, and undoes all but the first picks. */
  #finish(before: number): void {
    if (this.#chosen.length > this.#best.length) this.#best = [...this.#chosen];
    for (const pick of this.#chosen.slice(before).reverse()) this.#drop(pick);
  }

  /**
   * Takes a host that meets one other, drops that one, and fills the place that became free: again and again. That
   * never makes the picks fewer.
   */
  #exchange(goal: number, maxSteps: number): void {
    const picks = this.#picks.flat();
    const inDomain = new Map<number, GroupPick[]>();
    for (const pick of picks) {
      for (const domain of listDomains(pick.demand)) {
        const known = inDomain.get(domain);
        if (known === undefined) inDomain.set(domain, [pick]);
        else known.push(pick);
      }
    }
    /** The exchange until which a pick rests. */
    const rests = new Map<GroupPick, number>();
    for (const pick of this.#best) this.#take(pick);
    let cursor = 0;
    for (let round = 1; this.#chosen.length < goal && this.#steps < maxSteps; round += 1) {
      let pick: GroupPick | undefined;
      let clash: Clash = "several";
      for (let tried = 0; tried < picks.length && clash === "several"; tried += 1) {
        pick = picks[cursor];
        cursor = (cursor + 1) % picks.length;
        this.#steps += 1;
        const isOffered =
          pick && (this.#needs[pick.role] ?? 0) > 0 && (rests.get(pick) ?? 0) <= round;
        if (pick && isOffered) clash = this.#findClash(pick);
      }
      if (pick === undefined || clash === "several") break;
      if (clash) {
        this.#steps += this.#chosen.length / 64;
        this.#drop(clash);
        rests.set(clash, round + REST);
      }
      this.#take(pick);
      for (const domain of clash ? listDomains(clash.demand) : []) {
        for (const other of inDomain.get(domain) ?? []) {
          this.#steps += 2;
          if (this.#allows(other)) this.#take(other);
        }
      }
    }
    this.#finish(0);
  }

  /** What must be dropped for a pick. */
  #findClash({ group, demand }: GroupPick): Clash {
    this.#steps += 4;
    const clash = this.#occupancy.findClash(demand);
    if ((this.#room[group] ?? 0) > 0) return clash;
    if (clash === undefined) return this.#chosen.find((other) => other.group === group);
    return clash !== "several" && clash.group === group ? clash : "several";
  }

  /** Whether a pick is needed, and fits those that are chosen. */
  #allows({ role, group, demand }: GroupPick): boolean {
    const isNeeded = (this.#needs[role] ?? 0) > 0 && (this.#room[group] ?? 0) > 0;
    return isNeeded && this.#occupancy.allows(demand);
  }

  #take(pick: GroupPick): void {
    this.#occupancy.add(pick);
    this.#chosen.push(pick);
    this.#count(pick, -1);
  }

  #drop(pick: GroupPick): void {
    this.#occupancy.remove(pick);
    this.#chosen.splice(this.#chosen.lastIndexOf(pick), 1);
    this.#count(pick, 1);
  }

  #count({ role, group }: GroupPick, by: 1 | -1): void {
    this.#needs[role] = (this.#needs[role] ?? 0) + by;
    this.#room[group] = (this.#room[group] ?? 0) + by;
  }
}

function listDomains({ alone, beside }: Demand): readonly number[] {
  return [...alone, ...beside].filter((domain) => domain >= 0);
}
