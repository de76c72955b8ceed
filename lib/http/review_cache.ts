/**
 * A cache for one kind of access review. It keeps answers for a while, asks no question twice at the same time, and
 * stops asking after too many recent refusals.
 * @module
 */
import { abortable, type Clock, startDeadline } from "../core/clock.ts";
import type { RateBudget } from "../core/concurrency.ts";
import { remember } from "../core/maps.ts";

/** The answer to a question. */
type Verdict<T> = { readonly kind: "granted"; readonly value: T } | { readonly kind: "refused" };

/** How long an answer counts, as in other Kubernetes components. */
const FRESH_MS = 10_000;
const ASK_MS = 5_000;
/** Grants and refusals are stored separately: a flood of one cannot remove the other. */
const GRANTED_MAX = 256;
const REFUSED_MAX = 256;
/** How many questions are asked at once. Each is a request to the API server. */
const ASKING_MAX = 8;

/** {@linkcode ReviewCache.ask} did not ask, because of too many refusals. */
export class TooManyQuestions extends Error {
  override readonly name = "TooManyQuestions";
}

interface Granted<T> {
  readonly verdict: Verdict<T>;
  readonly untilMs: number;
}

/** Remembers the answers to questions. Keys must not be secrets. */
export class ReviewCache<T> {
  readonly #clock: Clock;
  readonly #budget: RateBudget;
  readonly #signal: AbortSignal;
  // An old grant stays, so that a user with recent access can be reviewed again even during a flood.
  readonly #granted = new Map<string, Granted<T>>();
  readonly #refused = new Map<string, number>();
  readonly #asking = new Map<string, Promise<Verdict<T>>>();

  /** @param signal Ends all questions: that of the process, since several requests may wait for one answer */
  constructor(clock: Clock, budget: RateBudget, signal: AbortSignal) {
    this.#clock = clock;
    this.#budget = budget;
    this.#signal = signal;
  }

  /**
   * Returns the answer; asks for it if there is no recent one. A failed question is not kept.
   *
   * @param question Resolves with the grant, or `undefined` for a refusal
   * @throws {TooManyQuestions}, or what the question throws; a time-out after five seconds
   */
  async ask(
    key: string,
    question: (signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<Verdict<T>> {
    const known = this.#find(key);
    if (known !== undefined) return known;
    const asked = this.#asking.get(key);
    if (asked !== undefined) return await asked;
    const isUnknown = !this.#granted.has(key);
    if (this.#asking.size >= ASKING_MAX || (isUnknown && !this.#budget.hasRoom)) {
      throw new TooManyQuestions("too many refused questions; try again later");
    }
    const answer = this.#send(key, question).finally(() => this.#asking.delete(key));
    this.#asking.set(key, answer);
    return await answer;
  }

  #find(key: string): Verdict<T> | undefined {
    const nowMs = this.#clock.monotonic();
    const granted = this.#granted.get(key);
    if (granted !== undefined && nowMs < granted.untilMs) return granted.verdict;
    const refusedUntilMs = this.#refused.get(key);
    if (refusedUntilMs !== undefined && nowMs < refusedUntilMs) return { kind: "refused" };
    return undefined;
  }

  async #send(
    key: string,
    question: (signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<Verdict<T>> {
    using deadline = startDeadline(this.#signal, ASK_MS, this.#clock);
    const { signal } = deadline;
    // The question may not obey its signal.
    return this.#remember(key, await abortable(question(signal), signal));
  }

  #remember(key: string, value: T | undefined): Verdict<T> {
    const untilMs = this.#clock.monotonic() + FRESH_MS;
    if (value === undefined) {
      this.#budget.spend();
      this.#granted.delete(key);
      remember(this.#refused, key, untilMs, REFUSED_MAX);
      return { kind: "refused" };
    }
    const verdict: Verdict<T> = { kind: "granted", value };
    this.#refused.delete(key);
    remember(this.#granted, key, { verdict, untilMs }, GRANTED_MAX);
    return verdict;
  }
}
