/**
 * Maps that do more than a plain one: that forget their oldest entry, or can be read in both directions.
 * @module
 */

/** Sets the newest entry of a map that holds at most `sizeMax`; removes the oldest if needed. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, sizeMax: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > sizeMax && oldest !== undefined) map.delete(oldest);
}

/**
 * An index in both directions: each name claims any number of things, and each thing has any number of claimants. With
 * thousands of names, a search through all of them for each one would take too long.
 */
export class Claims {
  /** One claimant is the rule, and needs no set of its own. */
  readonly #claimants = new Map<string, string | Set<string>>();
  readonly #claims = new Map<string, readonly string[]>();

  /** What a name claims. */
  list(name: string): readonly string[] {
    return this.#claims.get(name) ?? [];
  }

  /** The names that claim a thing, in the order in which they began to. */
  claimants(claim: string): IteratorObject<string> {
    const found = this.#claimants.get(claim);
    return (typeof found === "object" ? found : found === undefined ? [] : [found]).values();
  }

  /** The names other than this one that claim a thing, in the order in which they began to. */
  others(claim: string, self: string): IteratorObject<string> {
    return this.claimants(claim).filter((name) => name !== self);
  }

  /**
   * Replaces what a name claims.
   *
   * @param after Each once; nothing to forget the name
   * @returns What it claims now and did not before, and the reverse
   */
  replace(name: string, after: readonly string[]): readonly string[] {
    const [before, wanted] = [new Set(this.list(name)), new Set(after)];
    const gone = before.difference(wanted);
    const added = wanted.difference(before);
    if (gone.size === 0 && added.size === 0) return [];
    for (const claim of gone) this.#drop(claim, name);
    for (const claim of added) this.#add(claim, name);
    if (after.length > 0) this.#claims.set(name, after);
    else this.#claims.delete(name);
    return [...gone, ...added];
  }

  #add(claim: string, name: string): void {
    const others = this.#claimants.get(claim);
    if (typeof others === "object") others.add(name);
    else this.#claimants.set(claim, others === undefined ? name : new Set([others, name]));
  }

  #drop(claim: string, name: string): void {
    const all = this.#claimants.get(claim);
    if (typeof all === "object" && all.size > 1) all.delete(name);
    else this.#claimants.delete(claim);
  }
}
