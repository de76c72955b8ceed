/**
 * A cache for one kind of access review. It keeps answers for a while, asks no question twice at the same time, and
 * stops asking after too many recent refusals.
 * @module
 */
import { abortable, type Clock, startDeadline } from "../core/clock.ts";
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
const REFUSALS_MAX = 20;
const REFUSALS_PER_SECOND = 2;

/** {@linkcode ReviewCache.ask} did not ask, because of too many refusals. */
export class TooManyQuestions extends Error {
  override readonly name = "TooManyQuestions";
}

/** The allowed number of refusals. */
export class RefusalBudget {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #perSecond: number;
  #left: number;
  #sinceMs: number;

  /**
   * @param limits.max How many there may be at once. @default {20}
   * @param limits.perSecond How many there may be on average. @default {2}
   */
  constructor(
    clock: Clock,
    {
      max = REFUSALS_MAX,
      perSecond = REFUSALS_PER_SECOND,
    }: { readonly max?: number; readonly perSecond?: number } = {},
  ) {
    this.#clock = clock;
    this.#max = max;
    this.#perSecond = perSecond;
    this.#left = max;
    this.#sinceMs = clock.monotonic();
  }

  /** Whether one more refusal is allowed. */
  get hasRoom(): boolean {
    const nowMs = this.#clock.monotonic();
    const gained = ((nowMs - this.#sinceMs) / 1_000) * this.#perSecond;
    this.#left = Math.min(this.#max, this.#left + gained);
    this.#sinceMs = nowMs;
    return this.#left >= 1;
  }

  /** Counts one refusal. Running questions may make the number negative. */
  spend(): void {
    this.#left -= 1;
  }
}

interface Granted<T> {
  readonly verdict: Verdict<T>;
  readonly untilMs: number;
}

/** Remembers the answers to questions. Keys must not be secrets. */
export class ReviewCache<T> {
  readonly #clock: Clock;
  readonly #budget: RefusalBudget;
  readonly #signal: AbortSignal;
  // An old grant stays, so that a user with recent access can be reviewed again even during a flood.
  readonly #granted = new Map<string, Granted<T>>();
  readonly #refused = new Map<string, number>();
  readonly #asking = new Map<string, Promise<Verdict<T>>>();

  /** @param signal Ends all questions: that of the process, since several requests may wait for one answer */
  constructor(clock: Clock, budget: RefusalBudget, signal: AbortSignal) {
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
