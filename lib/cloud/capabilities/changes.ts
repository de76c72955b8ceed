/**
 * The capability of a cloud to tell of changes by itself.
 * @module
 */
import type { Instance } from "../instance.ts";

/**
 * What may have changed in a cloud: instances by their cloud IDs, or anything. A hint is a reason to look, and nothing
 * else: it never says what is there now, nor that something is gone.
 */
export type ChangeHint = ReadonlySet<string> | "everything";

/** Hints at changes, and quick looks at what they name. */
export interface Changes {
  /**
   * Follows what the cloud says of changes as they happen, and hints at each. Goes on until the signal aborts, through
   * every trouble, and then returns; while nothing is to be heard there are no hints, and refreshes go on anyway. After
   * each time that something may have been missed, the hint is `everything`.
   *
   * @param onHint May be called at any time, often, with instances that nobody cares about; never throws
   */
  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void>;
  /**
   * Reads a few instances, to put them into an inventory that is otherwise older. Never runs beside
   * `Provider.listInventory`. Absent: a refresh is the answer to every hint.
   *
   * @param ids Cloud IDs, at most eight
   * @returns Those that are shown, by their IDs, as an inventory would have them. Nothing is said of the others, not
   * even that they are missing: only an inventory tells
   * @throws {CloudError} when the cloud cannot answer
   */
  readInstances?(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>>;
}
