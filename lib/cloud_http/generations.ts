/**
 * A thing that is replaced by another, as by new settings, while it is asked. Only memory: no clock.
 * @module
 */

/**
 * Asks the thing in use.
 *
 * Guarantees: an answer was asked of one thing from its beginning to its end, namely the one in use when it is given;
 * after a replacement, {@linkcode askOnce} has no answer before {@linkcode ask} had one.
 *
 * @typeParam T The thing: a provider with all that it knows by one set of settings
 */
export class Generations<T> {
  #now: T;
  /** Aborts when who waits for the thing in use would wait in vain. */
  #left = new AbortController();
  /** Whether {@linkcode ask} had an answer since the last replacement. */
  #isSettled = true;

  /** @param create Gets the signal that aborts when the thing is left, and others of the same place with it */
  constructor(create: (left: AbortSignal) => T) {
    this.#now = create(this.#left.signal);
  }

  /** The thing in use. */
  get now(): T {
    return this.#now;
  }

  /**
   * Puts another thing in the place of the one in use, which stays if `create` throws.
   *
   * @param isLeft Whether the next one asks elsewhere, or as somebody else, so that nobody should wait for the old one
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
   * Asks, and asks again when the thing was replaced meanwhile, whatever became of the old question.
   *
   * @param work Gets a signal that aborts with `signal`, or when the thing is left
   * @returns The answer, and who gave it
   * @throws what `work` throws on the thing in use, or when the signal aborted
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
   * Asks for something small, for which nobody asks again.
   *
   * @param work Gets a signal that aborts with `signal`, or when the thing is left
   * @returns Nothing when the thing was replaced meanwhile, or {@linkcode ask} had no answer since the last replacement
   * @throws what `work` throws
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
   * Goes on with the thing in use until the signal aborts, and with the next one when it is left.
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
