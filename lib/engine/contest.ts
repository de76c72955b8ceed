/**
 * Keeps a fight over what a controller writes, with somebody else who writes it too, at a slow pace.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { EventOptions, EventRecorder } from "../kube/events/events.ts";
import type { KubeObject } from "../kube/kinds/resource.ts";
import { toKey } from "../kube/cache/store.ts";
import type { ReconcileResult } from "./workers.ts";
import { WarningThrottle } from "./warning_throttle.ts";

/** So many times within {@linkcode WINDOW_MS} one object is put right. */
export const ROUNDS_MAX = 5;
const WINDOW_MS = 60_000;

/** Remembers when objects of one kind were put right. Bounded by their number and by {@linkcode ROUNDS_MAX}. */
export class Contest {
  readonly #clock: Clock;
  readonly #throttle: WarningThrottle;
  /** Monotonic milliseconds of the last rounds, oldest first, by key. */
  readonly #rounds = new Map<string, readonly number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#throttle = new WarningThrottle(clock);
  }

  /**
   * Leaves an object to the other one for a while, if there were too many rounds.
   *
   * @param event What to tell then, now and again
   * @returns What the reconcile ends with; nothing when it may go on
   */
  hold(
    object: KubeObject,
    event: EventOptions,
    events: EventRecorder,
  ): ReconcileResult | undefined {
    const key = toKey(object);
    const pauseMs = this.pauseMs(key);
    if (pauseMs === 0) return undefined;
    if (this.#throttle.passes(key, event)) events.record(object, event);
    return { requeueAfterMs: pauseMs };
  }

  /** How long to wait before an object may be put right again, in milliseconds; 0 to go on. */
  pauseMs(key: string): number {
    const recent = this.#listRecent(key);
    const [oldest] = recent;
    if (oldest === undefined || recent.length < ROUNDS_MAX) return 0;
    return oldest + WINDOW_MS - this.#clock.monotonic();
  }

  /** Notes that an object was put right. */
  noteRound(key: string): void {
    this.#rounds.set(key, [...this.#listRecent(key), this.#clock.monotonic()]);
  }

  /** Drops what is remembered of an object. */
  forget(key: string): void {
    this.#rounds.delete(key);
    this.#throttle.forget(key);
  }

  #listRecent(key: string): readonly number[] {
    const sinceMs = this.#clock.monotonic() - WINDOW_MS;
    return (this.#rounds.get(key) ?? []).filter((atMs) => atMs > sinceMs);
  }
}
