/**
 * Asks for a newer inventory when the fate of a Node hangs on it, and no oftener than that.
 * @module
 */
import type { NodeContext } from "../context.ts";

/** How often the cloud is looked at while a Node that is not Ready misses its machine. */
const OBSERVE_INTERVAL_MS = 10_000;
/** An inventory that is younger is good enough for a Node that just ceased to be Ready. */
const FRESH_MS = 5_000;

/** What a {@linkcode RefreshPacer} works with. */
export interface RefreshPacerOptions extends Pick<NodeContext, "source" | "clock"> {
  /** How often {@linkcode RefreshPacer.tick} is called, in milliseconds. */
  readonly tickIntervalMs: number;
}

/** Asks the inventory source in between its own refreshes. */
export class RefreshPacer {
  readonly #options: RefreshPacerOptions;
  /** When a Node last ceased to be Ready, in monotonic milliseconds. */
  #lastFallMs = -Infinity;
  /** When a refresh was last asked for. The one that follows began later than that, however long it takes. */
  #lastAskedMs = -Infinity;

  constructor(options: RefreshPacerOptions) {
    this.#options = options;
  }

  /** A Node ceased to be Ready: its machine may be off, or gone. */
  noteFall(): void {
    this.#lastFallMs = this.#options.clock.monotonic();
    if (this.#isOutdated()) this.#ask();
  }

  /**
   * Called at a steady pace, not after refreshes: a cloud that takes long to answer would be asked without a pause.
   *
   * @param hasMissing Whether a Node that is not Ready misses its machine
   */
  tick(hasMissing: boolean): void {
    if ((hasMissing && this.#isDue()) || this.#isOutdated()) this.#ask();
  }

  #isDue(): boolean {
    const { source, clock, tickIntervalMs } = this.#options;
    const { ageMs = Infinity } = source;
    const sinceAskedMs = clock.monotonic() - this.#lastAskedMs;
    // Half a tick early is nearer to the pace than half a tick late.
    const earlyMs = Math.min(tickIntervalMs, OBSERVE_INTERVAL_MS) / 2;
    return Math.min(ageMs, sinceAskedMs) + earlyMs >= OBSERVE_INTERVAL_MS;
  }

  /** Whether the inventory is of before the last fall and no longer fresh, and none was asked for since. */
  #isOutdated(): boolean {
    const { current, ageMs = Infinity } = this.#options.source;
    const seenMs = Math.max(current?.observedAtMs ?? -Infinity, this.#lastAskedMs);
    return ageMs >= FRESH_MS && this.#lastFallMs > seenMs;
  }

  #ask(): void {
    const { source, clock } = this.#options;
    this.#lastAskedMs = clock.monotonic();
    source.requestRefresh();
  }
}
