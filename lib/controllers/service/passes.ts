/**
 * Observes the cloud for all Services, and passes over all of them: by the clock, and when Nodes change.
 *
 * Changes of this process are in every observation. Those of others are not: they may be what a user changed before the
 * Service, or what a Service waits for.
 * @module
 */
import type {
  LoadBalancerObservation,
  LoadBalancerQuestion,
  LoadBalancers,
} from "../../cloud/capabilities/load_balancers.ts";
import { type Clock, Sleeper, startDeadline, toBackoffMs } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { Key } from "../../kube/cache/store.ts";
import type { ServiceMetrics } from "./metrics.ts";

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

/** What {@linkcode runFullPasses} needs. */
interface FullPassOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Time between two passes, in milliseconds; up to a tenth longer, so that processes do not keep in step. */
  readonly periodMs: number;
  /** Whether a Service has a load balancer, or should have one. */
  readonly isNeeded: () => boolean;
  /** Looks at the cloud now. */
  readonly look: (signal: AbortSignal) => Promise<unknown>;
  /** Has all load balancers reconciled. */
  readonly enqueueAll: () => void;
  /** In [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

const RETRY = { baseMs: 5_000, capMs: 300_000, jitter: 0.2 } as const;
const JITTER = 0.1;

/**
 * Passes until the signal aborts; the first at once. If the cloud does not answer, no Service is touched. A cluster
 * without load balancers costs the cloud nothing.
 */
export async function runFullPasses(options: FullPassOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, periodMs, isNeeded, look, enqueueAll, random = Math.random } = options;
  for (let failures = 0; !signal.aborted;) {
    let pauseMs = periodMs * (1 + JITTER * random());
    try {
      if (isNeeded()) await look(signal);
      failures = 0;
      enqueueAll();
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      pauseMs = Math.min(pauseMs, toBackoffMs(failures, { ...RETRY, random }));
      log.warn("Cannot compare the load balancers with their Services", { error });
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}

/** What a {@linkcode NodePass} needs. */
interface NodePassOptions {
  readonly clock: Clock;
  readonly metrics: Pick<ServiceMetrics, "countNodeFailure" | "noteHostUpdate" | "noteNodePass">;
  /** The load balancers whose Nodes are not those of the cluster now. */
  readonly listOutdated: () => Iterable<Key>;
  readonly enqueue: (key: Key) => void;
}

/** How long to collect changes: Nodes come and go in groups. */
const BURST_MS = 1_000;

/**
 * Starts passes. A pass only says which load balancers to reconcile. Each reads the Nodes when it is planned, so no
 * pass can undo a newer one.
 */
export class NodePass {
  readonly #options: NodePassOptions;
  readonly #sleeper: Sleeper;
  #isDue = false;
  #startedMs = 0;
  readonly #left = new Set<Key>();

  constructor(options: NodePassOptions) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.clock);
  }

  /** Starts a pass soon. */
  request(): void {
    this.#isDue = true;
    this.#sleeper.wake();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      if (!this.#isDue) await this.#sleeper.sleep(Infinity, signal);
      await clock.sleep(BURST_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#isDue = false;
      this.#start();
    }
  }

  /** Notes that a load balancer was reconciled. */
  noteEnd(key: Key, isOk: boolean): void {
    if (!this.#left.delete(key)) return;
    const { clock, metrics } = this.#options;
    const ms = clock.monotonic() - this.#startedMs;
    if (isOk) metrics.noteHostUpdate(ms);
    else metrics.countNodeFailure();
    if (this.#left.size === 0) metrics.noteNodePass(ms);
  }

  #start(): void {
    const { clock, listOutdated, enqueue } = this.#options;
    // Load balancers that still lack the Nodes of the last pass count from its start.
    if (this.#left.size === 0) this.#startedMs = clock.monotonic();
    for (const key of listOutdated()) {
      this.#left.add(key);
      enqueue(key);
    }
  }
}
