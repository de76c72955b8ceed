/**
 * Collects hints at changes until there is time to act on them, and says what to do then.
 * @module
 */
import type { ChangeHint } from "../provider.ts";

/** More instances than this are not read one by one: a refresh reads everything. */
const IDS_MAX = 8;

/** Hints that wait to be acted on. Uses the same memory however many there are. */
export class ChangeHints {
  readonly #ids = new Set<string>();
  #isEverything = false;

  /** Whether there is nothing to do. */
  get isEmpty(): boolean {
    return !this.#isEverything && this.#ids.size === 0;
  }

  /** The instances to read, at most eight; `everything` when there are more, or anything may have changed. */
  get due(): ChangeHint {
    return this.#isEverything ? "everything" : new Set(this.#ids);
  }

  /**
   * Records a hint.
   *
   * @param isCaredFor Whether an instance belongs to a Node; hints at other instances are ignored
   * @returns Whether there is something to do because of it
   */
  add(hint: ChangeHint, isCaredFor: (id: string) => boolean): boolean {
    if (hint === "everything") {
      this.#isEverything = true;
      return true;
    }
    const ids = [...hint].filter(isCaredFor);
    for (const id of ids) {
      if (this.#isEverything) break;
      this.#ids.add(id);
      this.#isEverything = this.#ids.size > IDS_MAX;
    }
    return ids.length > 0;
  }

  /** Forgets all hints: a request that starts now answers them all. */
  clear(): void {
    this.#ids.clear();
    this.#isEverything = false;
  }
}
