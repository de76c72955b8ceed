/**
 * Looks at the cloud for all Services.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancers,
} from "../../../cloud/capabilities/load_balancers.ts";
import { type Clock, startDeadline } from "../../../core/clock.ts";

/** Longest time for one look, in milliseconds. The cloud has deadlines of its own for each request. */
const TIMEOUT_MS = 300_000;

/** Looks, of which the last is kept. */
export class Looks {
  readonly #clock: Clock;
  readonly #loadBalancers: Pick<LoadBalancers, "observe">;
  readonly #claims: () => Iterable<LoadBalancerClaim>;
  readonly #instanceIds: () => ReadonlySet<string>;
  #last: object | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly loadBalancers: Pick<LoadBalancers, "observe">;
    readonly claims: () => Iterable<LoadBalancerClaim>;
    /** Of the instances of Nodes. */
    readonly instanceIds: () => ReadonlySet<string>;
  }) {
    this.#clock = options.clock;
    this.#loadBalancers = options.loadBalancers;
    this.#claims = options.claims;
    this.#instanceIds = options.instanceIds;
  }

  /** The last look, however old. Absent before the first. */
  get last(): object | undefined {
    return this.#last;
  }

  /**
   * Looks at the cloud.
   *
   * @param maxAgeMs How old a look may be, in milliseconds
   * @throws {CloudError} when the cloud cannot answer
   */
  async look(maxAgeMs: number, signal: AbortSignal): Promise<object> {
    using deadline = startDeadline(signal, TIMEOUT_MS, this.#clock);
    const question = { claims: this.#claims, instanceIds: this.#instanceIds, maxAgeMs };
    this.#last = await this.#loadBalancers.observe(question, deadline.signal);
    return this.#last;
  }
}
