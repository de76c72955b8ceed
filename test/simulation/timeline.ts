/**
 * The one time of a simulation: it moves when the story says so, and wakes whoever is due, in order.
 * @module
 */
import type { Clock } from "../../lib/core/clock.ts";

interface Alarm {
  readonly dueMs: number;
  /** Tells alarms apart that are due at one moment: first set, first rung. */
  readonly serial: number;
  /** Gone once cancelled. */
  ring: (() => void) | undefined;
}

/** Where the wall clock stands when a simulation begins. */
const EPOCH_MS = Date.UTC(2026, 0, 1);
/** Turns of the event loop in which everything that woke comes to rest; nothing here waits for the outside. */
const REST_TURNS = 2;

/** Time itself. The servers of a simulation live by it; processes have clocks of their own, which may be wrong. */
export class Timeline implements Clock {
  /** A binary heap: the next alarm first. */
  readonly #alarms: Alarm[] = [];
  #nowMs = 0;
  #serial = 0;

  now(): number {
    return EPOCH_MS + Math.floor(this.#nowMs);
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        cancel();
        reject(signal.reason);
      };
      const cancel = this.schedule(ms, () => {
        signal.removeEventListener("abort", abort);
        resolve();
      });
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  /** Resolves in `ms` milliseconds, whatever happens. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.schedule(ms, resolve));
  }

  /** Calls back in `ms` milliseconds. Returns what cancels that. */
  schedule(ms: number, ring: () => void): () => void {
    const alarm: Alarm = { dueMs: this.#nowMs + ms, serial: (this.#serial += 1), ring };
    this.#push(alarm);
    return () => {
      alarm.ring = undefined;
    };
  }

  /** Moves time on, ringing every alarm at its own moment; whatever one wakes rests before the next rings. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await rest();
    for (;;) {
      const next = this.#alarms[0];
      if (next === undefined || next.dueMs > endMs) break;
      this.#pop();
      if (next.ring === undefined) continue;
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.ring();
      await rest();
    }
    this.#nowMs = endMs;
  }

  #push(alarm: Alarm): void {
    const heap = this.#alarms;
    let at = heap.push(alarm) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = heap[up];
      if (above === undefined || !isBefore(alarm, above)) break;
      heap[at] = above;
      at = up;
    }
    heap[at] = alarm;
  }

  #pop(): void {
    const heap = this.#alarms;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    for (let at = 0; ;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || !isBefore(child, last)) {
        heap[at] = last;
        return;
      }
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
  }
}

function isBefore(one: Alarm, other: Alarm): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.serial < other.serial);
}

/** Lets everything that woke come to rest. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < REST_TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
