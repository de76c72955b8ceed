/**
 * Shares what one part of a process learns about the API server with the others.
 * @module
 */

/**
 * What was learned.
 *
 * - `answers`: the API server answers, perhaps after an outage
 * - `reconnected`: the same, and a kept connection was silent while a new one works. A request on an old connection
 *   without recent data may wait for ever
 */
export type RecoveryNews = "answers" | "reconnected";

/**
 * What one part of a process learns about the API server, for the others: a watch that waits for its next try would
 * notice up to a minute later, and an open watch sends no request that could fail.
 */
export class Recovery {
  readonly #listeners = new Set<(news: RecoveryNews) => void>();

  /** Calls `listener` for each piece of news. Returns the function that ends this. */
  subscribe(listener: (news: RecoveryNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies all listeners. */
  tell(news: RecoveryNews = "answers"): void {
    for (const listener of this.#listeners) listener(news);
  }
}
