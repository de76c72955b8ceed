/**
 * Addresses that are left alone: a setting that only some stories have. It draws from a stream of its own, so that the
 * other stories stay as they are.
 * @module
 */
import { drawFrom, type Random, type Seed } from "../../support/random.ts";

/** In how many stories addresses may be left alone, and how often they are in these. */
const LEAVING_STORIES = 0.2;
const LEAVING_SHARE = 0.6;
const LEAVING_SALT = 0xadd2;

/** Whether `addresses.mode` is `leave`. */
export class LeftAddresses {
  readonly #random: Random;
  readonly #isOn: boolean;

  constructor(seed: Seed) {
    this.#random = drawFrom(seed, LEAVING_SALT);
    this.#isOn = this.#random.chance(LEAVING_STORIES);
  }

  /** Whether the next settings leave addresses alone; never in most stories. */
  draw(): boolean {
    return this.#isOn && this.#random.chance(LEAVING_SHARE);
  }
}
