/**
 * Collects hints until Landfall acts on them, and says what to read then.
 * @module
 */
import type { ChangeHint } from "../provider.ts";

/** Maximum number of instances to read one by one. For more, a refresh reads everything. */
const IDS_MAX = 8;

/** Hints on which Landfall has not acted yet. Memory does not grow with their number. */
export class ChangeHints {
  readonly #ids = new Set<string>();
  #isEverything = false;

  /** Whether there are no hints. */
  get isEmpty(): boolean {
    return !this.#isEverything && this.#ids.size === 0;
  }

  /** The instances to read, at most eight; `everything` if there are more, or if anything may have changed. */
  get due(): ChangeHint {
    return this.#isEverything ? "everything" : new Set(this.#ids);
  }

  /**
   * Records a hint.
   *
   * @param isOfNode Whether an instance belongs to a Node; hints about other instances are ignored
   * @returns Whether this hint needs a read
   */
  add(hint: ChangeHint, isOfNode: (id: string) => boolean): boolean {
    if (hint === "everything") {
      this.#isEverything = true;
      return true;
    }
    const ids = [...hint].filter(isOfNode);
    for (const id of ids) {
      if (this.#isEverything) break;
      this.#ids.add(id);
      this.#isEverything = this.#ids.size > IDS_MAX;
    }
    return ids.length > 0;
  }

  /** Forgets all hints. Call it before a refresh, which reads everything. */
  clear(): void {
    this.#ids.clear();
    this.#isEverything = false;
  }
}
