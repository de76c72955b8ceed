/**
 * Which connection led to which pool, and since when it is gone. This tells a pool that was removed for good from one
 * that is only disconnected. Only memory: no clock.
 *
 * The entry of a pool whose connection is cut no longer names its pool, so it may lead to any pool. Only an entry that
 * was seen while it was up, and is itself gone, proves something.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { remember } from "../../../core/remember.ts";
import { judgeConnections, type ServersReply } from "./connections.ts";
import type { Server } from "../wire/schema.ts";

/** For how long the entry of a pool must be gone before the pool counts as removed. */
const GONE_MS = 600_000;
/** How often the list is read while a pool is lost. */
const LOST_INTERVAL_MS = 60_000;
/** How often it is read when the last read failed or said too little, and while a pool is removed. */
const SLOW_INTERVAL_MS = 600_000;
const POOLS_MAX = 256;
/** Most entries to remember for one pool: the newest. */
const ENTRIES_MAX = 16;

/** The pools of an inventory. */
type Pools = Inventory["coverage"];

/** When the list was asked for, and when the answer came; monotonic milliseconds. */
export interface ReadTimes {
  readonly askedMs: number;
  readonly answeredMs: number;
}

/** Reads in a row, each of all connections, that lacked every connection to a pool. */
interface Gone {
  /** When the answer to the first came. */
  readonly sinceMs: number;
  /** When the last was asked for. */
  readonly untilMs: number;
}

/** Remembers the connections of at most 256 pools. */
export class ConnectionHistory {
  /** By pool, the IDs of the entries that were up and led there. */
  readonly #entries = new Map<string, ReadonlySet<string>>();
  readonly #gone = new Map<string, Gone>();
  /** Pools that were shown when the list was last read: there is nothing new to learn about them soon. */
  #tried: ReadonlySet<string> = new Set();
  #readMs = -Infinity;
  /** Whether there was no answer to the last read. */
  #isUnanswered = false;

  /** Pools whose connections are gone, for any length of time. */
  get gonePools(): string[] {
    return [...this.#gone.keys()];
  }

  /** Pools that were removed for good, by all that is known now. */
  get removedPools(): string[] {
    return this.gonePools.filter((poolId) => this.isRemoved(poolId));
  }

  /** Whether every connection to a pool has been gone for ten minutes, by every read. */
  isRemoved(poolId: string): boolean {
    const gone = this.#gone.get(poolId);
    return gone !== undefined && gone.untilMs - gone.sinceMs >= GONE_MS;
  }

  /** When the answer to the first read came that lacked every connection to a pool, in monotonic milliseconds. */
  findGoneMs(poolId: string): number | undefined {
    return this.#gone.get(poolId)?.sinceMs;
  }

  /**
   * Whether it is time to read the list: at once for a pool that is shown for the first time, once a minute while a
   * pool is lost whose connection is known, every ten minutes while the list cannot be read or says too little, and
   * never again while all is well.
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
   * Records the list. What is gone counts only while the list names a connection for each pool that is shown, and
   * every entry names its pool: any other read starts the ten minutes again. An entry that leads to another pool now is
   * gone for its old one.
   *
   * @param pools The pools of the newest inventory, when the answer came
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
    // Entries that were replaced, or now lead to another pool, are forgotten.
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

  /** Records that there was no answer: what is gone counts from the start. */
  noteUnanswered(askedMs: number): void {
    this.#readMs = askedMs;
    this.#isUnanswered = true;
    this.#gone.clear();
  }

  /** Records that another user reads from now on: what is gone counts from the start. */
  noteOtherReader(): void {
    this.#isUnanswered = false;
    this.#gone.clear();
  }

  /** Records which pools an inventory shows: their connections are not gone, even if an older list says so. */
  noteShown(pools: Pools): void {
    for (const poolId of listShown(pools)) this.#gone.delete(poolId);
  }

  /** Records that a pool is there after all. */
  noteThere(poolId: string): void {
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

/** Whether the list seems to hold every connection, and each says where it leads. */
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
