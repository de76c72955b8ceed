/**
 * Replaces an object while requests to it are running, for example because of new settings. No clock.
 * @module
 */

/** What to say when {@linkcode Generations.askOnce} has no answer. */
export const TOO_EARLY = "Waiting for the first inventory since the settings changed";

/**
 * Runs requests on the object in use.
 *
 * Guarantees: an answer always comes from the object that is in use when this class returns the answer. After a
 * replacement, {@linkcode askOnce} returns no answer before {@linkcode ask} returned one.
 *
 * @typeParam T The object: for example a provider with everything that it knows with one set of settings
 */
export class Generations<T> {
  #now: T;
  /** Aborts when the object in use is abandoned. */
  #abandonment = new AbortController();
  /** Whether {@linkcode ask} returned an answer since the last replacement. */
  #isSettled = true;

  /**
   * @param create Gets a signal that aborts when the object, or a later one for the same server and user, is abandoned
   */
  constructor(create: (abandoned: AbortSignal) => T) {
    this.#now = create(this.#abandonment.signal);
  }

  /** The object in use. */
  get now(): T {
    return this.#now;
  }

  /**
   * Replaces the object in use; if `create` throws, nothing changes.
   *
   * @param isAbandoned Whether the new object uses another server or user, so that the old one is abandoned
   */
  replace(create: (abandoned: AbortSignal) => T, isAbandoned: boolean): void {
    const before = this.#abandonment;
    const next = isAbandoned ? new AbortController() : before;
    this.#now = create(next.signal);
    this.#abandonment = next;
    this.#isSettled = false;
    if (isAbandoned) before.abort(new Error("the settings changed"));
  }

  /**
   * Runs a request. Runs it again if the object was replaced meanwhile, whether the request succeeded or failed.
   *
   * @param work Gets a signal that aborts with `signal`, or when the thing is abandoned
   * @returns The answer, and the object that gave it
   * @throws any error of `work` on the object in use, or the error of `work` after the signal aborted
   */
  async ask<R>(
    work: (thing: T, signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: R; readonly by: T }> {
    for (;;) {
      const by = this.#now;
      try {
        const answer = await work(by, AbortSignal.any([signal, this.#abandonment.signal]));
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
   * Runs a small request without repeating it.
   *
   * @param work Gets a signal that aborts with `signal`, or when the thing is abandoned
   * @returns `undefined` if the object was replaced meanwhile, or {@linkcode ask} has no answer since the last
   * replacement
   * @throws any error of `work`
   */
  async askOnce<R>(
    work: (thing: T, signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R | undefined> {
    if (!this.#isSettled) return undefined;
    const asked = this.#now;
    const answer = await work(asked, AbortSignal.any([signal, this.#abandonment.signal]));
    return asked === this.#now ? answer : undefined;
  }

  /**
   * Runs `work` on the object in use until the signal aborts. If the object is abandoned, continues with the next one.
   *
   * @param work Returns when its signal aborts
   */
  async follow(
    work: (thing: T, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      await work(this.#now, AbortSignal.any([signal, this.#abandonment.signal]));
    }
  }
}
