/**
 * Reasons to reconcile an object other than a change of the object itself.
 * @module
 */
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import { type Key, type StoreReader, toKey } from "../kube/cache/store.ts";

/** An input of reconciles that says which objects to reconcile when it changes. */
export interface KeySource {
  /**
   * Calls `listener` at each change with the keys of the objects to reconcile; without keys, a loop at rest checks
   * again whether something is due. Returns the function that ends this.
   */
  subscribe(listener: (keys: Iterable<Key>) => void): () => void;
  /** A view that reconciles read: no object is reconciled before it is synced. @default {none} */
  readonly reader?: Pick<StoreReader<KubeObject>, "catchUp" | "synced" | "untilSynced">;
}

/**
 * Objects of another kind that a reconcile reads, for example those that it created. If one changes, the objects to
 * which it belonged before and those to which it belongs now are reconciled. If one is deleted, those to which it
 * belonged last.
 *
 * @param toKeys The keys of the objects that one of the other kind belongs to; may be empty
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
 * Creates the function for {@linkcode fromSecondary} that follows owner references. The version of the API does not
 * matter: the object is the same in each.
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
