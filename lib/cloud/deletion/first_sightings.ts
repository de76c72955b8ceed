/**
 * Which instances this process has seen since it started: an instance that it never saw must not count as missing yet.
 *
 * A process forgets everything when it ends. After a start it does not know that an instance was moving to another part
 * of the cloud, or where it had moved. Such an instance may be alive and still look deleted. Only waiting helps.
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
  /** When the first inventory that showed anything was requested, in monotonic milliseconds. */
  readonly sinceMs: number | undefined;
  /** UIDs of the Nodes whose instances were present at least once; empty after the wait. */
  readonly shown: ReadonlySet<string>;
}

/**
 * For how long after the start an instance that was never seen does not count as missing. Longer than a machine takes
 * to move, and as long as for an instance that was seen moving.
 */
export const NEVER_SEEN_WAIT_MS = 600_000;

/** Nothing seen yet. */
export const NO_SIGHTINGS: FirstSightings = { sinceMs: undefined, shown: new Set() };

const NONE: ReadonlySet<string> = NO_SIGHTINGS.shown;

/** Whether sightings no longer matter: the wait is over, and the UIDs are forgotten. */
export function areOver({ sinceMs, shown }: FirstSightings, observedAtMs: number): boolean {
  return isOver(sinceMs, observedAtMs) && shown.size === 0;
}

/**
 * Records one look at the whole fleet.
 *
 * @param observedAtMs When its inventory was requested, in monotonic milliseconds
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

/** Records the Nodes whose instances were seen between two looks. Returns `before` itself when nothing is new. */
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
 * Says why an instance that no inventory shows does not count as missing yet; `undefined` when it does.
 *
 * @param observedAtMs When the newest inventory was requested, in monotonic milliseconds
 */
export function doubtNeverSeen(
  { sinceMs, shown }: FirstSightings,
  uid: string,
  observedAtMs: number,
): string | undefined {
  const passedMs = observedAtMs - (sinceMs ?? observedAtMs);
  // Written so that NaN never ends the wait.
  if (passedMs >= NEVER_SEEN_WAIT_MS || shown.has(uid)) return undefined;
  const span = formatDuration(Math.floor(passedMs / 1_000) * 1_000);
  return (
    `Its instance is missing, and Landfall has not seen it since its first inventory, ${span} ago: it may have moved ` +
    `before that, so it counts as missing only ${formatDuration(NEVER_SEEN_WAIT_MS)} after that inventory`
  );
}
