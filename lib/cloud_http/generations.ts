/**
 * Something that can be replaced while requests to it are running, for example because of new settings. No clock.
 * @module
 */

/**
 * Runs requests on the thing in use.
 *
 * Guarantees: an answer comes from one thing only, the one in use when the answer is returned; after a replacement,
 * {@linkcode askOnce} returns no answer before {@linkcode ask} returned one.
 *
 * @typeParam T The thing: a provider with everything that it knows by one set of settings
 */
export class Generations<T> {
  #now: T;
  /** Aborts when it makes no sense to wait for the thing in use. */
  #left = new AbortController();
  /** Whether {@linkcode ask} returned an answer since the last replacement. */
  #isSettled = true;

  /** @param create Gets a signal that aborts when the thing, or a later one of the same place, is abandoned */
  constructor(create: (left: AbortSignal) => T) {
    this.#now = create(this.#left.signal);
  }

  /** The thing in use. */
  get now(): T {
    return this.#now;
  }

  /**
   * Replaces the thing in use; it stays if `create` throws.
   *
   * @param isLeft Whether the new thing asks another server or as another user, so that the old one is abandoned
   */
  replace(create: (left: AbortSignal) => T, isLeft: boolean): void {
    const before = this.#left;
    const next = isLeft ? new AbortController() : before;
    this.#now = create(next.signal);
    this.#left = next;
    this.#isSettled = false;
    if (isLeft) before.abort(new Error("the settings changed"));
  }

  /**
   * Runs a request, and runs it again if the thing was replaced meanwhile, even after a success or an error.
   *
   * @param work Gets a signal that aborts with `signal`, or when the thing is abandoned
   * @returns The answer, and the thing that gave it
   * @throws any error of `work` on the thing in use, or when the signal aborted
   */
  async ask<R>(
    work: (thing: T, signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: R; readonly by: T }> {
    for (;;) {
      const by = this.#now;
      try {
        const answer = await work(by, AbortSignal.any([signal, this.#left.signal]));
        if (by === this.#now) {
          this.#isSettled = true;
          return { answer, by };
        }
      } catch (error) {
        if (by === this.#now || signal.aborted) throw error;
      }
    }
  }

  /**
   * Runs a small request that is not repeated.
   *
   * @param work Gets a signal that aborts with `signal`, or when the thing is abandoned
   * @returns Nothing when the thing was replaced meanwhile, or {@linkcode ask} has no answer since the last replacement
   * @throws any error of `work`
   */
  async askOnce<R>(
    work: (thing: T, signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R | undefined> {
    if (!this.#isSettled) return undefined;
    const asked = this.#now;
    const answer = await work(asked, AbortSignal.any([signal, this.#left.signal]));
    return asked === this.#now ? answer : undefined;
  }

  /**
   * Runs on the thing in use until the signal aborts, and on the next one when it is abandoned.
   *
   * @param work Returns when its signal aborts
   */
  async follow(
    work: (thing: T, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      await work(this.#now, AbortSignal.any([signal, this.#left.signal]));
    }
  }
}
