/**
 * Tells the parts of a process what one of them learned about the API server.
 * @module
 */

/**
 * What a process learned about the API server.
 *
 * - `answers`: the API server answers, perhaps after an outage
 * - `reconnected`: the same, and a kept connection was silent while a new one works. A request on an old connection
 *   without recent data may wait for ever
 */
export type RecoveryNews = "answers" | "reconnected";

/**
 * News about the API server for all parts of a process. Without it, a watch that waits for its next try notices up to a
 * minute later, and an open watch sends no request that could fail.
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
