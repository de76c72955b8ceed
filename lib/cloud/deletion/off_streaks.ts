/**
 * Counts how often in a row, and for how long, the cloud showed instances as powered off while their Nodes were not
 * Ready. Pure.
 * @module
 */
import { formatDuration } from "../../core/text/duration.ts";
import { extendStreak, judgeStreak, type Streak } from "./streak.ts";

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
