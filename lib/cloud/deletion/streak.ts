/**
 * Counts how often in a row, and for how long, an instance was missing. Pure.
 * @module
 */
import { formatDuration } from "../../core/text/values.ts";

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
const PART_LOST_HOLD_OFF_MS = 600_000;

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

/** The section `outOfService` of the settings file. */
export interface OutOfServiceSettings {
  /** Number of inventories in a row that must show an instance as off; less than 1 counts as 1. */
  readonly confirmations: number;
  /** Minimum time from the answer to the first of them until the request for the last, in milliseconds. */
  readonly graceMs: number;
}

/** The defaults. */
export const DEFAULT_OUT_OF_SERVICE: OutOfServiceSettings = { confirmations: 2, graceMs: 30_000 };

/** The streaks of all Nodes; immutable. Its size depends on the number of instances that are off. */
export interface OffStreaks {
  /** Time of the request for the newest inventory so far; `-Infinity` before the first. */
  readonly observedAtMs: number;
  /** By the UID of the Node; `undefined` from the end of a streak until a newer inventory. */
  readonly byUid: ReadonlyMap<string, Streak | undefined>;
}

/** Nothing seen yet. */
export const NO_OFF_STREAKS: OffStreaks = { observedAtMs: -Infinity, byUid: new Map() };

/** One look at all Nodes. */
interface OffLook {
  /** UIDs of the Nodes that are not Ready and whose instances the cloud shows as off. */
  readonly off: Iterable<string>;
  /**
   * Time of the request for the inventory, in monotonic milliseconds. Absent without a good inventory: every streak
   * ends.
   */
  readonly observedAtMs: number | undefined;
  /** Time of the look, in monotonic milliseconds. */
  readonly nowMs: number;
}

/**
 * Records one look. May be called at any rate. An inventory counts once, at the first look at it. If a Node is not
 * among `off` at any look, its count starts again from zero.
 */
export function observeOff(
  { observedAtMs: seenMs, byUid }: OffStreaks,
  { off, observedAtMs, nowMs }: OffLook,
): OffStreaks {
  if (observedAtMs === undefined) return { observedAtMs: seenMs, byUid: new Map() };
  const isNew = observedAtMs > seenMs;
  const next = new Map<string, Streak | undefined>();
  for (const uid of off) {
    const before = byUid.get(uid);
    next.set(uid, isNew ? extendStreak(before, nowMs, observedAtMs) : before);
  }
  return { observedAtMs: isNew ? observedAtMs : seenMs, byUid: next };
}

/** Ends all streaks; each starts again with the next newer inventory. */
export function breakOffStreaks({ observedAtMs }: OffStreaks): OffStreaks {
  return { observedAtMs, byUid: new Map() };
}

/** Ends the streak of one Node; it starts again with the next newer inventory. */
export function breakOffStreak({ observedAtMs, byUid }: OffStreaks, uid: string): OffStreaks {
  return { observedAtMs, byUid: new Map([...byUid].filter(([other]) => other !== uid)) };
}

/** Says what the streak of a Node that is off still lacks, without a full stop; `undefined` if it is long enough. */
export function describeOffWait(
  { byUid }: OffStreaks,
  uid: string,
  { confirmations, graceMs }: OutOfServiceSettings,
): string | undefined {
  const streak = byUid.get(uid);
  const waiting = judgeStreak(streak, { confirmations, holdOffMs: graceMs });
  if (waiting === undefined) return undefined;
  if (waiting.reason === "confirmations") {
    const wanted = Math.max(1, confirmations);
    return `The cloud showed its instance as off in ${waiting.observations} of ${wanted} inventories in a row`;
  }
  const { firstMs = 0, lastMs = 0 } = streak ?? {};
  // Rounded down, so that the message never shows the full time too early.
  const offMs = Math.floor((lastMs - firstMs) / 1_000) * 1_000;
  return `Its instance has been off for ${formatDuration(offMs)} of ${formatDuration(graceMs)}`;
}
