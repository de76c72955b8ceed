/**
 * Requests a newer inventory when a decision about a Node needs one, at a limited rate.
 * @module
 */
import type { NodeContext } from "../node_context.ts";

/** Time between two inventories while a decision about a Node waits for them. */
const OBSERVE_INTERVAL_MS = 10_000;
/** For a Node that has just become not Ready, an inventory younger than this is good enough. */
const FRESH_MS = 5_000;

/** The dependencies of a {@linkcode RefreshPacer}. */
interface RefreshPacerOptions extends Pick<NodeContext, "source" | "clock"> {
  /** Time between two calls of {@linkcode RefreshPacer.tick}, in milliseconds. */
  readonly tickIntervalMs: number;
}

/** Requests refreshes in addition to those at the normal interval. */
export class RefreshPacer {
  readonly #options: RefreshPacerOptions;
  /** When a Node last became not Ready, in monotonic milliseconds. */
  #lastNotReadyMs = -Infinity;
  /** When this class last requested a refresh. That refresh begins later than this time. */
  #lastRequestMs = -Infinity;

  constructor(options: RefreshPacerOptions) {
    this.#options = options;
  }

  /** Records that a Node became not Ready: its machine may be off or gone. */
  noteNotReady(): void {
    this.#lastNotReadyMs = this.#options.clock.monotonic();
    if (this.#isOutdated()) this.#request();
  }

  /**
   * Call it at a steady rate, and not after refreshes: a slow cloud would then get requests without a pause.
   *
   * @param isWaiting Whether a decision about a Node waits for another inventory
   */
  tick(isWaiting: boolean): void {
    if ((isWaiting && this.#isDue()) || this.#isOutdated()) this.#request();
  }

  #isDue(): boolean {
    const { source, clock, tickIntervalMs } = this.#options;
    const { ageMs = Infinity } = source;
    const sinceRequestMs = clock.monotonic() - this.#lastRequestMs;
    // Half a tick too early keeps the interval better than half a tick too late.
    const earlyMs = Math.min(tickIntervalMs, OBSERVE_INTERVAL_MS) / 2;
    return Math.min(ageMs, sinceRequestMs) + earlyMs >= OBSERVE_INTERVAL_MS;
  }

  /**
   * Whether the inventory is older than the last Node that became not Ready, is not fresh, and no refresh was requested
   * since.
   */
  #isOutdated(): boolean {
    const { current, ageMs = Infinity } = this.#options.source;
    const seenMs = Math.max(current?.observedAtMs ?? -Infinity, this.#lastRequestMs);
    return ageMs >= FRESH_MS && this.#lastNotReadyMs > seenMs;
  }

  #request(): void {
    const { source, clock } = this.#options;
    this.#lastRequestMs = clock.monotonic();
    source.requestRefresh();
  }
}
