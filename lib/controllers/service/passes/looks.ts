/**
 * Looks at the cloud for all Services.
 * @module
 */
import type {
  FindHolder,
  LoadBalancerClaim,
  LoadBalancers,
} from "../../../cloud/capabilities/load_balancers.ts";
import { type Conclusion, toConclusionAgeMs } from "./look_age.ts";
import { type Clock, startDeadline } from "../../../core/clock.ts";

/** Longest time for one look, in milliseconds. The cloud has deadlines of its own for each request. */
const TIMEOUT_MS = 300_000;

/** Looks, of which the last is kept. */
export class Looks {
  readonly #clock: Clock;
  readonly #loadBalancers: Pick<LoadBalancers, "observe">;
  readonly #claims: () => Iterable<LoadBalancerClaim>;
  readonly #instanceIds: () => ReadonlySet<string>;
  readonly #findHolder: FindHolder;
  readonly #periodMs: number;
  #last: object | undefined;
  #lastMs = -Infinity;
  /** When the first one began, in monotonic milliseconds. */
  #firstMs: number | undefined;

  constructor(options: {
    readonly clock: Clock;
    /** Time between two full passes, in milliseconds. */
    readonly periodMs: number;
    readonly loadBalancers: Pick<LoadBalancers, "observe">;
    readonly claims: () => Iterable<LoadBalancerClaim>;
    /** Of the instances of Nodes. */
    readonly instanceIds: () => ReadonlySet<string>;
    readonly findHolder: FindHolder;
  }) {
    this.#clock = options.clock;
    this.#loadBalancers = options.loadBalancers;
    this.#claims = options.claims;
    this.#instanceIds = options.instanceIds;
    this.#findHolder = options.findHolder;
    this.#periodMs = options.periodMs;
  }

  /** The last look, however old. Absent before the first. */
  get last(): object | undefined {
    return this.#last;
  }

  /** The last look is at least this new, in milliseconds since the epoch. */
  get lastAt(): number {
    return this.#clock.now() - (this.#clock.monotonic() - this.#lastMs);
  }

  /** Forgets the last look: it is of another cloud. */
  forget(): void {
    this.#last = undefined;
    this.#lastMs = -Infinity;
  }

  /**
   * How old the look may be that a conclusion rests on, in milliseconds.
   *
   * @param waitedMs How long the Service has been waiting
   */
  toConclusionAgeMs(kind: Conclusion["kind"], waitedMs: number): number {
    const nowMs = this.#clock.monotonic();
    const lookingMs = nowMs - (this.#firstMs ?? nowMs);
    return toConclusionAgeMs({ kind, waitedMs, lookingMs, periodMs: this.#periodMs });
  }

  /**
   * Looks at the cloud.
   *
   * @param maxAgeMs How old a look may be, in milliseconds. `undefined`: as old as a full pass leaves it
   * @throws {CloudError} when the cloud cannot answer
   */
  async look(maxAgeMs: number = this.#periodMs, signal: AbortSignal): Promise<object> {
    using deadline = startDeadline(signal, TIMEOUT_MS, this.#clock);
    const question = {
      claims: this.#claims,
      instanceIds: this.#instanceIds,
      findHolder: this.#findHolder,
      maxAgeMs,
    };
    const nowMs = this.#clock.monotonic();
    this.#firstMs ??= nowMs;
    this.#last = await this.#loadBalancers.observe(question, deadline.signal);
    this.#lastMs = Math.max(this.#lastMs, nowMs - maxAgeMs);
    return this.#last;
  }
}
