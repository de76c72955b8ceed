/**
 * Decides whether a Node may be deleted: only what a cloud has shown as missing often and long enough, and only while
 * few are missing.
 *
 * Pure, and of no cloud: somebody keeps one {@linkcode GuardState}, tells it what is seen, and asks for a verdict.
 * A Node goes only when every one of these holds:
 *
 * 1. It was not Ready and its instance missing in enough complete inventories in a row, over a long enough time.
 * 2. It was seen since the start, or ten minutes went by: see first_sightings.ts.
 * 3. Few enough of all Nodes are missing or were lately deleted; else none goes until fewer are or a person decides.
 * 4. The cloud, asked directly, agrees: that is the caller's part, after the verdict `confirm`.
 * @module
 */
import {
  doubtNeverSeen,
  type FirstSightings,
  NO_SIGHTINGS,
  noteShown,
  noteSightings,
  type Sighting,
} from "./first_sightings.ts";
import {
  describeFleet,
  dropDeletions,
  type FleetLimitSettings,
  type FleetRecord,
  readFleet,
  sampleSize,
} from "./fleet_limit.ts";

import {
  extendStreak,
  judgeStreak,
  type Streak,
  type StreakSettings,
  type Waiting,
} from "./streak.ts";

export type { Sighting } from "./first_sightings.ts";
export { type FleetReading, readFleet } from "./fleet_limit.ts";

/** How careful to be: `deletion` of the configuration file. */
export interface DeletionSettings extends FleetLimitSettings, StreakSettings {
  /** False: nothing is deleted, only reported. */
  readonly enabled: boolean;
  /**
   * Whether a Node may be deleted while parts of the cloud other than its instance's own are lost. Then the hold-off is
   * ten minutes at least, and the provider must prove that the instance stayed in its own part after that.
   */
  readonly whileOtherPartsAreLost: boolean;
}

/** What holds when nothing is configured. */
export const DEFAULT_DELETION: DeletionSettings = {
  enabled: true,
  confirmations: 3,
  holdOffMs: 60_000,
  fleetShare: 0.34,
  fleetWindowMs: 600_000,
  whileOtherPartsAreLost: false,
};

/** One of our Nodes: initialised, with a provider ID that is ours and can be read. */
export interface FleetMember {
  /** `metadata.uid`: a Node that comes again under its name is another one. */
  readonly uid: string;
  /** Whether its condition Ready is `True`; without that condition it is not. */
  readonly isReady: boolean;
  readonly sighting: Sighting;
}

/** One look at all our Nodes. */
export interface FleetLook {
  /** Every one of our Nodes, once. */
  readonly fleet: Iterable<FleetMember>;
  /**
   * When the inventory was asked for, in monotonic milliseconds. Absent without a good one: then no sighting counts,
   * every streak ends, and what was missing counts as missing until more is known.
   */
  readonly observedAtMs?: number | undefined;
  /** When the look is taken, in monotonic milliseconds. */
  readonly nowMs: number;
}

/** A Node whose instance was missing at the last look. */
interface MissingNode {
  readonly isReady: boolean;
  /** Absent while it is Ready, and until an inventory newer than what ended the last streak lacks it again. */
  readonly streak: Streak | undefined;
}

/**
 * All that the guard remembers; immutable. Grows with the Nodes that are missing, and with the deletions and the
 * changes of the fleet's size within the window; with the Nodes that are well only for ten minutes after the start.
 */
export interface GuardState extends FleetRecord {
  /** When the newest inventory that was looked at was asked for; `-Infinity` before the first. */
  readonly observedAtMs: number;
  /** By UID, as the last look found them. */
  readonly missing: ReadonlyMap<string, MissingNode>;
  readonly sightings: FirstSightings;
}

/** Nothing seen yet. */
export const EMPTY_GUARD: GuardState = {
  observedAtMs: -Infinity,
  missing: new Map(),
  sightings: NO_SIGHTINGS,
  sizes: [],
  deletions: new Map(),
};

/**
 * Takes in one look at the whole fleet; as often as one likes.
 *
 * An inventory counts once, at the first look at it: a Node that is then not Ready and missing has one more
 * observation. Later looks at the same inventory, or at an older one, can only end streaks. A Node that is Ready,
 * present, unknown or not in the fleet at any look starts anew, with the next newer inventory.
 *
 * @returns `state` itself when nothing changed
 */
export function observeFleet(
  state: GuardState,
  look: FleetLook,
  settings: DeletionSettings,
): GuardState {
  const { observedAtMs, nowMs } = look;
  const fleet = [...look.fleet];
  const isNew = observedAtMs !== undefined && observedAtMs > state.observedAtMs;
  const missing = new Map<string, MissingNode>();
  for (const { uid, isReady, sighting } of fleet) {
    const before = state.missing.get(uid);
    if (observedAtMs === undefined) {
      if (before) missing.set(uid, toMissingNode(before, isReady, undefined));
    } else if (sighting === "missing") {
      const streak = isNew ? extendStreak(before?.streak, nowMs, observedAtMs) : before?.streak;
      missing.set(uid, toMissingNode(before, isReady, streak));
    }
  }
  const startMs = nowMs - settings.fleetWindowMs;
  const next: GuardState = {
    observedAtMs: isNew ? observedAtMs : state.observedAtMs,
    missing: hasSameEntries(state.missing, missing) ? state.missing : missing,
    sightings:
      observedAtMs === undefined
        ? state.sightings
        : noteSightings(state.sightings, fleet, observedAtMs),
    sizes: sampleSize(state.sizes, { atMs: nowMs, size: fleet.length }, startMs),
    deletions: dropDeletions(state.deletions, startMs),
  };
  const isSame =
    next.observedAtMs === state.observedAtMs &&
    next.missing === state.missing &&
    next.sightings === state.sightings &&
    next.sizes === state.sizes &&
    next.deletions === state.deletions;
  return isSame ? state : next;
}

/**
 * Starts every streak anew, with the next newer inventory: a refresh failed, or leadership was lost.
 *
 * @returns `state` itself when there was none
 */
export function breakStreaks(state: GuardState): GuardState {
  const missing = new Map<string, MissingNode>();
  for (const [uid, node] of state.missing) {
    missing.set(uid, toMissingNode(node, node.isReady, undefined));
  }
  return hasSameEntries(state.missing, missing) ? state : { ...state, missing };
}

/**
 * Starts the streak of one Node anew, with the next newer inventory: the cloud, asked directly, did not agree, or the
 * Node changed.
 *
 * @returns `state` itself when it had none
 */
export function breakStreak(state: GuardState, uid: string): GuardState {
  const node = state.missing.get(uid);
  if (node?.streak === undefined) return state;
  const missing = new Map(state.missing).set(uid, { ...node, streak: undefined });
  return { ...state, missing };
}

/**
 * Makes the streak of one Node wait for longer, because another part of the cloud is lost. What was counted stays.
 *
 * @returns `state` itself when it had none
 */
export function prolongStreak(state: GuardState, uid: string): GuardState {
  const node = state.missing.get(uid);
  if (node?.streak === undefined) return state;
  const streak = { ...node.streak, isPartLost: true };
  return { ...state, missing: new Map(state.missing).set(uid, { ...node, streak }) };
}

/** Whether a Node was missing for long enough to be deleted even while another part of the cloud is lost. */
export function mayPartsBeLost(
  state: GuardState,
  uid: string,
  settings: DeletionSettings,
): boolean {
  const { streak } = state.missing.get(uid) ?? {};
  const isLong = streak?.isPartLost === true && judgeStreak(streak, settings) === undefined;
  return settings.whileOtherPartsAreLost && isLong;
}

/**
 * Counts a deletion for as long as the window lasts.
 *
 * Called before the request is sent: the watch may tell of its success before the reply does, and between the two the
 * Node would count neither as missing nor as deleted. One that fails keeps counting; that the Node is still missing
 * does not count it twice, and its streak stands, so that it can be tried again.
 */
export function noteDeletion(state: GuardState, uid: string, nowMs: number): GuardState {
  return { ...state, deletions: new Map(state.deletions).set(uid, nowMs) };
}

/** Remembers whose instances were present between two looks, so that they may be missed later. */
export function noteSeen(state: GuardState, uids: Iterable<string>): GuardState {
  const sightings = noteShown(state.sightings, uids, state.observedAtMs);
  return sightings === state.sightings ? state : { ...state, sightings };
}

/** What may happen to a Node now. A `message` is for people: no full stop, no name. */
export type Verdict =
  /** Its instance is not missing. */
  | { readonly kind: "keep" }
  /** Nobody needs to act: it is Ready, or was not missing often (`confirmations`) or long (`holdOff`) enough. */
  | (Omit<Waiting, "reason"> & { readonly reason: Waiting["reason"] | "ready" })
  /** Missing often and long enough, but a person must decide; or for now, when it was never seen (`neverSeen`). */
  | {
      readonly kind: "blocked";
      readonly reason: "disabled" | "neverSeen" | "fleetLimit";
      readonly message: string;
    }
  /** Ask the cloud directly, judge again, then delete. Nothing less than this allows a deletion. */
  | { readonly kind: "confirm" };

/**
 * Judges one Node by what was seen so far. As every missing Node counts against the limit before any is deleted, the
 * order in which Nodes are judged and deleted does not matter.
 */
export function judge(
  state: GuardState,
  uid: string,
  nowMs: number,
  settings: DeletionSettings,
): Verdict {
  const node = state.missing.get(uid);
  if (node === undefined) return { kind: "keep" };
  const waiting = node.isReady ? WAITING_FOR_READY : judgeStreak(node.streak, settings);
  if (waiting) return waiting;
  if (!settings.enabled) {
    const message = "Its instance is missing, but deletion.enabled is false";
    return { kind: "blocked", reason: "disabled", message };
  }
  const neverSeen = doubtNeverSeen(state.sightings, uid, state.observedAtMs);
  if (neverSeen !== undefined) return { kind: "blocked", reason: "neverSeen", message: neverSeen };
  const fleet = readFleet(state, nowMs, settings);
  if (!fleet.isExceeded) return { kind: "confirm" };
  return { kind: "blocked", reason: "fleetLimit", message: describeFleet(fleet, settings) };
}

const WAITING_FOR_READY: Verdict = {
  kind: "waiting",
  reason: "ready",
  observations: 0,
  message: "Its instance is missing, but the Node is Ready",
};

/** The entry of a missing Node after a look; `before` itself when it stays as it was. */
function toMissingNode(
  before: MissingNode | undefined,
  isReady: boolean,
  streak: Streak | undefined,
): MissingNode {
  const after = { isReady, streak: isReady ? undefined : streak };
  const isSame = before?.isReady === isReady && before.streak === after.streak;
  return isSame ? before : after;
}

function hasSameEntries<K, V>(one: ReadonlyMap<K, V>, other: ReadonlyMap<K, V>): boolean {
  if (one.size !== other.size) return false;
  for (const [key, value] of other) if (one.get(key) !== value) return false;
  return true;
}
