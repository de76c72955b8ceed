/**
 * How many of our Nodes may be missing or deleted at once.
 * @module
 */
import { formatDuration } from "../../core/text/duration.ts";

/** How much of the fleet may go. */
export interface FleetLimitSettings {
  /** Share of our Nodes, 0 to 1, that may be missing or deleted within the window. One Node always may. */
  readonly fleetShare: number;
  /** How long a deletion counts, and how far back the size of the fleet is taken, in milliseconds. */
  readonly fleetWindowMs: number;
}

/** How many Nodes there were from a moment on. */
export interface SizeSample {
  readonly atMs: number;
  readonly size: number;
}

/** What the limit is told by. */
export interface FleetRecord {
  /** By UID: the Nodes whose instances were missing at the last look, Ready or not. */
  readonly missing: ReadonlyMap<string, unknown>;
  /** Oldest first, one for each change; the first may be older than the window. */
  readonly sizes: readonly SizeSample[];
  /** When Nodes were deleted, by UID, in monotonic milliseconds. */
  readonly deletions: ReadonlyMap<string, number>;
}

/** How the fleet stands against its limit. */
export interface FleetReading {
  /** How many Nodes of ours there were when the window began. */
  readonly sizeAtStart: number;
  /** Missing at the last look, Ready or not. */
  readonly missing: number;
  /** Deleted within the window. */
  readonly deleted: number;
  /** Missing, deleted or both, each Node once: what counts against the limit. */
  readonly affected: number;
  /** How many may be affected: the share of `sizeAtStart`, at least 1. */
  readonly limit: number;
  /** Whether more are affected than may be, so that none is deleted. */
  readonly isExceeded: boolean;
}

/** Reads how the fleet stands now, for the metric, the debug page and the log. */
export function readFleet(
  record: FleetRecord,
  nowMs: number,
  settings: FleetLimitSettings,
): FleetReading {
  const startMs = nowMs - settings.fleetWindowMs;
  const sizeAtStart = (record.sizes[findStart(record.sizes, startMs)] ?? { size: 0 }).size;
  // A product such as 0.29 × 100 falls a hair short of the whole number that was meant.
  const limit = Math.max(1, Math.floor(settings.fleetShare * sizeAtStart + 1e-9));
  const missing = record.missing.size;
  let deleted = 0;
  let affected = missing;
  for (const [uid, atMs] of record.deletions) {
    if (atMs < startMs) continue;
    deleted += 1;
    if (!record.missing.has(uid)) affected += 1;
  }
  // Written so that a limit that is no number is exceeded.
  const isExceeded = !(affected <= limit);
  return { sizeAtStart, missing, deleted, affected, limit, isExceeded };
}

/** Says that the limit is exceeded, by what, and what ends it; no full stop. */
export function describeFleet(fleet: FleetReading, settings: FleetLimitSettings): string {
  const { affected, missing, deleted, sizeAtStart, limit } = fleet;
  const window = formatDuration(settings.fleetWindowMs);
  const counts = `${missing} missing now, ${deleted} deleted within ${window}`;
  // Of a fleet that has just grown no share is enough.
  const ends =
    affected > sizeAtStart
      ? `there have been more Nodes for ${window}`
      : "fewer are, deletion.fleetShare is raised";
  return (
    `${affected} Nodes are missing or deleted (${counts}), the limit is ${limit} of the ${sizeAtStart} before: ` +
    `none is deleted until ${ends} or they are deleted by hand`
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

/** Where the sample stands that held when the window began; the oldest when none is that old. */
function findStart(sizes: readonly SizeSample[], startMs: number): number {
  return Math.max(
    0,
    sizes.findLastIndex(({ atMs }) => atMs <= startMs),
  );
}

/** Drops what was deleted before the window began; `deletions` itself when that is none. */
export function dropDeletions(
  deletions: ReadonlyMap<string, number>,
  startMs: number,
): ReadonlyMap<string, number> {
  const kept = new Map<string, number>();
  for (const [uid, atMs] of deletions) if (!(atMs < startMs)) kept.set(uid, atMs);
  return kept.size === deletions.size ? deletions : kept;
}
