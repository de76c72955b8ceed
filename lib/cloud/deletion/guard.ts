/**
 * Decides whether a Node may be deleted: only after the cloud has shown its instance as missing often and long enough,
 * and only while few Nodes are missing.
 *
 * Pure, and independent of the cloud: the caller keeps one {@linkcode GuardState}, reports what it sees, and asks for a
 * verdict. A Node is deleted only when all of these hold:
 *
 * 1. It was not Ready and its instance was missing in enough complete inventories in a row, over a long enough time.
 * 2. This process has seen its instance, or ten minutes have passed since the start: see first_sightings.ts.
 * 3. Few enough Nodes are missing or were recently deleted. Otherwise no Node is deleted until fewer are, or an
 *    operator decides.
 * 4. The cloud, asked directly, confirms it: the caller does this after the verdict `confirm`.
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
  listPending,
  noteOutOfService,
  type OutOfService,
  type FleetLimitSettings,
  type FleetRecord,
  readFleet,
  sampleSize,
} from "./fleet_limit.ts";
import { extendStreak, judgeStreak } from "./streak.ts";
import type { Streak, StreakSettings, Waiting } from "./streak.ts";

export type { Sighting } from "./first_sightings.ts";
export { type FleetReading, readFleet } from "./fleet_limit.ts";

/** How careful to be: `deletion` in the configuration file. */
export interface DeletionSettings extends FleetLimitSettings, StreakSettings {
  /** False: nothing is deleted, only reported. */
  readonly enabled: boolean;
  /**
   * Whether a Node may be deleted while other parts of the cloud than its instance's are lost. The hold-off is then at
   * least ten minutes, and the provider must prove that the instance stayed in its own part after the loss.
   */
  readonly whileOtherPartsAreLost: boolean;
}

/** The settings without a configuration. */
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
  /** `metadata.uid`: a new Node with the same name has another one. */
  readonly uid: string;
  /** Whether its condition Ready is `True`; false without that condition. */
  readonly isReady: boolean;
  readonly sighting: Sighting;
  /** Whether it counts against the fleet limit although its instance is shown. @default {it does not} */
  readonly outOfService?: OutOfService;
}

/** One look at all our Nodes. */
export interface FleetLook {
  /** Every one of our Nodes, once. */
  readonly fleet: Iterable<FleetMember>;
  /**
   * When the inventory was requested, in monotonic milliseconds. Absent without a good inventory: then no sighting
   * counts, every streak ends, and what was missing counts as missing until more is known.
   */
  readonly observedAtMs?: number | undefined;
  /** When the look is taken, in monotonic milliseconds. */
  readonly nowMs: number;
}

/** A Node whose instance was missing at the last look. */
interface MissingNode {
  readonly isReady: boolean;
  /** Absent while the Node is Ready, and after a streak ended until a newer inventory lacks the instance again. */
  readonly streak: Streak | undefined;
}

/**
 * Everything that the guard remembers; immutable. Grows with the missing Nodes, and with the deletions and the changes
 * of the fleet's size within the window; with the other Nodes only for ten minutes after the start.
 */
export interface GuardState extends FleetRecord {
  /** When the newest inventory that was looked at was requested; `-Infinity` before the first. */
  readonly observedAtMs: number;
  /** By UID, as the last look found them. */
  readonly missing: ReadonlyMap<string, MissingNode>;
  readonly sightings: FirstSightings;
  readonly outOfService: ReadonlyMap<string, number>;
  readonly pending: ReadonlySet<string>;
}

/** Nothing seen yet. */
export const EMPTY_GUARD: GuardState = {
  observedAtMs: -Infinity,
  missing: new Map(),
  sightings: NO_SIGHTINGS,
  sizes: [],
  deletions: new Map(),
  outOfService: new Map(),
  pending: new Set(),
};

/**
 * Records one look at the whole fleet. May be called at any rate.
 *
 * An inventory counts once, at the first look at it: a Node that is not Ready and missing then has one more
 * observation. Later looks at the same inventory, or at an older one, can only end streaks. A Node that is Ready,
 * present, unknown or not in the fleet at any look starts again with the next newer inventory.
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
    outOfService: noteOutOfService(state.outOfService, fleet, nowMs, settings),
    pending: listPending(state.pending, fleet),
  };
  const isSame =
    next.observedAtMs === state.observedAtMs &&
    next.missing === state.missing &&
    next.sightings === state.sightings &&
    next.sizes === state.sizes &&
    next.deletions === state.deletions &&
    next.outOfService === state.outOfService &&
    next.pending === state.pending;
  return isSame ? state : next;
}

/**
 * Ends every streak; each starts again with the next newer inventory. For a failed refresh, or lost leadership.
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
 * Ends the streak of one Node; it starts again with the next newer inventory. For a Node that changed, or whose absence
 * the cloud, asked directly, did not confirm.
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
 * Makes the streak of one Node last longer, because another part of the cloud is lost. Its observations still count.
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
 * Counts a deletion until the window is over.
 *
 * Called before the request is sent: the watch may report its success before the reply arrives, and between the two the
 * Node would count neither as missing nor as deleted. A failed deletion still counts. A Node that is then still missing
 * does not count twice, and it keeps its streak, so that the deletion can be tried again.
 */
export function noteDeletion(state: GuardState, uid: string, nowMs: number): GuardState {
  return { ...state, deletions: new Map(state.deletions).set(uid, nowMs) };
}

/** Records the Nodes whose instances were present between two looks, so that they can count as missing later. */
export function noteSeen(state: GuardState, uids: Iterable<string>): GuardState {
  const sightings = noteShown(state.sightings, uids, state.observedAtMs);
  return sightings === state.sightings ? state : { ...state, sightings };
}

/** What may happen to a Node now. A `message` is for operators: no full stop, no name. */
export type Verdict =
  /** Its instance is not missing. */
  | { readonly kind: "keep" }
  /** Nothing to do: Ready, not missing often (`confirmations`) or long (`holdOff`) enough, or waiting (`held`). */
  | (Omit<Waiting, "reason"> & { readonly reason: Waiting["reason"] | "ready" | "held" })
  /** Missing often and long enough, but an operator must decide; `neverSeen` ends by itself. */
  | {
      readonly kind: "blocked";
      readonly reason: "disabled" | "neverSeen" | "fleetLimit";
      readonly message: string;
    }
  /** Ask the cloud directly, judge again, then delete. No other verdict allows a deletion. */
  | { readonly kind: "confirm" };

/**
 * Judges one Node by what was seen so far. Every missing Node counts against the limit before any is deleted, so the
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

/** The entry of a missing Node after a look; `before` itself when nothing changed. */
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
