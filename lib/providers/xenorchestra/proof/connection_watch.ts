/**
 * Reads the list of connections to pools, but only when it can bring something new.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Logger } from "../../../core/log.ts";
import type { XenOrchestraApi } from "../wire/api.ts";
import type { Memory } from "../memory.ts";

/** What a {@linkcode ConnectionWatch} needs. */
export interface ConnectionWatchOptions {
  readonly api: Pick<XenOrchestraApi, "listServers" | "readPool">;
  readonly memory: Memory;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when requests go to another server or as another user, and at the end. */
  readonly signal: AbortSignal;
}

/** Teaches {@linkcode Memory} which connection leads to which pool. */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  #isLooking = false;
  /** The pools of the newest inventory. */
  #coverage: Inventory["coverage"] = new Map();

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
  }

  /**
   * Reads the list if it is time to. Call it after each inventory. Never rejects: a failure only means that less is
   * known.
   *
   * @param coverage The pools of the inventory
   */
  async look(coverage: Inventory["coverage"]): Promise<void> {
    const { memory, clock, log, signal } = this.#options;
    const askedMs = clock.monotonic();
    this.#coverage = coverage;
    memory.connections.noteShown(coverage);
    if (this.#isLooking || signal.aborted || !memory.connections.isDue(coverage, askedMs)) return;
    this.#isLooking = true;
    try {
      await this.#read(askedMs);
    } catch (error) {
      if (signal.aborted) return;
      memory.connections.noteUnanswered(askedMs);
      log.debug("Cannot list the connections to pools", { error });
    } finally {
      this.#isLooking = false;
    }
  }

  async #read(askedMs: number): Promise<void> {
    const { api, memory, clock, log, signal } = this.#options;
    const { connections } = memory;
    const before = new Set(connections.removedPools);
    const servers = await api.listServers(signal);
    // Pools may have come back while the list was being read.
    connections.note(servers, this.#coverage, { askedMs, answeredMs: clock.monotonic() });
    for (const poolId of connections.gonePools) {
      // A pool that the user may no longer see looks removed in every list, but a direct read of it is refused.
      const pool = await api.readPool(poolId, signal);
      if (pool.kind !== "missing") connections.noteThere(poolId);
    }
    for (const { poolId, name } of memory.removedPools) {
      if (before.has(poolId)) continue;
      const message =
        "A pool was removed from Xen Orchestra; Nodes in other pools can be deleted again";
      log.info(message, { poolId, poolName: name });
    }
  }
}
