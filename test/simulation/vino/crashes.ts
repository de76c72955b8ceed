/**
 * Deaths of processes in the middle of a change, before the server has it or after.
 * @module
 */
import type { Random } from "../../support/random.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";

/** How long a request is on its way there and back at most, while the network is fast. */
const WAY_MS = 8;

/** The deaths. */
export class Crashes {
  readonly #random: Random;
  readonly #timeline: Timeline;
  readonly #trace: Trace;
  /** How many of the requests that change something a process does not survive. */
  share = 0;

  constructor(random: Random, timeline: Timeline, trace: Trace) {
    this.#random = random;
    this.#timeline = timeline;
    this.#trace = trace;
  }

  /** Called when a process sends a request that changes something. */
  reach(kill: () => void, name: string): void {
    const random = this.#random;
    if (!random.chance(this.share)) return;
    const ms = random.pick([0, random.between(1, WAY_MS), random.between(WAY_MS, 1_000)]);
    this.#trace.note(name, `dies ${ms} ms after it asked for a change`);
    this.#timeline.schedule(ms, kill);
  }
}
