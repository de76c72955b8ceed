/**
 * Keeps a fight over what a controller writes, with somebody else who writes it too, at a slow pace.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { EventOptions, EventRecorder } from "../kube/events.ts";
import type { Node } from "../kube/resource.ts";
import type { ReconcileResult } from "./controller.ts";
import { WarningThrottle } from "./warning_throttle.ts";

/** So many times within {@linkcode WINDOW_MS} one Node is put right. */
export const ROUNDS_MAX = 5;
const WINDOW_MS = 60_000;

/** Remembers when Nodes were put right. Bounded by the number of Nodes and by {@linkcode ROUNDS_MAX}. */
export class Contest {
  readonly #clock: Clock;
  readonly #throttle: WarningThrottle;
  /** Monotonic milliseconds of the last rounds, oldest first, by the Node's name. */
  readonly #rounds = new Map<string, readonly number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#throttle = new WarningThrottle(clock);
  }

  /**
   * Leaves a Node to the other one for a while, if there were too many rounds.
   *
   * @param event What to tell then, now and again
   * @returns What the reconcile ends with; nothing when it may go on
   */
  hold(node: Node, event: EventOptions, events: EventRecorder): ReconcileResult | undefined {
    const { name } = node.metadata;
    const pauseMs = this.pauseMs(name);
    if (pauseMs === 0) return undefined;
    if (this.#throttle.passes(name, event)) events.record(node, event);
    return { requeueAfterMs: pauseMs };
  }

  /** How long to wait before a Node may be put right again, in milliseconds; 0 to go on. */
  pauseMs(node: string): number {
    const recent = this.#listRecent(node);
    const [oldest] = recent;
    if (oldest === undefined || recent.length < ROUNDS_MAX) return 0;
    return oldest + WINDOW_MS - this.#clock.monotonic();
  }

  /** Notes that a Node was put right. */
  noteRound(node: string): void {
    this.#rounds.set(node, [...this.#listRecent(node), this.#clock.monotonic()]);
  }

  /** Drops what is remembered of a Node. */
  forget(node: string): void {
    this.#rounds.delete(node);
    this.#throttle.forget(node);
  }

  #listRecent(node: string): readonly number[] {
    const sinceMs = this.#clock.monotonic() - WINDOW_MS;
    return (this.#rounds.get(node) ?? []).filter((atMs) => atMs > sinceMs);
  }
}
