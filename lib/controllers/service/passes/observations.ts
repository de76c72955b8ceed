/**
 * Observes the cloud for all Services.
 *
 * Changes of this process are in every observation, and the full pass finds those of others: a plan rarely needs a new
 * one.
 * @module
 */
import type {
  LoadBalancerQuestion,
  LoadBalancers,
} from "../../../cloud/capabilities/load_balancers.ts";
import { type Clock, startDeadline } from "../../../core/clock.ts";

/** What {@linkcode Observations} need. */
interface ObservationsOptions {
  readonly clock: Clock;
  /** Time between two full passes, in milliseconds. */
  readonly periodMs: number;
  readonly loadBalancers: Pick<LoadBalancers, "observe">;
  readonly question: Omit<LoadBalancerQuestion, "maxAgeMs">;
}

/** Longest time for one observation, in milliseconds. The cloud has deadlines of its own for each request. */
const TIMEOUT_MS = 300_000;
/** An observation this young counts as one that was made just now. */
const FRESH_MS = { release: 10_000, waiting: 2_000 };
/** First and longest pause before a Service is planned again that something prevents. */
const PAUSE_MS = [5_000, 60_000] as const;
/** So long after a change of the leader, a request of the leader before may still be carried out. */
const LATE_REQUEST_MS = 120_000;

/** Observations, of which the last is kept. */
export class Observations {
  readonly #options: ObservationsOptions;
  #last: object | undefined;
  #lastMs = -Infinity;
  /** When the first one began, in monotonic milliseconds. */
  #firstMs: number | undefined;

  constructor(options: ObservationsOptions) {
    this.#options = options;
  }

  /** The last observation, however old. Absent before the first. */
  get last(): object | undefined {
    return this.#last;
  }

  /** The last observation is at least this new, in milliseconds since the epoch. */
  get lastAt(): number {
    const { clock } = this.#options;
    return clock.now() - (clock.monotonic() - this.#lastMs);
  }

  /** Forgets the last observation: it is of another cloud. */
  forget(): void {
    this.#last = undefined;
    this.#lastMs = -Infinity;
  }

  /**
   * How old the observation may be that a conclusion rests on, in milliseconds.
   *
   * @param kind `release`: nothing is left of a load balancer. It may rest on any observation after requests of the
   * leader before are over. `waiting`: something prevents it. That may pass, so Landfall observes again for it, after
   * ever longer pauses
   * @param waitedMs How long the Service has been waiting
   */
  toConclusionAgeMs(kind: "release" | "waiting", waitedMs: number): number {
    const { clock, periodMs } = this.#options;
    const nowMs = clock.monotonic();
    const observingMs = nowMs - (this.#firstMs ?? nowMs);
    const ageMs = kind === "release" ? observingMs - LATE_REQUEST_MS : waitedMs / 2;
    return Math.min(periodMs, Math.max(FRESH_MS[kind], ageMs));
  }

  /**
   * Observes the cloud.
   *
   * @param maxAgeMs How old an observation may be, in milliseconds. @default {as old as a full pass leaves it}
   * @throws {CloudError} when the cloud cannot answer
   */
  async observe(signal: AbortSignal, maxAgeMs: number = this.#options.periodMs): Promise<object> {
    const { clock, loadBalancers, question } = this.#options;
    using deadline = startDeadline(signal, TIMEOUT_MS, clock);
    const nowMs = clock.monotonic();
    this.#firstMs ??= nowMs;
    this.#last = await loadBalancers.observe({ ...question, maxAgeMs }, deadline.signal);
    this.#lastMs = Math.max(this.#lastMs, nowMs - maxAgeMs);
    return this.#last;
  }
}

/**
 * When a Service is planned again that something prevents, in milliseconds: soon at first, because a job may be about
 * to end.
 *
 * @param waitedMs How long it has been waiting
 */
export function toPauseMs(waitedMs: number): number {
  const [least, most] = PAUSE_MS;
  return Math.min(most, Math.max(least, waitedMs));
}
