/**
 * Says whether the store still lacks the last write of a controller.
 * @module
 */
import type { KubeObject } from "../kube/kinds/resource.ts";
import { toKey } from "../kube/cache/store.ts";

/**
 * Remembers, for each object of one kind, the resourceVersions that our own writes replaced. While the store still has
 * one of them, planning again would only repeat the write and fail with a conflict; the watch brings the newer one
 * soon.
 *
 * Versions are opaque: they are only compared for equality.
 */
export class WrittenVersions {
  readonly #replaced = new Map<string, Set<string>>();

  /** Notes that a write turned `before` into `after`. */
  note(before: KubeObject, after: KubeObject): void {
    const old = before.metadata.resourceVersion;
    if (old === undefined || old === after.metadata.resourceVersion) return;
    const key = toKey(before);
    const versions = this.#replaced.get(key) ?? new Set<string>();
    this.#replaced.set(key, versions.add(old));
  }

  /**
   * Whether an object is as it was before a write of ours. When a newer one appears, the old versions are forgotten.
   */
  isStale(object: KubeObject): boolean {
    const key = toKey(object);
    const versions = this.#replaced.get(key);
    if (versions?.has(object.metadata.resourceVersion ?? "")) return true;
    this.forget(key);
    return false;
  }

  /** Forgets an object. */
  forget(key: string): void {
    this.#replaced.delete(key);
  }
}
