/**
 * Remembers which instances this process has seen since it started. An instance that it never saw does not count as
 * missing at first.
 *
 * A process forgets everything when it ends. After a start it does not know which instances were moving to another part
 * of the cloud, or where to. Such an instance may be alive and still look deleted. Only waiting helps.
 * @module
 */
import { formatDuration } from "../../core/text/values.ts";

/**
 * What an inventory shows about a Node's instance. `missing`: the inventory does not list it, although the part of the
 * cloud that would hold it answered in full. `unknown`: anything else that is not `present`.
 */
export type Sighting = "present" | "missing" | "unknown";

/** One Node, by its UID. */
interface Sighted {
  readonly uid: string;
  readonly sighting: Sighting;
}

/** What this process saw since it started; immutable. */
export interface FirstSightings {
  /** Time of the request for the first inventory that showed or missed an instance, in monotonic milliseconds. */
  readonly sinceMs: number | undefined;
  /** UIDs of the Nodes whose instances were present at least once; empty after the wait. */
  readonly shown: ReadonlySet<string>;
}

/**
 * How long after the start an instance that was never seen does not count as missing. A machine moves in less time. It
 * is the same time as for an instance that was seen moving.
 */
const NEVER_SEEN_WAIT_MS = 600_000;

/** Nothing seen yet. */
export const NO_SIGHTINGS: FirstSightings = { sinceMs: undefined, shown: new Set() };

/** Whether the wait is over and the UIDs are forgotten. */
export function isWaitOver(sightings: FirstSightings, observedAtMs: number): boolean {
  return isOver(sightings, observedAtMs) && sightings.shown.size === 0;
}

/** Written so that NaN never ends the wait. */
function isOver({ sinceMs }: Pick<FirstSightings, "sinceMs">, observedAtMs: number): boolean {
  return sinceMs !== undefined && observedAtMs - sinceMs >= NEVER_SEEN_WAIT_MS;
}

/**
 * Records one look at the whole fleet.
 *
 * @param observedAtMs Time of the request for its inventory, in monotonic milliseconds
 */
export function noteSightings(
  before: FirstSightings,
  fleet: readonly Sighted[],
  observedAtMs: number,
): FirstSightings {
  const isConclusive = fleet.some(({ sighting }) => sighting !== "unknown");
  const sinceMs = before.sinceMs ?? (isConclusive ? observedAtMs : undefined);
  if (isOver({ sinceMs }, observedAtMs)) return { sinceMs, shown: NO_SIGHTINGS.shown };
  const present = fleet.filter(({ sighting }) => sighting === "present");
  return noteShown({ ...before, sinceMs }, new Set(present.map(({ uid }) => uid)), observedAtMs);
}

/** Records Nodes whose instances were seen between two looks. */
export function noteShown(
  before: FirstSightings,
  uids: ReadonlySet<string>,
  observedAtMs: number,
): FirstSightings {
  const { sinceMs, shown } = before;
  // A fleet has thousands of Nodes: the set is copied only for a new one.
  if (isOver(before, observedAtMs) || uids.isSubsetOf(shown)) return before;
  return { sinceMs, shown: shown.union(uids) };
}

/**
 * Says why an instance that no inventory shows does not count as missing yet; `undefined` if it counts.
 *
 * @param observedAtMs Time of the request for the newest inventory, in monotonic milliseconds
 */
export function explainNeverSeen(
  sightings: FirstSightings,
  uid: string,
  observedAtMs: number,
): string | undefined {
  if (isOver(sightings, observedAtMs) || sightings.shown.has(uid)) return undefined;
  const passedMs = observedAtMs - (sightings.sinceMs ?? observedAtMs);
  const span = formatDuration(Math.floor(passedMs / 1_000) * 1_000);
  return (
    `Its instance is missing, and Landfall has not seen it since its first inventory, ${span} ago: it may have moved ` +
    `before that, so it counts as missing only ${formatDuration(NEVER_SEEN_WAIT_MS)} after that inventory`
  );
}
