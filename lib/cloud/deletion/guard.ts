/**
 * Decides whether Landfall may delete a Node: only after the cloud has shown its instance as missing often and long
 * enough, and only while few Nodes are missing.
 *
 * Pure, and the same for every cloud. The caller keeps one {@linkcode GuardState}, reports what it sees, and asks for a
 * verdict. Landfall deletes a Node only if all of these are true:
 *
 * 1. It was not Ready and its instance was missing in enough complete inventories in a row, over a long enough time.
 * 2. This process has seen its instance, or ten minutes have passed since the start: see first_sightings.ts.
 * 3. Few enough Nodes are missing or were deleted recently. Otherwise Landfall deletes none until fewer are, or an
 *    operator decides.
 * 4. The cloud confirms it when asked directly. The caller asks after the verdict `confirm`.
 * @module
 */
import {
  explainNeverSeen,
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

/** The section `deletion` of the settings file. */
export interface DeletionSettings extends FleetLimitSettings, StreakSettings {
  /** Whether Landfall deletes Nodes. If not, it only reports what it would delete. */
  readonly enabled: boolean;
  /**
   * Whether Landfall may delete a Node while parts of the cloud other than its instance's are lost. The hold-off is
   * then at least ten minutes, and the provider must prove that the instance stayed in its own part after the loss.
   */
  readonly whileOtherPartsAreLost: boolean;
  /** Whether Nodes that are not initialised may be deleted, too. */
  readonly includesUninitialized: boolean;
}

/** The defaults. */
export const DEFAULT_DELETION: DeletionSettings = {
  enabled: true,
  confirmations: 3,
  holdOffMs: 60_000,
  fleetShare: 0.34,
  fleetWindowMs: 600_000,
  whileOtherPartsAreLost: false,
  includesUninitialized: false,
};

/** One of our Nodes: initialised, with a valid provider ID of this cloud. */
export interface FleetMember {
  /** `metadata.uid`: a new Node with the same name has another one. */
  readonly uid: string;
  /** Whether its condition Ready is `True`; false without that condition. */
  readonly isReady: boolean;
  readonly sighting: Sighting;
  /** Whether it counts against the fleet limit although the cloud shows its instance. @default {it does not} */
  readonly outOfService?: OutOfService;
}

/** One look at all our Nodes. */
interface FleetLook {
  /** Every one of our Nodes, once. */
  readonly fleet: Iterable<FleetMember>;
  /**
   * Time of the request for the inventory, in monotonic milliseconds. Absent without a good inventory: then no sighting
   * counts, every streak ends, and missing Nodes stay missing until an inventory says otherwise.
   */
  readonly observedAtMs?: number | undefined;
  /** Time of the look, in monotonic milliseconds. */
  readonly nowMs: number;
}

/** A Node whose instance was missing at the last look. */
interface MissingNode {
  readonly isReady: boolean;
  /** Absent while the Node is Ready, and from the end of a streak until a newer inventory lacks the instance. */
  readonly streak: Streak | undefined;
}

/**
 * Everything that the guard remembers; immutable. Its size depends on the missing Nodes, and on the deletions and
 * changes of the fleet's size within the window. For ten minutes after the start it also depends on the other Nodes.
 */
export interface GuardState extends FleetRecord {
  /** Time of the request for the newest inventory so far; `-Infinity` before the first. */
  readonly observedAtMs: number;
  /** Missing Nodes by UID, as of the last look. */
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
 * An inventory counts once, at the first look at it. A Node that is not Ready and missing then gets one more
 * observation. Later looks at the same inventory, or at an older one, can only end streaks. If a Node is Ready,
 * present, unknown or not in the fleet at any look, its count starts again with the next newer inventory.
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
      if (before) missing.set(uid, toMissingNode(isReady, undefined));
    } else if (sighting === "missing") {
      const streak = isNew ? extendStreak(before?.streak, nowMs, observedAtMs) : before?.streak;
      missing.set(uid, toMissingNode(isReady, streak));
    }
  }
  const startMs = nowMs - settings.fleetWindowMs;
  return {
    observedAtMs: isNew ? observedAtMs : state.observedAtMs,
    missing,
    sightings:
      observedAtMs === undefined
        ? state.sightings
        : noteSightings(state.sightings, fleet, observedAtMs),
    sizes: sampleSize(state.sizes, { atMs: nowMs, size: fleet.length }, startMs),
    deletions: dropDeletions(state.deletions, startMs),
    outOfService: noteOutOfService(state.outOfService, fleet, nowMs, settings),
    pending: listPending(fleet),
  };
}

/** Ends every streak; each starts again with the next newer inventory. For a failed refresh or a lost Lease. */
export function breakStreaks(state: GuardState): GuardState {
  const missing = new Map<string, MissingNode>();
  for (const [uid, { isReady }] of state.missing) missing.set(uid, { isReady, streak: undefined });
  return { ...state, missing };
}

/**
 * Ends the streak of one Node; it starts again with the next newer inventory. Call it if the Node changed, or if the
 * cloud did not confirm the absence.
 */
export function breakStreak(state: GuardState, uid: string): GuardState {
  const node = state.missing.get(uid);
  if (node?.streak === undefined) return state;
  const missing = new Map(state.missing).set(uid, { ...node, streak: undefined });
  return { ...state, missing };
}

/** Requires a longer streak of one Node, because another part of the cloud is lost. Its observations still count. */
export function prolongStreak(state: GuardState, uid: string): GuardState {
  const node = state.missing.get(uid);
  if (node?.streak === undefined) return state;
  const streak = { ...node.streak, isPartLost: true };
  return { ...state, missing: new Map(state.missing).set(uid, { ...node, streak }) };
}

/** Whether a Node was missing long enough for a deletion while another part of the cloud is lost. */
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
 * Call it before sending the request. The watch may report the deletion before the reply arrives, and in between the
 * Node would count neither as missing nor as deleted. A failed deletion still counts. A Node that is still missing
 * after it does not count twice. It keeps its streak, so that Landfall can try the deletion again.
 */
export function noteDeletion(state: GuardState, uid: string, nowMs: number): GuardState {
  return { ...state, deletions: new Map(state.deletions).set(uid, nowMs) };
}

/** Records Nodes whose instances were present between two looks, so that they can count as missing later. */
export function noteSeen(state: GuardState, uids: ReadonlySet<string>): GuardState {
  return { ...state, sightings: noteShown(state.sightings, uids, state.observedAtMs) };
}

/** What Landfall may do with a Node now. A `message` is for operators: no full stop, no name. */
export type Verdict =
  /** Its instance is not missing. */
  | { readonly kind: "keep" }
  /**
   * No deletion yet: Ready, not missing often (`confirmations`) or long (`holdOff`) enough, or it must wait (`held`).
   */
  | (Omit<Waiting, "reason"> & { readonly reason: Waiting["reason"] | "ready" | "held" })
  /** Missing often and long enough, but settings or fleet limit prevent a deletion. `neverSeen` ends by itself. */
  | {
      readonly kind: "blocked";
      readonly reason: "disabled" | "neverSeen" | "fleetLimit";
      readonly message: string;
    }
  /** Ask the cloud directly, judge again, then delete. No other verdict allows a deletion. */
  | { readonly kind: "confirm" };

/**
 * Judges one Node by the looks so far. Every missing Node counts against the limit before Landfall deletes any, so the
 * order of judgements and deletions does not matter.
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
  const neverSeen = explainNeverSeen(state.sightings, uid, state.observedAtMs);
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

function toMissingNode(isReady: boolean, streak: Streak | undefined): MissingNode {
  return { isReady, streak: isReady ? undefined : streak };
}
