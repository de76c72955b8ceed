/**
 * The fleet limit: how many of our Nodes may be missing or deleted at once.
 * @module
 */
import { formatDuration } from "../../core/text/values.ts";

/** Settings of the fleet limit. */
export interface FleetLimitSettings {
  /** Share of our Nodes, 0 to 1, that may be missing or deleted within the window. One Node is always allowed. */
  readonly fleetShare: number;
  /** How long a deletion counts, in milliseconds. The share refers to the size of the fleet this long ago. */
  readonly fleetWindowMs: number;
}

/** The number of Nodes from a time on. */
export interface SizeSample {
  readonly atMs: number;
  readonly size: number;
}

/**
 * Why a Node counts although the cloud shows its instance. `pending`: the instance is off, and Landfall may take the
 * Node out of service soon; it counts during that time. `done`: Landfall took it out of service; it counts as long as a
 * deletion, even if the Node is back in service sooner.
 */
export type OutOfService = "pending" | "done";

/** The input of the limit. */
export interface FleetRecord {
  /** The Nodes whose instances were missing at the last look, Ready or not, by UID. */
  readonly missing: ReadonlyMap<string, unknown>;
  /** One sample for each change, oldest first; the first may be older than the window. */
  readonly sizes: readonly SizeSample[];
  /** Time of each deletion in monotonic milliseconds, by UID. */
  readonly deletions: ReadonlyMap<string, number>;
  /** For Nodes taken out of service, the time until which each counts, in monotonic milliseconds, by UID. */
  readonly outOfService?: ReadonlyMap<string, number>;
  /** UIDs of Nodes that Landfall may take out of service soon. */
  readonly pending?: ReadonlySet<string>;
}

/** The fleet compared with its limit. */
export interface FleetReading {
  /** Number of our Nodes when the window began. */
  readonly sizeAtStart: number;
  /** Number of Nodes missing at the last look, Ready or not. */
  readonly missing: number;
  /** Number of Nodes deleted within the window. */
  readonly deleted: number;
  /** Number of Nodes that are or may soon be out of service, and are neither missing nor deleted. @default {0} */
  readonly outOfService?: number;
  /**
   * Number of Nodes that are missing, deleted or out of service; each counts once. This number must not exceed the
   * limit.
   */
  readonly affected: number;
  /** How many Nodes may be affected: the share of `sizeAtStart`, at least 1. */
  readonly limit: number;
  /** Whether more Nodes are affected than the limit allows. Landfall then deletes none. */
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
  // In floating point, 0.29 × 100 is slightly less than 29.
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
  // With a limit of NaN, this form counts it as exceeded.
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

/** Says that the limit is exceeded, by how much, and what ends this state; no full stop. */
export function describeFleet(fleet: FleetReading, settings: FleetLimitSettings): string {
  const { affected, missing, deleted, outOfService = 0, sizeAtStart, limit } = fleet;
  const window = formatDuration(settings.fleetWindowMs);
  const off = outOfService === 0 ? "" : `, ${outOfService} out of service`;
  const counts = `${missing} missing now, ${deleted} deleted within ${window}${off}`;
  // If the fleet grew within the window, no share would be high enough.
  const ends =
    affected > sizeAtStart
      ? `the cluster has had more Nodes for ${window}`
      : "fewer are affected, or you raise deletion.fleetShare";
  return (
    `${affected} Nodes are missing or deleted (${counts}), but the limit is ${limit} of the ${sizeAtStart} before: ` +
    `Landfall deletes none until ${ends}, or you delete them by hand`
  );
}

/**
 * Adds a sample if the size changed, and drops samples that no window needs again. The first sample is of a fleet with
 * Nodes: a new cluster has none when the first look at it may come.
 */
export function sampleSize(
  sizes: readonly SizeSample[],
  sample: SizeSample,
  startMs: number,
): readonly SizeSample[] {
  if (sizes.length === 0 && sample.size === 0) return sizes;
  const needed = findStart(sizes, startMs);
  const kept = needed > 0 ? sizes.slice(needed) : sizes;
  return kept.at(-1)?.size === sample.size ? kept : [...kept, sample];
}

/** Index of the sample that was valid when the window began, or of the oldest. */
function findStart(sizes: readonly SizeSample[], startMs: number): number {
  return Math.max(
    0,
    sizes.findLastIndex(({ atMs }) => atMs <= startMs),
  );
}

/** Removes deletions from before the window. */
export function dropDeletions(
  deletions: ReadonlyMap<string, number>,
  startMs: number,
): ReadonlyMap<string, number> {
  return new Map([...deletions].filter(([, atMs]) => !(atMs < startMs)));
}

/**
 * Records which Nodes are out of service. Each counts for one window from when Landfall first saw it in this state,
 * even if it is back in service sooner.
 */
export function noteOutOfService(
  before: ReadonlyMap<string, number>,
  fleet: Iterable<{ readonly uid: string; readonly outOfService?: OutOfService }>,
  nowMs: number,
  { fleetWindowMs }: Pick<FleetLimitSettings, "fleetWindowMs">,
): ReadonlyMap<string, number> {
  const after = new Map([...before].filter(([, untilMs]) => untilMs > nowMs));
  for (const { uid, outOfService } of fleet) {
    if (outOfService === "done") after.set(uid, before.get(uid) ?? nowMs + fleetWindowMs);
  }
  return after;
}

/** Lists the UIDs of Nodes that may be taken out of service soon. */
export function listPending(
  fleet: readonly { readonly uid: string; readonly outOfService?: OutOfService }[],
): ReadonlySet<string> {
  const pending = fleet.filter(({ outOfService }) => outOfService === "pending");
  return new Set(pending.map(({ uid }) => uid));
}
