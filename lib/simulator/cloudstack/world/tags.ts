/**
 * The tags of all objects: a value by a key, each key once on an object.
 * @module
 */

/** A tag. It belongs to the owner of the object. */
export interface Tag {
  readonly key: string;
  readonly value: string;
  /** The kind of the object: `PublicIpAddress`, `LoadBalancer`, `UserVm`. */
  readonly resourceType: string;
  readonly resourceId: string;
  readonly accountId: string;
}

/** The tags of one CloudStack, by the ID of their object. */
export class Tags {
  readonly #byResource = new Map<string, Tag[]>();

  constructor(tags: readonly Tag[] = []) {
    for (const tag of tags) this.add(tag);
  }

  /** Every tag. */
  get all(): readonly Tag[] {
    return [...this.#byResource.values()].flat();
  }

  /** The tags of an object, in the order they were added. */
  of(resourceId: string): readonly Tag[] {
    return this.#byResource.get(resourceId) ?? [];
  }

  /** Whether an object has a tag with this key; case does not matter to the server's database. */
  has(resourceId: string, key: string): boolean {
    return this.of(resourceId).some((tag) => isSameKey(tag.key, key));
  }

  /** Adds a tag. @throws {RangeError} when the object has one with that key */
  add(tag: Tag): void {
    const { resourceId, key } = tag;
    if (this.has(resourceId, key)) throw new RangeError(`Cannot add tag "${key}": it is there`);
    this.#byResource.set(resourceId, [...this.of(resourceId), tag]);
  }

  /** Removes the tag with a key, if there is one. */
  remove(resourceId: string, key: string): void {
    const kept = this.of(resourceId).filter((tag) => !isSameKey(tag.key, key));
    if (kept.length > 0) this.#byResource.set(resourceId, kept);
    else this.#byResource.delete(resourceId);
  }

  /** Forgets the tags of an object that is gone. */
  drop(resourceId: string): void {
    this.#byResource.delete(resourceId);
  }
}

function isSameKey(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
