/**
 * Counts how often in a row, and for how long, an instance was missing. Pure.
 * @module
 */
import { formatDuration } from "../../core/text/duration.ts";

/** How long a streak must be. */
export interface StreakSettings {
  /** Number of complete inventories in a row that must lack an instance; less than 1 counts as 1. */
  readonly confirmations: number;
  /** Minimum time from the answer to the first of them until the request for the last, in milliseconds. */
  readonly holdOffMs: number;
}

/** Inventories in a row that lacked an instance while its Node was not Ready. */
export interface Streak {
  readonly observations: number;
  /** Time of the look at the first, in monotonic milliseconds. */
  readonly firstMs: number;
  /** Time of the request for the last, but not before `firstMs`; in monotonic milliseconds. */
  readonly lastMs: number;
  /** Whether a part of the cloud that may hold the instance is lost. The streak must then be longer. */
  readonly isPartLost?: boolean;
}

/** What a streak still lacks. */
export interface Waiting {
  readonly kind: "waiting";
  readonly reason: "confirmations" | "holdOff";
  readonly observations: number;
  /** Time of the look at the first observation, in monotonic milliseconds; absent without one. */
  readonly sinceMs?: number;
  readonly message: string;
}

/** Minimum hold-off while a part of the cloud that may hold the instance is lost. */
export const PART_LOST_HOLD_OFF_MS = 600_000;

const NO_STREAK: Streak = { observations: 0, firstMs: 0, lastMs: 0 };

/**
 * Returns a streak with one more observation.
 *
 * @param last Absent: a new streak. It starts at the look and not at the request, because an answer may describe any
 * moment in between
 * @param nowMs Time of the look, in monotonic milliseconds
 * @param observedAtMs Time of the request for the inventory, in monotonic milliseconds
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

/** Says what the streak still lacks; `undefined` if it is long enough. */
export function judgeStreak(
  streak: Streak | undefined,
  settings: StreakSettings,
): Waiting | undefined {
  const kind = "waiting";
  const wanted = Math.max(1, settings.confirmations);
  const { observations, firstMs, lastMs, isPartLost = false } = streak ?? NO_STREAK;
  const since = streak ? { sinceMs: firstMs } : {};
  // With a setting of NaN, these forms never count the condition as met.
  if (!(observations >= wanted)) {
    const message = `Its instance was missing in ${observations} of ${wanted} inventories in a row`;
    return { kind, reason: "confirmations", observations, ...since, message };
  }
  const holdOffMs = toHoldOffMs(settings, isPartLost);
  if (!(lastMs - firstMs >= holdOffMs)) {
    // Rounded down, so that the message never shows the full time too early.
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
