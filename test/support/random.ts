/**
 * Chance that can be repeated: the same seed draws the same numbers, on every machine.
 * @module
 */

/** A stream of numbers from one seed (mulberry32: small, fast, and good enough to choose what goes wrong next). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). Bound to its stream, so that it can stand where `Math.random` would. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** True so often, 0 to 1. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of several. @throws RangeError when there is none */
  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError("Cannot pick one of none");
    return choices[this.between(0, choices.length - 1)] as T;
  }

  /** One of several, each as often as its weight says against the others'. @throws RangeError when there is none */
  weigh<T extends { readonly weight: number }>(choices: readonly T[]): T {
    let left = this.next() * choices.reduce((sum, { weight }) => sum + weight, 0);
    const found = choices.find(({ weight }) => (left -= weight) < 0) ?? choices.at(-1);
    if (found === undefined) throw new RangeError("Cannot weigh none");
    return found;
  }

  /** A stream of its own for one part, so that what another part draws does not change it. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}

/** Names a story: all that happens by chance in it. What is settled is not drawn. */
export type Seed = number | "settled";

/** A stream for one part of a story. @param salt Sets it apart from the streams of other parts. @default {none} */
export function drawFrom(seed: Seed, salt: number = 0): Random {
  return seed === "settled" ? new SettledRandom(salt) : new Random(seed ^ salt);
}

/** Nothing that may be otherwise is: the first of several, the least, and never what happens only now and then. */
class SettledRandom extends Random {
  override between(least: number): number {
    return least;
  }

  override chance(): boolean {
    return false;
  }

  override pick<T>(choices: readonly T[]): T {
    return super.pick(choices.slice(0, 1));
  }
}
