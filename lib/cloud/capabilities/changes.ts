/**
 * The capability of a cloud to report changes as they happen.
 * @module
 */
import type { Instance } from "../instance.ts";

/**
 * What may have changed in a cloud: instances by their cloud IDs, or anything. A hint is only a reason to look: it
 * never says what exists now, nor that something is gone.
 */
export type ChangeHint = ReadonlySet<string> | "everything";

/** Hints at changes, and quick reads of the instances that they name. */
export interface Changes {
  /**
   * Follows the changes that the cloud reports, and gives a hint for each. Continues after every failure, and returns
   * when the signal aborts. While the cloud reports nothing there are no hints, and refreshes continue. After every gap
   * in which a change may have been missed, the hint is `everything`.
   *
   * @param onHint May be called at any time, often, and with instances of no Node; never throws
   */
  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void>;
  /**
   * Reads a few instances, to put them into an older inventory. Never runs at the same time as
   * `Provider.listInventory`. Absent: every hint causes a refresh.
   *
   * @param ids Cloud IDs, at most eight
   * @returns The instances that the cloud shows, by their IDs, as an inventory would have them. Says nothing about the
   * others, not even that they are missing: only an inventory can
   * @throws {CloudError} when the cloud cannot answer
   */
  readInstances?(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>>;
}
