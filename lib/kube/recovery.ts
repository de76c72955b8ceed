/**
 * Tells whoever pauses after failures that the API server answers again.
 * @module
 */

/**
 * What one part of a process learns of the API server, for the others: a watch that waits for its next try would not
 * notice for up to a minute.
 */
export class Recovery {
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` each time that the API server answers after trouble. Returns what ends that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The API server answers again. */
  tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
