/**
 * Knows when the store has not yet seen what a controller of ours wrote.
 * @module
 */
import type { Node } from "../kube/resource.ts";

/**
 * Remembers, for each Node, the resourceVersions that our own writes replaced. While the store still shows one of them,
 * planning again would only write the same again and meet a conflict; the watch brings the newer one soon.
 *
 * Versions stay opaque: they are compared for equality alone.
 */
export class SupersededVersions {
  readonly #superseded = new Map<string, Set<string>>();

  /** Notes that a write turned `before` into `after`. */
  note(before: Node, after: Node): void {
    const old = before.metadata.resourceVersion;
    if (old === undefined || old === after.metadata.resourceVersion) return;
    const versions = this.#superseded.get(before.metadata.name) ?? new Set<string>();
    this.#superseded.set(before.metadata.name, versions.add(old));
  }

  /** Whether this is a Node as it was before a write of ours. Once a newer one is shown, the old ones are forgotten. */
  isStale(node: Node): boolean {
    const versions = this.#superseded.get(node.metadata.name);
    if (versions?.has(node.metadata.resourceVersion ?? "")) return true;
    this.forget(node.metadata.name);
    return false;
  }

  /** Drops what is remembered of a Node. */
  forget(name: string): void {
    this.#superseded.delete(name);
  }
}
