/**
 * Which instances a process saw since it started, while that matters: what it never saw it may not miss yet.
 *
 * Memory ends with the process. What was known of an instance (that it was on its way to another part of the cloud, or
 * where it had moved) is not known after a start, and then an instance that lives may look in every way as if it were
 * gone. Only time tells.
 * @module
 */
import { formatDuration } from "../../core/text/duration.ts";

/**
 * What an inventory shows of a Node's instance. `missing`: not listed, although the part of the cloud that would hold
 * it answered in full. `unknown`: anything else that is not `present`.
 */
export type Sighting = "present" | "missing" | "unknown";

/** One Node, by its UID. */
interface Sighted {
  readonly uid: string;
  readonly sighting: Sighting;
}

/** What was seen since the start; immutable. */
export interface FirstSightings {
  /** When the first inventory was asked for that told of any instance, in monotonic milliseconds. */
  readonly sinceMs: number | undefined;
  /** UIDs of the Nodes whose instances were ever present; none once the wait is over. */
  readonly shown: ReadonlySet<string>;
}

/**
 * For how long after the start an instance that was never seen is not missed. Longer than a machine takes to move, and
 * as long as one is not missed that was seen moving.
 */
export const NEVER_SEEN_WAIT_MS = 600_000;

/** Nothing seen yet. */
export const NO_SIGHTINGS: FirstSightings = { sinceMs: undefined, shown: new Set() };

const NONE: ReadonlySet<string> = NO_SIGHTINGS.shown;

/** Whether it matters no more whom an inventory shows: the wait is over, and who was seen is forgotten. */
export function areOver({ sinceMs, shown }: FirstSightings, observedAtMs: number): boolean {
  return isOver(sinceMs, observedAtMs) && shown.size === 0;
}

/**
 * Takes in one look at the whole fleet.
 *
 * @param observedAtMs When its inventory was asked for, in monotonic milliseconds
 * @returns `before` itself when nothing changed
 */
export function noteSightings(
  before: FirstSightings,
  fleet: readonly Sighted[],
  observedAtMs: number,
): FirstSightings {
  const isTelling = fleet.some(({ sighting }) => sighting !== "unknown");
  const sinceMs = before.sinceMs ?? (isTelling ? observedAtMs : undefined);
  const shown = isOver(sinceMs, observedAtMs) ? NONE : addShown(before.shown, fleet);
  return sinceMs === before.sinceMs && shown === before.shown ? before : { sinceMs, shown };
}

function isOver(sinceMs: number | undefined, observedAtMs: number): boolean {
  return sinceMs !== undefined && observedAtMs - sinceMs >= NEVER_SEEN_WAIT_MS;
}

function addShown(shown: ReadonlySet<string>, fleet: readonly Sighted[]): ReadonlySet<string> {
  const news = fleet.filter(({ uid, sighting }) => sighting === "present" && !shown.has(uid));
  return news.length === 0 ? shown : new Set([...shown, ...news.map(({ uid }) => uid)]);
}

/** Takes in whose instances were seen between two looks. Returns `before` itself when that is no news. */
export function noteShown(
  before: FirstSightings,
  uids: Iterable<string>,
  observedAtMs: number,
): FirstSightings {
  const { sinceMs, shown } = before;
  if (observedAtMs - (sinceMs ?? observedAtMs) >= NEVER_SEEN_WAIT_MS) return before;
  const news = [...uids].filter((uid) => !shown.has(uid));
  return news.length === 0 ? before : { sinceMs, shown: new Set([...shown, ...news]) };
}

/**
 * Says why an instance is not missed yet that no inventory shows; nothing when it is.
 *
 * @param observedAtMs When the newest inventory was asked for, in monotonic milliseconds
 */
export function doubtNeverSeen(
  { sinceMs, shown }: FirstSightings,
  uid: string,
  observedAtMs: number,
): string | undefined {
  const passedMs = observedAtMs - (sinceMs ?? observedAtMs);
  // Written so that a time that is no number is never over.
  if (passedMs >= NEVER_SEEN_WAIT_MS || shown.has(uid)) return undefined;
  const span = formatDuration(Math.floor(passedMs / 1_000) * 1_000);
  return (
    `Its instance is missing, but was not seen since the start, ${span} ago: ` +
    `it may have moved before, so it counts from ${formatDuration(NEVER_SEEN_WAIT_MS)} after the start on`
  );
}
