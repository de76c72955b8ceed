/**
 * How often in a row, and for how long, an instance was missing. Pure.
 * @module
 */
import { formatDuration } from "../../core/text/duration.ts";

/** How long a streak must be. */
export interface StreakSettings {
  /** How many complete inventories in a row must lack an instance; less than 1 counts as 1. */
  readonly confirmations: number;
  /** Least time from the answer to the first of them until the request for the last, in milliseconds. */
  readonly holdOffMs: number;
}

/** Inventories in a row that lacked an instance while its Node was not Ready. */
export interface Streak {
  readonly observations: number;
  /**
   * When the first was looked at, and when the last was requested, but not before the first; monotonic milliseconds.
   */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Whether a part of the cloud is lost that may hold the instance: the streak must then be longer. */
  readonly isPartLost?: boolean;
}

/** What a streak still needs. */
export interface Waiting {
  readonly kind: "waiting";
  readonly reason: "confirmations" | "holdOff";
  readonly observations: number;
  /** When the first of the observations was looked at, in monotonic milliseconds; absent without one. */
  readonly sinceMs?: number;
  readonly message: string;
}

/** Least hold-off while a part of the cloud is lost that may hold the instance. */
export const PART_LOST_HOLD_OFF_MS = 600_000;

const NO_STREAK: Streak = { observations: 0, firstMs: 0, lastMs: 0 };

/**
 * A streak with one more observation.
 *
 * @param last Absent: a new streak. An answer may describe the time of its arrival, or the time of its request: a first
 * answer that is late proves no span
 * @param nowMs When the inventory is looked at, in monotonic milliseconds
 * @param observedAtMs When it was requested
 */
export function extendStreak(
  last: Streak | undefined,
  nowMs: number,
  observedAtMs: number,
): Streak {
  const before = last ?? { ...NO_STREAK, firstMs: nowMs };
  const { observations, firstMs } = before;
  return {
    ...before,
    observations: observations + 1,
    lastMs: Math.max(firstMs, observedAtMs),
  };
}

/** What the streak still needs; nothing when it is long enough. */
export function judgeStreak(
  streak: Streak | undefined,
  settings: StreakSettings,
): Waiting | undefined {
  const kind = "waiting";
  const wanted = Math.max(1, settings.confirmations);
  const { observations, firstMs, lastMs, isPartLost = false } = streak ?? NO_STREAK;
  const since = streak ? { sinceMs: firstMs } : {};
  // Both are written so that a setting of NaN is never met.
  if (!(observations >= wanted)) {
    const message = `Its instance was missing in ${observations} of ${wanted} inventories in a row`;
    return { kind, reason: "confirmations", observations, ...since, message };
  }
  const holdOffMs = toHoldOffMs(settings, isPartLost);
  if (!(lastMs - firstMs >= holdOffMs)) {
    // Rounded down, so that the wait never looks finished before it is.
    const missedMs = Math.floor((lastMs - firstMs) / 1_000) * 1_000;
    const span = `${formatDuration(missedMs)} of ${formatDuration(holdOffMs)}`;
    const why = isPartLost ? ", which is longer because another part of the cloud is lost" : "";
    const message = `Its instance has been missing for ${span}${why}`;
    return { kind, reason: "holdOff", observations, ...since, message };
  }
  return undefined;
}

function toHoldOffMs({ holdOffMs }: StreakSettings, isPartLost: boolean): number {
  return isPartLost ? Math.max(holdOffMs, PART_LOST_HOLD_OFF_MS) : holdOffMs;
}
