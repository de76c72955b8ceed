/**
 * Whether a machine stayed in its own pool after another was lost, worked out again from what each process was shown.
 *
 * What remains possible is that it left after that, unseen, for the pool that is lost: docs/explanation/deletion.md.
 * Everything else is a failure.
 * @module
 */
import type { StateWithCopies } from "./copies.ts";
import type { Surroundings } from "../world/cloud.ts";

/** Lists in a row, without a failure between, that showed a machine in one pool. Monotonic milliseconds. */
interface Stay {
  readonly poolId: string;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly isMoving: boolean;
}

/** What one process was shown. */
interface Shown {
  /** When it had its first list. */
  readonly firstMs: number;
  /** When each pool was last shown. */
  readonly poolsMs: Map<string, number>;
  readonly stays: Map<string, Stay>;
  /** Since when each machine that was shown once is not. */
  readonly goneMs: Map<string, number>;
  hasFailed: boolean;
}

/** What docs/explanation/deletion.md promises. */
const STAY_MS = 150_000;
const GONE_MS = 600_000;
/** Clocks of processes may be so much too fast. */
const RATE_ERROR = 0.02;

/** A pool and its hosts, the master first. */
export interface PoolPlace {
  readonly id: string;
  readonly hostIds: readonly string[];
}

/** Where machines are. */
export interface Placing {
  readonly state: StateWithCopies;
  /** Pools that it is connected to, or tries to be. */
  readonly pools: readonly PoolPlace[];
}

/** Follows where each process saw machines. */
export class StayJudge {
  readonly #cloud: Placing;
  readonly #world: Surroundings;
  readonly #shown = new Map<string, Shown>();

  constructor(cloud: Placing, world: Surroundings) {
    this.#cloud = cloud;
    this.#world = world;
  }

  /** Takes in that a process was given a list of machines. */
  noteList(asker: string): void {
    const nowMs = this.#world.timeline.monotonic();
    const shown = this.#find(asker, nowMs);
    const { state, pools } = this.#cloud;
    for (const { id } of pools) if (state.readShown("pools", id)) shown.poolsMs.set(id, nowMs);
    for (const vmId of this.#world.machines.values()) {
      const vm = state.readShown("vms", vmId);
      const before = shown.stays.get(vmId);
      if (vm === undefined) {
        if (before !== undefined && !shown.goneMs.has(vmId)) shown.goneMs.set(vmId, nowMs);
        continue;
      }
      const poolId = String(vm["$pool"]);
      const isMoving = Object.keys(vm["current_operations"] ?? {}).length > 0;
      const goesOn =
        before?.poolId === poolId &&
        !before.isMoving &&
        !isMoving &&
        !shown.hasFailed &&
        !shown.goneMs.has(vmId);
      const sinceMs = goesOn ? before.sinceMs : nowMs;
      shown.stays.set(vmId, { poolId, sinceMs, untilMs: nowMs, isMoving });
      shown.goneMs.delete(vmId);
    }
    shown.hasFailed = false;
  }

  /** Takes in that a process failed to take an inventory. */
  noteFailure(asker: string): void {
    const shown = this.#shown.get(asker);
    if (shown) shown.hasFailed = true;
  }

  /** Whether a process was ever shown a pool. */
  wasShown(author: string, poolId: string): boolean {
    return this.#shown.get(author)?.poolsMs.has(poolId) ?? false;
  }

  /** Says why a machine may be in one of the pools that are lost. */
  listDoubts(author: string, vmId: string, lost: readonly string[]): string[] {
    const shown = this.#shown.get(author);
    const stay = shown?.stays.get(vmId);
    if (shown === undefined || stay === undefined) return ["it was never seen, and a pool is lost"];
    const leastMs = STAY_MS * (1 - RATE_ERROR);
    const doubts: string[] = [];
    if (stay.isMoving) doubts.push("it was being migrated, and a pool is lost");
    if (stay.untilMs - stay.sinceMs < leastMs) doubts.push("its stay was short or broken");
    for (const poolId of lost) {
      const sinceMs = stay.untilMs - (shown.poolsMs.get(poolId) ?? shown.firstMs);
      if (sinceMs < leastMs) doubts.push(`it left ${Math.floor(sinceMs)} ms after ${poolId} did`);
    }
    const nowMs = this.#world.timeline.monotonic();
    const goneMs = nowMs - (shown.goneMs.get(vmId) ?? nowMs);
    if (goneMs < GONE_MS * (1 - RATE_ERROR))
      doubts.push(`it is gone for ${Math.floor(goneMs)} ms only, and a pool is lost`);
    return doubts;
  }

  #find(asker: string, nowMs: number): Shown {
    const known = this.#shown.get(asker) ?? {
      firstMs: nowMs,
      poolsMs: new Map(),
      stays: new Map(),
      goneMs: new Map(),
      hasFailed: false,
    };
    this.#shown.set(asker, known);
    return known;
  }
}
