/**
 * How many of our Nodes may be missing or deleted at once.
 * @module
 */
import { formatDuration } from "../../core/text/duration.ts";

/** How much of the fleet may be missing or deleted. */
export interface FleetLimitSettings {
  /** Share of our Nodes, 0 to 1, that may be missing or deleted within the window. One Node is always allowed. */
  readonly fleetShare: number;
  /** How long a deletion counts, and how long ago the size of the fleet is taken, in milliseconds. */
  readonly fleetWindowMs: number;
}

/** How many Nodes there were from this time on. */
export interface SizeSample {
  readonly atMs: number;
  readonly size: number;
}

/**
 * A Node that counts although its instance is shown. `pending`: the instance is off, and Landfall may take the Node out
 * of service soon; it counts while this lasts. `done`: Landfall took it out of service; it counts as long as a
 * deletion, even if the Node is back in service before that.
 */
export type OutOfService = "pending" | "done";

/** What the limit is computed from. */
export interface FleetRecord {
  /** By UID: the Nodes whose instances were missing at the last look, Ready or not. */
  readonly missing: ReadonlyMap<string, unknown>;
  /** Oldest first, one for each change; the first may be older than the window. */
  readonly sizes: readonly SizeSample[];
  /** When Nodes were deleted, by UID, in monotonic milliseconds. */
  readonly deletions: ReadonlyMap<string, number>;
  /** Until when Nodes count because they were taken out of service: by UID, in monotonic milliseconds. */
  readonly outOfService?: ReadonlyMap<string, number>;
  /** UIDs of Nodes that may be taken out of service soon. */
  readonly pending?: ReadonlySet<string>;
}

/** The fleet compared with its limit. */
export interface FleetReading {
  /** How many Nodes of ours there were when the window began. */
  readonly sizeAtStart: number;
  /** Missing at the last look, Ready or not. */
  readonly missing: number;
  /** Deleted within the window. */
  readonly deleted: number;
  /** Out of service or about to be, and neither missing nor deleted. @default {0} */
  readonly outOfService?: number;
  /** Missing, deleted or out of service, each Node once: what counts against the limit. */
  readonly affected: number;
  /** How many may be affected: the share of `sizeAtStart`, at least 1. */
  readonly limit: number;
  /** Whether more are affected than the limit allows, so that no Node is deleted. */
  readonly isExceeded: boolean;
}

/** Computes the current state of the fleet, for the metric, the debug page and the log. */
export function readFleet(
  record: FleetRecord,
  nowMs: number,
  settings: FleetLimitSettings,
): FleetReading {
  const startMs = nowMs - settings.fleetWindowMs;
  const sizeAtStart = (record.sizes[findStart(record.sizes, startMs)] ?? { size: 0 }).size;
  // A product such as 0.29 × 100 is slightly less than the whole number that was meant.
  const limit = Math.max(1, Math.floor(settings.fleetShare * sizeAtStart + 1e-9));
  const missing = record.missing.size;
  let deleted = 0;
  let affected = missing;
  for (const [uid, atMs] of record.deletions) {
    if (atMs < startMs) continue;
    deleted += 1;
    if (!record.missing.has(uid)) affected += 1;
  }
  const outOfService = countOutOfService(record, startMs, nowMs);
  affected += outOfService;
  // Written so that a limit of NaN is exceeded.
  const isExceeded = !(affected <= limit);
  const beside = outOfService === 0 ? {} : { outOfService };
  return { sizeAtStart, missing, deleted, ...beside, affected, limit, isExceeded };
}

function countOutOfService(
  { missing, deletions, outOfService = new Map(), pending = new Set() }: FleetRecord,
  startMs: number,
  nowMs: number,
): number {
  const uids = new Set(pending);
  for (const [uid, untilMs] of outOfService) if (untilMs > nowMs) uids.add(uid);
  let count = 0;
  for (const uid of uids) {
    const isCounted = missing.has(uid) || (deletions.get(uid) ?? -Infinity) >= startMs;
    if (!isCounted) count += 1;
  }
  return count;
}

/** Says that the limit is exceeded, by how much, and what ends it; no full stop. */
export function describeFleet(fleet: FleetReading, settings: FleetLimitSettings): string {
  const { affected, missing, deleted, outOfService = 0, sizeAtStart, limit } = fleet;
  const window = formatDuration(settings.fleetWindowMs);
  const off = outOfService === 0 ? "" : `, ${outOfService} out of service`;
  const counts = `${missing} missing now, ${deleted} deleted within ${window}${off}`;
  // In a fleet that has just grown, no share is high enough.
  const ends =
    affected > sizeAtStart
      ? `the cluster has had more Nodes for ${window}`
      : "fewer are affected, or you raise deletion.fleetShare";
  return (
    `${affected} Nodes are missing or deleted (${counts}), but the limit is ${limit} of the ${sizeAtStart} before: ` +
    `Landfall deletes none until ${ends}, or you delete them by hand`
  );
}

/** Adds a sample when the size changed, and drops those that no window will need again. */
export function sampleSize(
  sizes: readonly SizeSample[],
  sample: SizeSample,
  startMs: number,
): readonly SizeSample[] {
  const needed = findStart(sizes, startMs);
  const kept = needed > 0 ? sizes.slice(needed) : sizes;
  return kept.at(-1)?.size === sample.size ? kept : [...kept, sample];
}

/** Index of the sample that was valid when the window began; the oldest when none is that old. */
function findStart(sizes: readonly SizeSample[], startMs: number): number {
  return Math.max(
    0,
    sizes.findLastIndex(({ atMs }) => atMs <= startMs),
  );
}

/** Removes deletions from before the window; returns `deletions` itself when there are none. */
export function dropDeletions(
  deletions: ReadonlyMap<string, number>,
  startMs: number,
): ReadonlyMap<string, number> {
  const kept = new Map<string, number>();
  for (const [uid, atMs] of deletions) if (!(atMs < startMs)) kept.set(uid, atMs);
  return kept.size === deletions.size ? deletions : kept;
}

/**
 * Records which Nodes are out of service, each since it was first seen in this state. A Node that is back in service
 * counts until its time is over.
 *
 * @returns `before` itself when nothing changed
 */
export function noteOutOfService(
  before: ReadonlyMap<string, number>,
  fleet: Iterable<{ readonly uid: string; readonly outOfService?: OutOfService }>,
  nowMs: number,
  { fleetWindowMs }: Pick<FleetLimitSettings, "fleetWindowMs">,
): ReadonlyMap<string, number> {
  const after = new Map<string, number>();
  for (const [uid, untilMs] of before) if (untilMs > nowMs) after.set(uid, untilMs);
  for (const { uid, outOfService } of fleet) {
    if (outOfService === "done") after.set(uid, before.get(uid) ?? nowMs + fleetWindowMs);
  }
  const isSame = [...after].every(([uid, ms]) => before.get(uid) === ms);
  return isSame && after.size === before.size ? before : after;
}

/** UIDs of the Nodes that may be taken out of service soon. @returns `before` itself when nothing changed */
export function listPending(
  before: ReadonlySet<string>,
  fleet: Iterable<{ readonly uid: string; readonly outOfService?: OutOfService }>,
): ReadonlySet<string> {
  const after = new Set<string>();
  for (const { uid, outOfService } of fleet) if (outOfService === "pending") after.add(uid);
  return after.size === before.size && before.isSubsetOf(after) ? before : after;
}
