/**
 * Observes the cloud for all Services.
 *
 * Changes of this process are in every observation. Those of others are not: they may be what a user changed before the
 * Service, or what a Service waits for.
 * @module
 */
import type {
  LoadBalancerObservation,
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
/** An older observation serves no Service that something touches. */
const SERVED_MS = 60_000;
/** First and longest pause before a Service is planned again that something prevents. */
const PAUSE_MS = [5_000, 60_000] as const;
/** So long after a change of the leader, a request of the leader before may still be carried out. */
const LATE_REQUEST_MS = 120_000;

/** Observations, of which the last is kept. */
export class Observations {
  readonly #options: ObservationsOptions;
  #last: LoadBalancerObservation | undefined;
  /** When the first one began, in monotonic milliseconds. */
  #firstMs: number | undefined;

  constructor(options: ObservationsOptions) {
    this.#options = options;
  }

  /** The last observation, however old. Absent before the first. */
  get last(): LoadBalancerObservation | undefined {
    return this.#last;
  }

  /** Forgets the last observation: it is of another cloud. */
  forget(): void {
    this.#last = undefined;
  }

  /**
   * Since when the observation must be that a step or a conclusion rests on, in monotonic milliseconds.
   *
   * @param kind `step`: and that a load balancer is as it should be. `release`: nothing is left of a load balancer. It
   * may rest on any observation after requests of the leader before are over. `waiting`: something prevents it, which
   * may have passed
   */
  toSinceMs(kind: "release" | "step" | "waiting"): number {
    const { clock, periodMs } = this.#options;
    const nowMs = clock.monotonic();
    if (kind === "step") return nowMs - SERVED_MS;
    if (kind === "waiting") return nowMs - FRESH_MS.waiting;
    const observingMs = nowMs - (this.#firstMs ?? nowMs);
    return nowMs - Math.min(periodMs, Math.max(FRESH_MS.release, observingMs - LATE_REQUEST_MS));
  }

  /**
   * When a Service is planned again that something prevents, in milliseconds: soon at first, because a job may be about
   * to end. Later, all that wait are planned at the same time, and share one observation.
   *
   * @param waitedMs How long it has been waiting
   */
  toPauseMs(waitedMs: number): number {
    const [least, most] = PAUSE_MS;
    if (waitedMs < most) return Math.max(least, waitedMs);
    const pauseMs = most - (this.#options.clock.monotonic() % most);
    return pauseMs < least ? pauseMs + most : pauseMs;
  }

  /**
   * Observes the cloud.
   *
   * @param maxAgeMs How old an observation may be, in milliseconds. @default {as old as a full pass leaves it}
   * @throws {CloudError} when the cloud cannot answer
   */
  async observe(
    signal: AbortSignal,
    maxAgeMs: number = this.#options.periodMs,
  ): Promise<LoadBalancerObservation> {
    const { clock, loadBalancers, question } = this.#options;
    using deadline = startDeadline(signal, TIMEOUT_MS, clock);
    this.#firstMs ??= clock.monotonic();
    this.#last = await loadBalancers.observe({ ...question, maxAgeMs }, deadline.signal);
    return this.#last;
  }
}
