/**
 * Remembers which connection belongs to which pool, and since when it is gone. This distinguishes a pool that was
 * removed for good from a pool that is only disconnected. Only memory: no clock.
 *
 * If a connection is down, its entry no longer names its pool, so it may belong to any pool. The removal of a pool is
 * proven only if its entry was seen while it was up, and is gone now.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { remember } from "../../../core/remember.ts";
import { judgeConnections, type ServersReply } from "./connections.ts";
import type { Server } from "../wire/schema.ts";

/** How long the entry of a pool must be gone before the pool counts as removed. */
const GONE_MS = 600_000;
/** Time between two reads of the list while a pool is lost. */
const LOST_INTERVAL_MS = 60_000;
/** Time between two reads if the last one failed or was incomplete, and while a pool is removed. */
const SLOW_INTERVAL_MS = 600_000;
const POOLS_MAX = 256;
/** Maximum number of entries to remember for one pool; the newest stay. */
const ENTRIES_MAX = 16;

/** The pools of an inventory. */
type Pools = Inventory["coverage"];

/** Time of the request for the list, and of its answer; monotonic milliseconds. */
interface ReadTimes {
  readonly askedMs: number;
  readonly answeredMs: number;
}

/** A series of complete reads without any connection to a pool. */
interface Gone {
  /** Time of the answer to the first read. */
  readonly sinceMs: number;
  /** Time of the request for the last read. */
  readonly untilMs: number;
}

/** Remembers the connections of at most 256 pools. */
export class ConnectionHistory {
  /** By pool, the IDs of its entries that were up. */
  readonly #entries = new Map<string, ReadonlySet<string>>();
  readonly #gone = new Map<string, Gone>();
  /** Pools that were shown at the last read of the list. The next read soon after would say nothing new about them. */
  #tried: ReadonlySet<string> = new Set();
  #readMs = -Infinity;
  /** Whether the last read had no answer. */
  #isUnanswered = false;

  /** Pools whose connections are gone, for any time. */
  get gonePools(): string[] {
    return [...this.#gone.keys()];
  }

  /** Pools that were removed for good, as far as Landfall knows now. */
  get removedPools(): string[] {
    return this.gonePools.filter((poolId) => this.isRemoved(poolId));
  }

  /** Whether every connection to a pool was gone in every read for ten minutes. */
  isRemoved(poolId: string): boolean {
    const gone = this.#gone.get(poolId);
    return gone !== undefined && gone.untilMs - gone.sinceMs >= GONE_MS;
  }

  /** Finds the time of the first answer without any connection to a pool, in monotonic milliseconds. */
  findGoneMs(poolId: string): number | undefined {
    return this.#gone.get(poolId)?.sinceMs;
  }

  /**
   * Whether a read of the list is due: at once for a pool that is shown for the first time; once a minute while a pool
   * with a known connection is lost; every ten minutes while the list cannot be read or is incomplete; otherwise never.
   */
  isDue(pools: Pools, nowMs: number): boolean {
    const shown = listShown(pools);
    const isNew = shown.some((id) => !this.#entries.has(id) && !this.#tried.has(id));
    if (isNew && !this.#isUnanswered) return true;
    const lost = [...this.#entries.keys()].filter((id) => !pools.get(id)?.complete);
    const isWaiting = lost.some((id) => !this.isRemoved(id));
    if (isWaiting) return nowMs - this.#readMs >= LOST_INTERVAL_MS;
    const isUnclear = lost.length > 0 || shown.some((id) => !this.#entries.has(id));
    return isUnclear && nowMs - this.#readMs >= SLOW_INTERVAL_MS;
  }

  /**
   * Records the list. A missing entry counts only if the list has a connection for each pool that is shown, and every
   * entry names its pool. Any other read starts the ten minutes again. If an entry now names another pool, it is gone
   * for its old pool.
   *
   * @param pools The pools of the newest inventory at the time of the answer
   */
  note(servers: ServersReply, pools: Pools, { askedMs, answeredMs }: ReadTimes): void {
    const shown = listShown(pools);
    this.#readMs = askedMs;
    this.#isUnanswered = false;
    this.#tried = new Set(shown);
    if (typeof servers === "string" || !isWhole(servers, pools)) {
      this.#gone.clear();
      if (typeof servers !== "string") this.#learn(servers.objects);
      return;
    }
    // Forget entries that were replaced or now name another pool.
    for (const poolId of shown) this.#entries.delete(poolId);
    this.#learn(servers.objects);
    const gone = new Map(this.#gone);
    this.#gone.clear();
    for (const [poolId, entries] of this.#entries) {
      const isListed = servers.objects.some((one) => one.poolId === poolId && entries.has(one.id));
      if (isListed || shown.includes(poolId)) continue;
      const { sinceMs = answeredMs } = gone.get(poolId) ?? {};
      this.#gone.set(poolId, { sinceMs, untilMs: askedMs });
    }
  }

  /** Records that there was no answer. The ten minutes start again. */
  noteUnanswered(askedMs: number): void {
    this.#readMs = askedMs;
    this.#isUnanswered = true;
    this.#gone.clear();
  }

  /** Records that another user reads from now on. The ten minutes start again. */
  noteOtherUser(): void {
    this.#isUnanswered = false;
    this.#gone.clear();
  }

  /** Records the pools that an inventory shows. Their connections are not gone, even if an older list lacks them. */
  noteShown(pools: Pools): void {
    for (const poolId of listShown(pools)) this.#gone.delete(poolId);
  }

  /** Records that a pool exists after all. */
  noteExists(poolId: string): void {
    this.#gone.delete(poolId);
  }

  #learn(servers: readonly Server[]): void {
    for (const { id, status, poolId } of servers) {
      if (status !== "connected" || !poolId) continue;
      const known = [...(this.#entries.get(poolId) ?? [])].filter((one) => one !== id);
      remember(this.#entries, poolId, new Set([...known, id].slice(-ENTRIES_MAX)), POOLS_MAX);
    }
  }
}

/** Whether the list seems to contain every connection, and each names its pool. */
export function isWhole(servers: ServersReply, pools: Pools): boolean {
  return (
    typeof servers !== "string" &&
    judgeConnections(servers, pools).kind === "clear" &&
    servers.objects.every(({ poolId }) => poolId)
  );
}

function listShown(pools: Pools): string[] {
  return [...pools].flatMap(([id, { complete }]) => (complete ? [id] : []));
}
