/**
 * Remembers how long each VM stayed in its pool before it was missing, and when each pool was last shown. This shows
 * whether a VM may have moved to a pool that Landfall cannot see. Only memory: no clock.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { remember } from "../../../core/remember.ts";

/**
 * Minimum length of a stay, and of its part after another pool was last shown. It is more than twice the 66 s by which
 * Xen Orchestra's cache may lag.
 */
export const STAY_MS = 150_000;

const POOLS_MAX = 256;

/** An inventory, with more about its VMs. */
interface Listed extends Inventory {
  /** IDs of VMs that it shows migrating. */
  readonly migrating: ReadonlySet<string>;
  /** Time of the answer, in monotonic milliseconds. */
  readonly answeredMs: number;
}

/** A single read of a VM. */
interface ReadVm {
  readonly poolId: string;
  /** Whether it is migrating. */
  readonly isMoving: boolean;
  /** Time of the request, in monotonic milliseconds. */
  readonly atMs: number;
}

/** The last period in which every inventory showed a VM, now missing, in its pool. Monotonic milliseconds. */
export interface Stay {
  /** Time of the request for the first inventory of the unbroken series that showed it there and not migrating. */
  readonly sinceMs: number;
  /** Time of the request for the last inventory of the series. */
  readonly untilMs: number;
  /** Whether it was migrating or in another pool when it was last shown. */
  readonly isMoving: boolean;
}

/**
 * Says why a VM may have moved to a lost pool; `undefined` if it stayed in its own pool long enough after the loss.
 *
 * @param shownMs Time until which the other pool may have been visible, in monotonic milliseconds
 * @returns A clause for operators, without a full stop
 */
export function explainPossibleMove(stay: Stay | undefined, shownMs: number): string | undefined {
  if (stay === undefined) return "Landfall did not see when it left its own pool";
  if (stay.isMoving) return "it was migrating, or in another pool, when it was last shown";
  const isLong = stay.untilMs - stay.sinceMs >= STAY_MS;
  if (isLong && stay.untilMs - shownMs >= STAY_MS) return undefined;
  const span = formatDuration(STAY_MS);
  return `it was not in its own pool for ${span} without a break, and until ${span} after the other pool was lost`;
}

/**
 * Remembers the VMs of Nodes. VMs that stay in their pool need no memory. It keeps VMs that the last inventory lacks,
 * up to a maximum and until their Nodes are gone. It keeps VMs that appeared, moved or were migrating for 150 s.
 */
export class Stays {
  readonly #sizeMax: number;
  #last: Listed | undefined;
  /** Start of the series of inventories without a failure. */
  #sinceMs = Infinity;
  /** By pool, the time of the request for the first of its complete inventories in a row. */
  readonly #poolSinceMs = new Map<string, number>();
  /** By VM, the start of its series if later than that of its pool. The oldest come first. */
  readonly #vmSinceMs = new Map<string, number>();
  readonly #ended = new Map<string, Stay>();
  /** By pool, the time of the last answer that showed it in full. */
  readonly #shownMs = new Map<string, number>();
  #firstMs: number | undefined;

  /** @param sizeMax Maximum number of VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** Finds the last stay of a VM that the newest inventory lacks. */
  find(vmId: string): Stay | undefined {
    return this.#ended.get(vmId);
  }

  /** Time of the answer to the first inventory, in monotonic milliseconds; `Infinity` before it. */
  get firstMs(): number {
    return this.#firstMs ?? Infinity;
  }

  /**
   * Finds the time of the last answer that showed a pool in full, in monotonic milliseconds; `undefined` without one.
   */
  findShownMs(poolId: string): number | undefined {
    return this.#shownMs.get(poolId);
  }

  /** Records an inventory. */
  note(listed: Listed): void {
    const { observedAtMs, answeredMs, coverage, instances } = listed;
    this.#firstMs ??= answeredMs;
    this.#sinceMs = Math.min(this.#sinceMs, observedAtMs);
    for (const [poolId, { complete }] of coverage) {
      if (!complete) this.#poolSinceMs.delete(poolId);
      else {
        if (!this.#poolSinceMs.has(poolId)) this.#poolSinceMs.set(poolId, observedAtMs);
        remember(this.#shownMs, poolId, answeredMs, POOLS_MAX);
      }
    }
    if (this.#last !== undefined && instances !== this.#last.instances) {
      this.#compare(this.#last, listed);
    }
    for (const vmId of this.#ended.keys()) {
      if (!listed.lookedFor?.has(vmId)) this.#ended.delete(vmId);
    }
    for (const vmId of listed.migrating) this.#restart(vmId, observedAtMs);
    for (const [vmId, sinceMs] of this.#vmSinceMs) {
      if (observedAtMs - sinceMs <= STAY_MS) break;
      this.#vmSinceMs.delete(vmId);
    }
    this.#last = listed;
  }

  /** Records a failed inventory. Every series begins again with the next one. */
  noteFailure(): void {
    this.#sinceMs = Infinity;
  }

  /** Records a single read of a VM, which may be migrating, in another pool, or missing from the list. */
  noteRead(vmId: string, { poolId, isMoving, atMs }: ReadVm): void {
    this.forget(vmId);
    const isKnown = this.#last?.instances.get(vmId)?.region === poolId;
    if (!isKnown || isMoving) this.#restart(vmId, atMs);
  }

  /** Records that a VM exists that the last list lacks. */
  forget(vmId: string): void {
    this.#ended.delete(vmId);
  }

  #restart(vmId: string, atMs: number): void {
    remember(this.#vmSinceMs, vmId, atMs, this.#sizeMax);
  }

  #compare(before: Listed, after: Listed): void {
    for (const [vmId, { region }] of after.instances) {
      this.#ended.delete(vmId);
      if (before.instances.get(vmId)?.region !== region) this.#restart(vmId, after.observedAtMs);
    }
    for (const [vmId, { region: poolId }] of before.instances) {
      const isGone = !after.instances.has(vmId) && after.lookedFor?.has(vmId);
      if (!isGone || poolId === undefined) continue;
      const untilMs = before.observedAtMs;
      // If the series is broken, for example by the loss of the pool, it does not show what happened in between.
      const isWhole = this.#sinceMs <= untilMs && this.#isShown(poolId, untilMs);
      const sinceMs = isWhole ? this.#findSince(vmId, poolId) : untilMs;
      // Includes VMs that a single read showed since then migrating or in another pool.
      const isMoving =
        before.migrating.has(vmId) || (this.#vmSinceMs.get(vmId) ?? -Infinity) > untilMs;
      remember(this.#ended, vmId, { sinceMs, untilMs, isMoving }, this.#sizeMax);
    }
  }

  #isShown(poolId: string, untilMs: number): boolean {
    return (this.#poolSinceMs.get(poolId) ?? Infinity) <= untilMs;
  }

  #findSince(vmId: string, poolId: string): number {
    const ofPool = this.#poolSinceMs.get(poolId) ?? Infinity;
    return Math.max(this.#sinceMs, ofPool, this.#vmSinceMs.get(vmId) ?? -Infinity);
  }
}
