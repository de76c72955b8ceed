/**
 * A binary heap.
 * @module
 */

/** Gives its values back in their order, the first one first. */
export class Heap<T> {
  readonly #values: T[] = [];
  readonly #compare: (one: T, other: T) => number;

  /** @param compare Below 0 if `one` comes before `other` */
  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare;
  }

  push(value: T): void {
    const values = this.#values;
    let at = values.push(value) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, above)) return;
      at = above;
    }
  }

  pop(): T | undefined {
    const values = this.#values;
    const [first] = values;
    const last = values.pop();
    if (last === undefined || values.length === 0) return last;
    values[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const below = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfBefore(below, at)) return first;
      at = below;
    }
  }

  #isBefore(at: number, other: number): boolean {
    const [one, two] = [this.#values[at], this.#values[other]];
    return one !== undefined && two !== undefined && this.#compare(one, two) < 0;
  }

  #swapIfBefore(at: number, other: number): boolean {
    if (!this.#isBefore(at, other)) return false;
    const [one, two] = [this.#values[at], this.#values[other]];
    if (one === undefined || two === undefined) return false;
    this.#values[at] = two;
    this.#values[other] = one;
    return true;
  }
}
