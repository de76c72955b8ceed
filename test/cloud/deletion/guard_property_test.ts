/**
 * What no sequence of events may bring the deletion guard to do, against rules told anew in the plainest way.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Sighting } from "../../../lib/cloud/deletion/first_sightings.ts";
import {
  breakStreak,
  breakStreaks,
  type DeletionSettings,
  EMPTY_GUARD,
  type FleetMember,
  type GuardState,
  judge,
  noteDeletion,
  observeFleet,
} from "../../../lib/cloud/deletion/guard.ts";
import { OLD_GUARD } from "../../support/nodes/nodes.ts";
import { longTest } from "../../support/long_tests.ts";

/** One Node in one look; absent: not in the fleet. */
type Seen = { readonly isReady: boolean; readonly sighting: Sighting } | undefined;

type Event =
  | {
      readonly kind: "look";
      readonly afterMs: number;
      /** How old the inventory is; absent: there is none. */
      readonly ageMs: number | undefined;
      readonly nodes: readonly Seen[];
      /** Order in which Nodes are judged, and which DELETEs fail. */
      readonly order: readonly number[];
    }
  | { readonly kind: "refreshFailed" }
  | { readonly kind: "disagreed"; readonly node: number };

const NODES = 8;
const INDEXES = Array.from({ length: NODES }, (_, at) => at);
const RUNS = { numRuns: 300 };

/** Mostly trouble, so that streaks get long enough to matter. */
const seen: fc.Arbitrary<Seen> = fc.oneof(
  { weight: 14, arbitrary: fc.constant<Seen>({ isReady: false, sighting: "missing" }) },
  { weight: 1, arbitrary: fc.constant<Seen>({ isReady: true, sighting: "missing" }) },
  { weight: 4, arbitrary: fc.constant<Seen>({ isReady: true, sighting: "present" }) },
  { weight: 1, arbitrary: fc.constant<Seen>({ isReady: false, sighting: "unknown" }) },
  { weight: 1, arbitrary: fc.constant<Seen>(undefined) },
);

/** Most Nodes stay as they are from look to look; this is who changes, and into what. */
const changes = fc.array(fc.tuple(fc.nat(NODES - 1), seen), { maxLength: 3 });

const order = fc.shuffledSubarray(INDEXES, { minLength: 0, maxLength: NODES });

const look = fc.record({
  kind: fc.constant("look" as const),
  afterMs: fc.constantFrom(0, 1, 2, 5, 10),
  ageMs: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<number | undefined>(0, 0, 1, 3, 12) },
    { weight: 1, arbitrary: fc.constant<number | undefined>(undefined) },
  ),
  changes,
  order,
});

const events: fc.Arbitrary<readonly Event[]> = fc
  .tuple(
    fc.array(seen, { minLength: NODES, maxLength: NODES }),
    fc.array(
      fc.oneof(
        { weight: 20, arbitrary: look },
        { weight: 1, arbitrary: fc.constant({ kind: "refreshFailed" as const }) },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constant("disagreed" as const),
            node: fc.nat(NODES - 1),
          }),
        },
      ),
      { minLength: 1, maxLength: 40, size: "max" },
    ),
  )
  .map(([first, steps]) => {
    let nodes = first;
    return steps.map((step): Event => {
      if (step.kind !== "look") return step;
      nodes = [...nodes];
      for (const [at, next] of step.changes) nodes[at] = next;
      return { ...step, nodes };
    });
  });

const settings: fc.Arbitrary<DeletionSettings> = fc.record({
  enabled: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
  confirmations: fc.integer({ min: 1, max: 4 }),
  holdOffMs: fc.constantFrom(0, 1, 5, 12, 20),
  fleetShare: fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
  fleetWindowMs: fc.constantFrom(1, 10, 30, 100),
  whileOtherPartsAreLost: fc.boolean(),
  includesUninitialized: fc.boolean(),
});

function toUid(node: number): string {
  return `n${node}`;
}

function toFleet(nodes: readonly Seen[]): FleetMember[] {
  return nodes.flatMap((node, at) => (node ? [{ uid: toUid(at), ...node }] : []));
}

/** What happened, told so that any rule can be checked by reading it from the start. */
interface Entry {
  readonly event: Event;
  readonly nowMs: number;
  readonly observedAtMs: number | undefined;
}

function toHistory(list: readonly Event[]): Entry[] {
  let nowMs = 1_000;
  return list.map((event) => {
    if (event.kind !== "look") return { event, nowMs, observedAtMs: undefined };
    nowMs += event.afterMs;
    const observedAtMs = event.ageMs === undefined ? undefined : nowMs - event.ageMs;
    return { event, nowMs, observedAtMs };
  });
}

/** Between which two moments an inventory was observed: its question, and the look at its answer. */
interface Observation {
  readonly fromMs: number;
  readonly toMs: number;
}

/** When a Node was seen missing and not Ready, in new inventories in a row, up to the end of a history. */
function listObservations(history: readonly Entry[], node: number): Observation[] {
  let row: Observation[] = [];
  let newestMs = -Infinity;
  for (const { event, observedAtMs, nowMs } of history) {
    if (event.kind === "look") {
      const one = event.nodes[node];
      const isMissing = one?.sighting === "missing" && !one.isReady && observedAtMs !== undefined;
      if (!isMissing) row = [];
      else if (observedAtMs > newestMs) row.push({ fromMs: observedAtMs, toMs: nowMs });
      newestMs = Math.max(newestMs, observedAtMs ?? -Infinity);
    } else if (event.kind === "refreshFailed" || event.node === node) {
      row = [];
    }
  }
  return row;
}

/** How many Nodes may be affected now: from the size at the last look at or before the window's start. */
function toLimit(history: readonly Entry[], nowMs: number, wanted: DeletionSettings): number {
  const sizes = history.flatMap((entry) =>
    entry.event.kind === "look"
      ? [{ atMs: entry.nowMs, size: toFleet(entry.event.nodes).length }]
      : [],
  );
  const old = sizes.findLast(({ atMs }) => atMs <= nowMs - wanted.fleetWindowMs) ?? sizes[0];
  return Math.max(1, Math.floor(wanted.fleetShare * (old?.size ?? 0)));
}

/** UIDs that were missing at the last look with an inventory, and were in the fleet ever since. */
function listMissing(history: readonly Entry[]): string[] {
  let missing: string[] = [];
  for (const { event, observedAtMs } of history) {
    if (event.kind !== "look") continue;
    const isKnown = observedAtMs !== undefined;
    const before = missing;
    missing = toFleet(event.nodes)
      .filter(({ uid, sighting }) => (isKnown ? sighting === "missing" : before.includes(uid)))
      .map(({ uid }) => uid);
  }
  return missing;
}

function applyEntry(state: GuardState, entry: Entry, wanted: DeletionSettings): GuardState {
  const { event, nowMs, observedAtMs } = entry;
  if (event.kind === "refreshFailed") return breakStreaks(state);
  if (event.kind === "disagreed") return breakStreak(state, toUid(event.node));
  return observeFleet(state, { fleet: toFleet(event.nodes), observedAtMs, nowMs }, wanted);
}

/** Whether an inventory showed the instance of a Node, up to the end of a history. */
function wasSeen(history: readonly Entry[], node: number): boolean {
  return history.some(
    ({ event, observedAtMs }) =>
      observedAtMs !== undefined &&
      event.kind === "look" &&
      event.nodes[node]?.sighting === "present",
  );
}

/** Counts how often something happened, so that a property that checks nothing is found out. */
class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  get(what: string): number {
    return this.#counts.get(what) ?? 0;
  }
}

longTest(
  "judge() asks for confirmation exactly after enough observations in a row, within the limit",
  () => {
    const tally = new Tally();
    fc.assert(
      fc.property(events, settings, fc.boolean(), (list, wanted, isYoung) => {
        const history = toHistory(list);
        // No history is nearly as long as what was never seen has to wait.
        let state = isYoung ? EMPTY_GUARD : OLD_GUARD;
        history.forEach((entry, at) => {
          state = applyEntry(state, entry, wanted);
          const past = history.slice(0, at + 1);
          const missing = listMissing(past);
          for (const node of INDEXES) {
            const row = listObservations(past, node);
            const spanMs = Math.max(0, (row.at(-1)?.fromMs ?? 0) - (row[0]?.toMs ?? 0));
            const isProven = row.length >= wanted.confirmations && spanMs >= wanted.holdOffMs;
            const isWithin = missing.length <= toLimit(past, entry.nowMs, wanted);
            const isFree = wanted.enabled && isWithin && (!isYoung || wasSeen(past, node));
            const whole = isProven ? (isFree ? "confirm" : "blocked") : "waiting";
            const kind = missing.includes(toUid(node)) ? whole : "keep";
            expect(judge(state, toUid(node), entry.nowMs, wanted).kind).toBe(kind);
            tally.add(kind);
          }
        });
      }),
      RUNS,
    );
    for (const kind of ["keep", "waiting", "blocked", "confirm"]) {
      expect([kind, tally.get(kind) > 500]).toEqual([kind, true]);
    }
  },
);

/** A cluster in which whatever the guard allows is deleted, in the order that each look brings. */
function runCluster(
  list: readonly Event[],
  wanted: DeletionSettings,
  check: (past: readonly Entry[], deletions: readonly Deletion[], state: GuardState) => void,
): void {
  const history: Entry[] = [];
  const deletions: Deletion[] = [];
  const gone = new Set<string>();
  let state = OLD_GUARD;
  for (const planned of toHistory(list)) {
    // Odd Nodes hang in deletion for a while, as finalizers make them; the others leave at once and come no more.
    const entry = withoutNodes(planned, gone);
    history.push(entry);
    state = applyEntry(state, entry, wanted);
    if (entry.event.kind !== "look") continue;
    for (const node of entry.event.order) {
      const uid = toUid(node);
      if (judge(state, uid, entry.nowMs, wanted).kind !== "confirm") continue;
      state = noteDeletion(state, uid, entry.nowMs);
      deletions.push({ uid, atMs: entry.nowMs });
      if (node % 2 === 0) gone.add(uid);
      check(history, deletions, state);
    }
    check(history, deletions, state);
  }
}

interface Deletion {
  readonly uid: string;
  readonly atMs: number;
}

function withoutNodes(entry: Entry, gone: ReadonlySet<string>): Entry {
  if (entry.event.kind !== "look") return entry;
  const nodes = entry.event.nodes.map((node, at) => (gone.has(toUid(at)) ? undefined : node));
  return { ...entry, event: { ...entry.event, nodes } };
}

test("judge() never lets more Nodes go within a window than the limit, in whatever order they are deleted", () => {
  const tally = new Tally();
  fc.assert(
    fc.property(events, settings, (list, wanted) => {
      let known = 0;
      runCluster(list, wanted, (past, deletions) => {
        const last = deletions.at(-1);
        if (last === undefined || deletions.length === known) return;
        known = deletions.length;
        const startMs = last.atMs - wanted.fleetWindowMs;
        const within = deletions.filter(({ atMs }) => atMs >= startMs).map(({ uid }) => uid);
        const affected = new Set([...within, ...listMissing(past)]);
        const limit = toLimit(past, last.atMs, wanted);
        expect(affected.size).toBeLessThanOrEqual(limit);
        tally.add(affected.size === limit ? "at the limit" : "below the limit");
      });
    }),
    RUNS,
  );
  expect(tally.get("at the limit")).toBeGreaterThan(100);
  expect(tally.get("below the limit")).toBeGreaterThan(100);
});

test("judge() gives the same verdicts in whatever order Nodes are deleted", () => {
  const tally = new Tally();
  fc.assert(
    fc.property(events, settings, order, (list, wanted, shuffled) => {
      let state = OLD_GUARD;
      let nowMs = 0;
      for (const entry of toHistory(list)) {
        state = applyEntry(state, entry, wanted);
        nowMs = entry.nowMs;
      }
      const listDeleted = (nodes: readonly number[]): string[] => {
        let next = state;
        return nodes.map(toUid).filter((uid) => {
          const isAllowed = judge(next, uid, nowMs, wanted).kind === "confirm";
          if (isAllowed) next = noteDeletion(next, uid, nowMs);
          return isAllowed;
        });
      };
      const rest = INDEXES.filter((node) => !shuffled.includes(node));
      const deleted = listDeleted([...shuffled, ...rest]).sort();
      expect(deleted).toEqual(listDeleted(INDEXES));
      if (deleted.length > 1) tally.add("several");
    }),
    RUNS,
  );
  expect(tally.get("several")).toBeGreaterThan(20);
});

longTest(
  "observeFleet() keeps no more than the missing Nodes and what happened within the window",
  () => {
    const tally = new Tally();
    fc.assert(
      fc.property(events, settings, (list, wanted) => {
        runCluster(list, wanted, (past, deletions, state) => {
          const now = past.at(-1);
          if (now?.event.kind !== "look") return;
          const startMs = now.nowMs - wanted.fleetWindowMs;
          const looks = past.filter((e) => e.event.kind === "look" && e.nowMs > startMs);
          const lately = new Set(deletions.filter((d) => d.atMs >= startMs).map(({ uid }) => uid));
          expect([...state.missing.keys()].sort()).toEqual(listMissing(past).sort());
          expect(state.sizes.length).toBeLessThanOrEqual(looks.length + 1);
          expect(new Set(state.deletions.keys())).toEqual(lately);
          if (lately.size < deletions.length && state.sizes.length > 1) tally.add("dropped");
        });
      }),
      RUNS,
    );
    expect(tally.get("dropped")).toBeGreaterThan(100);
  },
);

test("observeFleet() returns the same state for the same look again", () => {
  fc.assert(
    fc.property(events, settings, (list, wanted) => {
      let state = OLD_GUARD;
      for (const entry of toHistory(list)) {
        state = applyEntry(state, entry, wanted);
        if (entry.event.kind === "look") expect(applyEntry(state, entry, wanted)).toEqual(state);
      }
    }),
    RUNS,
  );
});
