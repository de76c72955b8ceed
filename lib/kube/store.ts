/**
 * Objects of one kind, as the watcher last saw them. One writer, many readers.
 * @module
 */
import type { KubeObject } from "./resource.ts";

/** `name`, or `namespace/name` for a namespaced object. */
export type Key = string;

/** Reading side of a store. Objects are trimmed and frozen. */
export interface StoreReader<T extends KubeObject> {
  get(key: Key): T | undefined;
  keys(): Iterable<Key>;
  values(): Iterable<T>;
  readonly size: number;
  /** Whether the first list is in the store. */
  readonly synced: boolean;
}
