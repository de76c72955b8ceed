/**
 * What else than a change of an object itself is a reason to look at it.
 * @module
 */
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import { type Key, type StoreReader, toKey } from "../kube/cache/store.ts";

/** Something that a reconcile reads, and that says which objects to look at when it changes. */
export interface KeySource {
  /**
   * Calls `listener` at each change with the keys of the objects to look at; with none, a loop at rest asks again
   * whether something is due. Returns what ends that.
   */
  subscribe(listener: (keys: Iterable<Key>) => void): () => void;
  /** What a reconcile reads: no object is worked on while it is not there. @default {nothing that may be missing} */
  readonly reader?: Pick<StoreReader<KubeObject>, "synced" | "untilSynced">;
}

/**
 * Objects of another kind that a reconcile reads, such as those it created. Each change of one counts for the objects
 * that it spoke for before as well as for those that it speaks for now; one that is gone spoke for them to the last.
 *
 * @param toKeys The keys of the objects that one of the other kind speaks for; none when it is nobody's
 */
export function fromSecondary<T extends KubeObject>(
  secondaries: StoreReader<T>,
  toKeys: (secondary: T) => Iterable<Key>,
): KeySource {
  return {
    subscribe: (listener) =>
      secondaries.subscribe((_key, before, after) =>
        listener(new Set([...(before ? toKeys(before) : []), ...(after ? toKeys(after) : [])])),
      ),
    reader: secondaries,
  };
}

/**
 * Makes the function for {@linkcode fromSecondary} that follows owner references. The version of the API does not
 * count: it is the same object in each.
 *
 * @param owner The kind of the owners; a namespaced one owns within its namespace
 */
export function toOwnerKeys(owner: Resource<KubeObject>): (owned: KubeObject) => Key[] {
  return ({ metadata: { namespace, ownerReferences = [] } }) => {
    const place = owner.namespaced && namespace !== undefined ? { namespace } : {};
    return ownerReferences
      .filter(
        ({ apiVersion, kind }) => kind === owner.kind && isSameGroup(apiVersion, owner.apiVersion),
      )
      .map(({ name }) => toKey({ metadata: { name, ...place } }));
  };
}

/** `v1` and `apps/v1`: the core group has no name. */
function isSameGroup(one: string, other: string): boolean {
  const toGroup = (apiVersion: string): string => apiVersion.split("/").slice(0, -1).join("/");
  return toGroup(one) === toGroup(other);
}
