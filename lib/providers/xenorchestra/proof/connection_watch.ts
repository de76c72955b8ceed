/**
 * Reads the list of connections to pools when it can say something new.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Logger } from "../../../core/log.ts";
import type { XenOrchestraApi } from "../wire/api.ts";
import type { Memory } from "../memory.ts";

/** The dependencies of a {@linkcode ConnectionWatch}. */
interface ConnectionWatchOptions {
  readonly api: Pick<XenOrchestraApi, "listServers" | "readPool">;
  readonly memory: Memory;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Records in {@linkcode Memory} which connection belongs to which pool. */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  #isLooking = false;
  /** The pools of the newest inventory. */
  #coverage: Inventory["coverage"] = new Map();

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
  }

  /**
   * Reads the list if a read is due. Call it after each inventory. Never rejects: after a failure, Landfall only knows
   * less.
   *
   * @param coverage The pools of the inventory
   * @param signal Aborts when requests use another server or user, and at the end of the process
   */
  async look(coverage: Inventory["coverage"], signal: AbortSignal): Promise<void> {
    const { memory, clock, log } = this.#options;
    const askedMs = clock.monotonic();
    this.#coverage = coverage;
    memory.connections.noteShown(coverage);
    if (this.#isLooking || signal.aborted || !memory.connections.isDue(coverage, askedMs)) return;
    this.#isLooking = true;
    try {
      await this.#read(askedMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      memory.connections.noteUnanswered(askedMs);
      log.debug("Cannot list the connections to pools", { error });
    } finally {
      this.#isLooking = false;
    }
  }

  async #read(askedMs: number, signal: AbortSignal): Promise<void> {
    const { api, memory, clock, log } = this.#options;
    const { connections } = memory;
    const before = new Set(connections.removedPools);
    const servers = await api.listServers(signal);
    // Pools may have come back during the read of the list.
    connections.note(servers, this.#coverage, { askedMs, answeredMs: clock.monotonic() });
    for (const poolId of connections.gonePools) {
      // If the user lost the right to see a pool, every list looks as if it were removed. But Xen Orchestra refuses a
      // direct read of it.
      const pool = await api.readPool(poolId, signal);
      if (pool.kind !== "missing") connections.noteExists(poolId);
    }
    for (const { poolId, name } of memory.removedPools) {
      if (before.has(poolId)) continue;
      const message =
        "A pool was removed from Xen Orchestra; Landfall can delete Nodes in other pools again";
      log.info(message, { poolId, poolName: name });
    }
  }
}
