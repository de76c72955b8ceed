/**
 * How long each VM stayed in its pool before it was missing, and when each pool was last shown. This tells whether a VM
 * may have moved to a pool that cannot be seen. Only memory: no clock.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { remember } from "../../../core/remember.ts";

/**
 * Xen Orchestra's cache lags by up to 66 s; this is more than twice as long. A stay counts only if it lasts for this
 * time, and goes on for this time after another pool was last shown.
 */
export const STAY_MS = 150_000;

const POOLS_MAX = 256;

/** An inventory, and what goes with it. */
export interface Listed extends Inventory {
  /** IDs of VMs that it shows being migrated. */
  readonly migrating: ReadonlySet<string>;
  /** When the answer came, in monotonic milliseconds. */
  readonly answeredMs: number;
}

/** A VM that was read by itself, and where it is. */
interface ReadVm {
  readonly poolId: string;
  /** Whether it is being migrated. */
  readonly isMoving: boolean;
  /** When it was asked for, in monotonic milliseconds. */
  readonly atMs: number;
}

/** The last time that a VM, now missing, was in its pool by every inventory. Monotonic milliseconds. */
export interface Stay {
  /** When the first inventory of the unbroken series was asked for that listed it there, not being migrated. */
  readonly sinceMs: number;
  /** When the last was. */
  readonly untilMs: number;
  /** Whether it was migrating, or in another pool, when it was last shown. */
  readonly isMoving: boolean;
}

/**
 * Says why a VM may have moved to a lost pool; nothing if it stayed in its own pool for long enough after the loss.
 *
 * @param shownMs Until when the other pool may have been visible, in monotonic milliseconds
 * @returns Half a sentence for people, without a full stop
 */
export function doubtStay(stay: Stay | undefined, shownMs: number): string | undefined {
  if (stay === undefined) return "Landfall did not see when it left its own pool";
  if (stay.isMoving) return "it was migrating, or in another pool, when it was last shown";
  const isLong = stay.untilMs - stay.sinceMs >= STAY_MS;
  if (isLong && stay.untilMs - shownMs >= STAY_MS) return undefined;
  const span = formatDuration(STAY_MS);
  return `it was not in its own pool for ${span} without a break, and until ${span} after the other pool was lost`;
}

/**
 * Remembers the VMs of Nodes. What stays where it is costs nothing: only VMs that the last inventory lacks are kept, at
 * most so many and until their Nodes are gone, and for 150 s those that came, moved or were being migrated.
 */
export class Stays {
  readonly #sizeMax: number;
  #last: Listed | undefined;
  /** When the series of inventories without a failure began. */
  #sinceMs = Infinity;
  /** By pool, when the first of its inventories in a row was asked for that were complete. */
  readonly #poolSinceMs = new Map<string, number>();
  /** By VM, when its series began, if later than that of its pool. The oldest first. */
  readonly #vmSinceMs = new Map<string, number>();
  readonly #ended = new Map<string, Stay>();
  /** By pool, when the last answer came that showed all of it. */
  readonly #shownMs = new Map<string, number>();
  #firstMs: number | undefined;

  /** @param sizeMax Most VMs to remember */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** The last stay of a VM that the newest inventory lacks. */
  find(vmId: string): Stay | undefined {
    return this.#ended.get(vmId);
  }

  /** When the answer to the first inventory came, in monotonic milliseconds; never before there was one. */
  get firstMs(): number {
    return this.#firstMs ?? Infinity;
  }

  /** When the last answer came that showed a pool in full, in monotonic milliseconds; absent if none ever did. */
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

  /** Records that there was no inventory: every series begins with the next. */
  noteFailure(): void {
    this.#sinceMs = Infinity;
  }

  /** Records that a single read showed a VM, which may be migrating, in another pool, or missing from the list. */
  noteRead(vmId: string, { poolId, isMoving, atMs }: ReadVm): void {
    this.forget(vmId);
    const isKnown = this.#last?.instances.get(vmId)?.region === poolId;
    if (!isKnown || isMoving) this.#restart(vmId, atMs);
  }

  /** Records that a VM is there that the last list lacks. */
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
      // A broken series, for example by the loss of its pool, does not say what happened in between.
      const isWhole = this.#sinceMs <= untilMs && this.#isShown(poolId, untilMs);
      const sinceMs = isWhole ? this.#findSince(vmId, poolId) : untilMs;
      // Also one that a single read showed since, migrating or in another pool.
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
