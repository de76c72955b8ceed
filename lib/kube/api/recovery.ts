/**
 * Tells the parts of a process what one of them learns of the API server.
 * @module
 */

/**
 * What was learned.
 *
 * - `answers`: the API server answers, perhaps after trouble
 * - `reconnected`: the same, and a connection that was kept had been silent while a new one works. Whatever goes over
 *   an old connection and has heard nothing lately may wait for ever
 */
export type RecoveryNews = "answers" | "reconnected";

/**
 * What one part of a process learns of the API server, for the others: a watch that waits for its next try would not
 * notice for up to a minute, and one that is open has no request of its own that could fail.
 */
export class Recovery {
  readonly #listeners = new Set<(news: RecoveryNews) => void>();

  /** Calls `listener` each time that there is news. Returns what ends that. */
  subscribe(listener: (news: RecoveryNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells all listeners. */
  tell(news: RecoveryNews = "answers"): void {
    for (const listener of this.#listeners) listener(news);
  }
}
