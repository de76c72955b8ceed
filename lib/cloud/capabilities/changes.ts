/**
 * The capability of a cloud to report changes as they happen.
 * @module
 */
import type { Instance } from "../instance.ts";

/**
 * What may have changed in a cloud: these instances, by cloud ID, or anything. A hint is only a reason to look. It
 * never says what exists now, nor that something is gone.
 */
export type ChangeHint = ReadonlySet<string> | "everything";

/** Delivers hints, and reads the instances that they name. */
export interface Changes {
  /**
   * Reads the changes that the cloud reports, and calls `onHint` for each. Continues after every failure, and returns
   * when the signal aborts. While the connection is lost there are no hints; refreshes continue. After every gap in
   * which it may have missed a change, it gives the hint `everything`.
   *
   * @param onHint The provider may call it at any time, often, and with instances that belong to no Node. Never throws
   */
  watchChanges(onHint: (hint: ChangeHint) => void, signal: AbortSignal): Promise<void>;
  /**
   * Reads a few instances; the caller puts them into an older inventory. Never runs at the same time as
   * `Provider.listInventory`. Absent: every hint causes a refresh.
   *
   * @param ids Cloud IDs, at most eight
   * @returns The instances that the cloud shows, by ID, as in an inventory. The result says nothing about the others:
   * only an inventory can show that an instance is missing
   * @throws {CloudError} when the cloud cannot answer
   */
  readInstances?(
    ids: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Instance>>;
}
