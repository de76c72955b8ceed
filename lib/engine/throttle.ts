/**
 * Limits how often a controller writes the same Event, and how often it corrects the same object.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { EventOptions, EventRecorder } from "../kube/events/events.ts";
import type { KubeObject } from "../kube/kinds/resource.ts";
import { toKey } from "../kube/cache/store.ts";
import type { ReconcileResult } from "./workers.ts";

/** Least time between two equal Events on one object. */
const REPEAT_MS = 300_000;

/** Remembers the last Events of each object of one kind. Bounded by the number of objects and of reasons. */
export class WarningThrottle {
  readonly #clock: Clock;
  readonly #said = new Map<string, Map<string, { message: string; atMs: number }>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether to write it now: a new reason, a new message, or five minutes since the last. */
  passes(key: string, { reason, message }: EventOptions): boolean {
    const said = this.#said.get(key) ?? new Map<string, { message: string; atMs: number }>();
    this.#said.set(key, said);
    const atMs = this.#clock.monotonic();
    const last = said.get(reason);
    if (last?.message === message && atMs - last.atMs < REPEAT_MS) return false;
    said.set(reason, { message, atMs });
    return true;
  }

  /** Forgets an object. */
  forget(key: string): void {
    this.#said.delete(key);
  }
}

/** How often one object may be corrected within {@linkcode WINDOW_MS}. */
export const ROUNDS_MAX = 5;
const WINDOW_MS = 60_000;

/** Remembers when objects of one kind were corrected. Bounded by their number and by {@linkcode ROUNDS_MAX}. */
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
   * Leaves an object to the other program for a while, after too many rounds.
   *
   * @param event The Event to write then, from time to time
   * @returns The result of the reconcile; nothing if it may continue
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

  /** How long to wait before an object may be corrected again, in milliseconds; 0 to continue. */
  pauseMs(key: string): number {
    const recent = this.#listRecent(key);
    const [oldest] = recent;
    if (oldest === undefined || recent.length < ROUNDS_MAX) return 0;
    return oldest + WINDOW_MS - this.#clock.monotonic();
  }

  /** Notes that an object was corrected. */
  noteRound(key: string): void {
    this.#rounds.set(key, [...this.#listRecent(key), this.#clock.monotonic()]);
  }

  /** Forgets an object. */
  forget(key: string): void {
    this.#rounds.delete(key);
    this.#throttle.forget(key);
  }

  #listRecent(key: string): readonly number[] {
    const sinceMs = this.#clock.monotonic() - WINDOW_MS;
    return (this.#rounds.get(key) ?? []).filter((atMs) => atMs > sinceMs);
  }
}
