import { describe, expect, test } from "bun:test";
import type { Sighting } from "../../../lib/cloud/deletion/first_sightings.ts";
import { readFleet } from "../../../lib/cloud/deletion/fleet_limit.ts";
import {
  breakStreak,
  breakStreaks,
  DEFAULT_DELETION,
  type DeletionSettings,
  EMPTY_GUARD,
  type FleetMember,
  type GuardState,
  judge,
  mayPartsBeLost,
  noteDeletion,
  noteSeen,
  observeFleet,
  prolongStreak,
  type Verdict,
} from "../../../lib/cloud/deletion/guard.ts";
import { OLD_GUARD } from "../../support/nodes/nodes.ts";

/** What becomes of Node `x` in one look: seconds, how it is, and what else happens. */
interface Step {
  /** When the look is taken. */
  readonly at: number;
  /** When its inventory was asked for. @default {at} `null`: there is none */
  readonly observed?: number | null;
  /** @default {"missing"} `null`: the Node is not in the fleet */
  readonly sighting?: Sighting | null;
  /** @default {false} */
  readonly isReady?: boolean;
  /** Whether there is no other Node. @default {false} */
  readonly isAlone?: boolean;
  /** What happens after the look. */
  readonly after?: (state: GuardState) => GuardState;
}

const X = "x";

/** Nodes that are well, so that one missing Node never reaches the fleet limit. */
function toHealthy(count: number): FleetMember[] {
  return Array.from({ length: count }, (_, at) => ({
    uid: `well${at}`,
    isReady: true,
    sighting: "present",
  }));
}

function runSteps(
  steps: readonly Step[],
  settings: DeletionSettings,
  from: GuardState = OLD_GUARD,
): GuardState {
  let state = from;
  for (const step of steps) {
    const { at, observed = at, sighting = "missing", isReady = false, isAlone, after } = step;
    const fleet = isAlone ? [] : toHealthy(11);
    if (sighting) fleet.push({ uid: X, isReady, sighting });
    const observedAtMs = observed === null ? undefined : observed * 1_000;
    state = observeFleet(state, { fleet, observedAtMs, nowMs: at * 1_000 }, settings);
    if (after) state = after(state);
  }
  return state;
}

function judgeAfter(steps: readonly Step[], settings = DEFAULT_DELETION): Verdict {
  return judge(runSteps(steps, settings), X, (steps.at(-1)?.at ?? 0) * 1_000, settings);
}

/** Looks at a fleet of which `missing` lack their instances, `rounds` times, 30 s apart. */
function loseNodes(
  size: number,
  missing: readonly string[],
  { state = OLD_GUARD, fromMs = 0, rounds = 3, settings = DEFAULT_DELETION } = {},
): { state: GuardState; nowMs: number } {
  const fleet: FleetMember[] = toHealthy(size - missing.length);
  for (const uid of missing) fleet.push({ uid, isReady: false, sighting: "missing" });
  let next = state;
  let nowMs = fromMs;
  for (let round = 0; round < rounds; round += 1) {
    nowMs = fromMs + round * 30_000;
    next = observeFleet(next, { fleet, observedAtMs: nowMs, nowMs }, settings);
  }
  return { state: next, nowMs };
}

const confirm: Verdict = { kind: "confirm" };

describe("judge() asks for confirmation", () => {
  const cases: readonly (readonly [what: string, steps: readonly Step[]])[] = [
    ["three observations over the hold-off", [{ at: 0 }, { at: 30 }, { at: 60 }]],
    ["more observations than needed", [0, 10, 20, 30, 40, 50, 60].map((at) => ({ at }))],
    ["a hold-off that ends with a late observation", [{ at: 0 }, { at: 1 }, { at: 500 }]],
    [
      "looks at old inventories in between",
      [{ at: 0 }, { at: 5, observed: 0 }, { at: 30 }, { at: 35, observed: 30 }, { at: 60 }],
    ],
    ["an older inventory in between", [{ at: 0 }, { at: 30 }, { at: 35, observed: 7 }, { at: 60 }]],
    [
      "a streak anew after one that broke",
      [{ at: 0 }, { at: 30 }, { at: 31, isReady: true }, { at: 40 }, { at: 70 }, { at: 100 }],
    ],
    [
      "a later look at the same inventory",
      [{ at: 0 }, { at: 30 }, { at: 60 }, { at: 65, observed: 60 }],
    ],
  ];
  test.each(cases)("after %s", (_what, steps) => {
    expect(judgeAfter(steps)).toEqual(confirm);
  });

  test("after one observation, when one is enough and no time must pass", () => {
    const settings = { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0 };
    expect(judgeAfter([{ at: 0 }], settings)).toEqual(confirm);
  });
});

describe("judge() waits for a streak that is long enough", () => {
  type Wanted = readonly [reason: string, observations: number, sinceMs: number | undefined];
  const UNSEEN: Wanted = ["confirmations", 0, undefined];
  const seen = [{ at: 0 }, { at: 30 }];
  const cases: readonly (readonly [what: string, steps: readonly Step[], wanted: Wanted])[] = [
    ["one observation", [{ at: 7 }], ["confirmations", 1, 7_000]],
    ["two over the hold-off", [{ at: 0 }, { at: 60 }], ["confirmations", 2, 0]],
    ["three that span too little", [...seen, { at: 59.999 }], ["holdOff", 3, 0]],
    [
      "three of which the first came late, right before the others",
      [{ at: 70, observed: 0 }, { at: 71 }, { at: 72 }],
      ["holdOff", 3, 70_000],
    ],
    ["many that span too little", [...seen, { at: 40 }, { at: 50 }], ["holdOff", 4, 0]],
    [
      "time that passed since the last observation",
      [...seen, { at: 59 }, { at: 600, observed: 59 }],
      ["holdOff", 3, 0],
    ],
    [
      "the same inventory again and again",
      [{ at: 0 }, { at: 30, observed: 0 }, { at: 60, observed: 0 }, { at: 90, observed: 0 }],
      ["confirmations", 1, 0],
    ],
    [
      "an older inventory",
      [...seen, { at: 60, observed: 29 }, { at: 90, observed: 15 }],
      ["confirmations", 2, 0],
    ],
    ["a Ready Node", [...seen, { at: 60, isReady: true }], ["ready", 0, undefined]],
    [
      "a Node that was Ready at one inventory",
      [...seen, { at: 60, isReady: true }, { at: 90 }],
      ["confirmations", 1, 90_000],
    ],
    [
      "a Node that was Ready between two inventories",
      [...seen, { at: 35, observed: 30, isReady: true }, { at: 60 }],
      ["confirmations", 1, 60_000],
    ],
    [
      "a Node that stopped being Ready after the inventory was first looked at",
      [
        { at: 0, isReady: true },
        { at: 5, observed: 0 },
      ],
      UNSEEN,
    ],
    [
      "a Node that was present",
      [...seen, { at: 45, sighting: "present" }, { at: 60 }],
      ["confirmations", 1, 60_000],
    ],
    [
      "a Node of which nothing was known",
      [...seen, { at: 45, sighting: "unknown" }, { at: 60 }],
      ["confirmations", 1, 60_000],
    ],
    [
      "a Node of which nothing was known at an inventory that counts already",
      [...seen, { at: 31, observed: 30, sighting: "unknown" }, { at: 60 }],
      ["confirmations", 1, 60_000],
    ],
    [
      "a Node that was not in the fleet",
      [...seen, { at: 45, sighting: null }, { at: 60 }],
      ["confirmations", 1, 60_000],
    ],
    [
      "a look without an inventory",
      [...seen, { at: 45, observed: null }, { at: 60 }],
      ["confirmations", 1, 60_000],
    ],
    ["a look without an inventory only", [...seen, { at: 60, observed: null }], UNSEEN],
    [
      "looks without an inventory, and the last good one again",
      [...seen, { at: 60 }, { at: 65, observed: null }, { at: 66, observed: 60 }],
      UNSEEN,
    ],
    [
      "a refresh that failed",
      [{ at: 0 }, { at: 30, after: breakStreaks }, { at: 60 }],
      ["confirmations", 1, 60_000],
    ],
    [
      "a refresh that failed, and the last good inventory looked at again",
      [...seen, { at: 60, after: breakStreaks }, { at: 65, observed: 60 }],
      UNSEEN,
    ],
    [
      "a direct answer that did not agree",
      [...seen, { at: 60, after: (state) => breakStreak(state, X) }],
      UNSEEN,
    ],
    [
      "a direct answer that did not agree, and the same inventory again",
      [...seen, { at: 60, after: (state) => breakStreak(state, X) }, { at: 65, observed: 60 }],
      UNSEEN,
    ],
  ];
  test.each(cases)("after %s", (_what, steps, [reason, observations, sinceMs]) => {
    const verdict = judgeAfter(steps);
    expect(verdict).toMatchObject({ kind: "waiting", reason, observations });
    expect(verdict.kind === "waiting" ? verdict.sinceMs : "none").toBe(sinceMs);
  });

  const messages: readonly (readonly [steps: readonly Step[], message: string])[] = [
    [[{ at: 0, isReady: true }], "Its instance is missing, but the Node is Ready"],
    [[{ at: 0 }], "Its instance was missing in 1 of 3 inventories in a row"],
    [[...seen, { at: 40 }], "Its instance has been missing for 40s of 1m0s"],
    [[...seen, { at: 59.9987 }], "Its instance has been missing for 59s of 1m0s"],
  ];
  test.each(messages)("and says so (message %#)", (steps, message) => {
    expect(judgeAfter(steps)).toMatchObject({ message });
  });

  const nonsense: readonly (readonly [what: string, settings: Partial<DeletionSettings>])[] = [
    ["no number of confirmations", { confirmations: Number.NaN }],
    ["no number for the hold-off", { holdOffMs: Number.NaN }],
  ];
  test.each(nonsense)("for ever with %s", (_what, settings) => {
    const verdict = judgeAfter([...seen, { at: 60 }], { ...DEFAULT_DELETION, ...settings });
    expect(verdict.kind).toBe("waiting");
  });

  test("for one observation even when none is asked for", () => {
    const settings = { ...DEFAULT_DELETION, confirmations: 0, holdOffMs: 0 };
    const steps: readonly Step[] = [
      { at: 0, isReady: true },
      { at: 5, observed: 0 },
    ];
    expect(judgeAfter(steps, settings)).toMatchObject({ reason: "confirmations" });
  });
});

describe("judge() keeps", () => {
  const lost = [{ at: 0 }, { at: 30 }, { at: 60 }];
  const cases: readonly (readonly [what: string, steps: readonly Step[]])[] = [
    ["a Node that was never seen", []],
    ["a Node that is present again", [...lost, { at: 61, sighting: "present" }]],
    ["a Node of which nothing is known now", [...lost, { at: 61, sighting: "unknown" }]],
    ["a Node that left the fleet", [...lost, { at: 61, sighting: null }]],
    ["a Node that was never missing while there is no inventory", [{ at: 0, observed: null }]],
    ["a Node that is not Ready but present", lost.map(({ at }) => ({ at, sighting: "present" }))],
    ["a Node of which nothing is known", lost.map(({ at }) => ({ at, sighting: "unknown" }))],
  ];
  test.each(cases)("%s", (_what, steps) => {
    expect(judgeAfter(steps)).toEqual({ kind: "keep" });
  });

  test("a Node that came again under another UID", () => {
    const state = runSteps(lost, DEFAULT_DELETION);
    expect(judge(state, "x2", 60_000, DEFAULT_DELETION)).toEqual({ kind: "keep" });
  });
});

describe("judge() blocks", () => {
  const lost = [{ at: 0 }, { at: 30 }, { at: 60 }];
  const disabled = { ...DEFAULT_DELETION, enabled: false };

  test("when deletion is disabled, with what it takes to enable it", () => {
    const message = "Its instance is missing, but deletion.enabled is false";
    expect(judgeAfter(lost, disabled)).toEqual({ kind: "blocked", reason: "disabled", message });
  });

  test("nothing that still waits, disabled or not", () => {
    expect(judgeAfter([{ at: 0 }], disabled)).toMatchObject({ reason: "confirmations" });
    const { state, nowMs } = loseNodes(2, ["a", "b"], { rounds: 2 });
    expect(judge(state, "a", nowMs, DEFAULT_DELETION)).toMatchObject({ reason: "confirmations" });
  });

  test("when more are missing than the limit, with the figures", () => {
    const { state, nowMs } = loseNodes(10, ["a", "b", "c", "d", "e"]);
    expect(judge(state, "a", nowMs, DEFAULT_DELETION)).toEqual({
      kind: "blocked",
      reason: "fleetLimit",
      message:
        "5 Nodes are missing or deleted (5 missing now, 0 deleted within 10m0s), but the limit is " +
        "3 of the 10 before: Landfall deletes none until fewer are affected, or you raise deletion.fleetShare, " +
        "or you delete them by hand",
    });
  });

  const shares: readonly (readonly [missing: number, size: number, kind: Verdict["kind"]])[] = [
    [1, 1, "confirm"],
    [1, 2, "confirm"],
    [2, 2, "blocked"],
    [3, 10, "confirm"],
    [4, 10, "blocked"],
    [5, 10, "blocked"],
    [10, 10, "blocked"],
    [3, 12, "confirm"],
    [4, 12, "confirm"],
    [5, 12, "blocked"],
  ];
  test.each(shares)("by the fleet limit: %d missing of %d: %s", (missing, size, kind) => {
    const uids = Array.from({ length: missing }, (_, at) => `lost${at}`);
    const { state, nowMs } = loseNodes(size, uids);
    for (const uid of uids) {
      expect(judge(state, uid, nowMs, DEFAULT_DELETION).kind).toBe(kind);
    }
  });

  test("because of missing Nodes that are Ready", () => {
    let state = OLD_GUARD;
    const fleet: FleetMember[] = toHealthy(7);
    fleet.push({ uid: X, isReady: false, sighting: "missing" });
    for (const uid of ["a", "b", "c"]) fleet.push({ uid, isReady: true, sighting: "missing" });
    for (const nowMs of [0, 30_000, 60_000]) {
      state = observeFleet(state, { fleet, observedAtMs: nowMs, nowMs }, DEFAULT_DELETION);
    }
    expect(judge(state, X, 60_000, DEFAULT_DELETION)).toMatchObject({ reason: "fleetLimit" });
  });

  test("no longer when a person raises the share", () => {
    const { state, nowMs } = loseNodes(10, ["a", "b", "c", "d", "e"]);
    const raised = { ...DEFAULT_DELETION, fleetShare: 0.5 };
    expect(judge(state, "a", nowMs, raised)).toEqual(confirm);
  });

  test("no longer when a person deletes Nodes by hand", () => {
    const lostNodes = loseNodes(10, ["a", "b", "c", "d"]);
    const { state, nowMs } = loseNodes(9, ["b", "c", "d"], {
      state: lostNodes.state,
      fromMs: lostNodes.nowMs + 5_000,
      rounds: 1,
    });
    expect(judge(state, "b", nowMs, DEFAULT_DELETION)).toEqual(confirm);
  });
});

describe("judge(), since the process started,", () => {
  const lost = [{ at: 0 }, { at: 30 }, { at: 60 }];
  const judgeYoung = (steps: readonly Step[], settings = DEFAULT_DELETION): Verdict => {
    const state = runSteps(steps, settings, EMPTY_GUARD);
    return judge(state, X, (steps.at(-1)?.at ?? 0) * 1_000, settings);
  };
  const PROOF_ALONE = { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0, fleetShare: 1 };

  test.each<[string, DeletionSettings]>([
    ["default settings", DEFAULT_DELETION],
    ["nothing but the proof", PROOF_ALONE],
  ])("lets what was never seen wait ten minutes, and says why, with %s", (_title, settings) => {
    expect(judgeYoung([...lost, { at: 599.999 }], settings)).toEqual({
      kind: "blocked",
      reason: "neverSeen",
      message:
        "Its instance is missing, and Landfall has not seen it since its first inventory, 9m59s ago: it may have " +
        "moved before that, so it counts as missing only 10m0s after that inventory",
    });
    expect(judgeYoung([...lost, { at: 600 }], settings)).toEqual(confirm);
  });

  test("waits no longer for what was seen between two looks", () => {
    const seen = (state: GuardState): GuardState => noteSeen(state, new Set([X]));
    const steps = [{ at: 0, sighting: null, after: seen }, { at: 1 }, { at: 31 }, { at: 61 }];
    expect(judgeYoung(steps)).toEqual(confirm);
    const old = runSteps([{ at: 0 }], DEFAULT_DELETION);
    expect(noteSeen(old, new Set([X]))).toEqual(old);
  });

  test("waits no longer for what was seen", () => {
    expect(judgeYoung([{ at: 0, sighting: "present" }, ...lost])).toMatchObject({
      kind: "waiting",
    });
    const after = [{ at: 0, sighting: "present" as const }, { at: 1 }, { at: 31 }, { at: 61 }];
    expect(judgeYoung(after)).toEqual(confirm);
    expect(judgeYoung(after.slice(0, 2), PROOF_ALONE)).toEqual(confirm);
  });

  test("counts time by inventories that tell, not by looks", () => {
    // Nothing is known before 100 s.
    const blind = [0, 50].map((at) => ({ at, sighting: "unknown" as const, isAlone: true }));
    const steps: Step[] = [...blind, { at: 100 }, { at: 130 }, { at: 160 }];
    expect(judgeYoung([...steps, { at: 650 }])).toMatchObject({ reason: "neverSeen" });
    expect(judgeYoung([...steps, { at: 700 }])).toEqual(confirm);
    // Looks go on, inventories do not.
    expect(judgeYoung([...lost, { at: 900, observed: 60 }])).toMatchObject({ reason: "neverSeen" });
  });

  test("counts it as missing for the others all the while", () => {
    const fleet: FleetMember[] = toHealthy(2);
    for (const uid of ["a", "b"]) fleet.push({ uid, isReady: false, sighting: "missing" });
    const look = { fleet, observedAtMs: 0, nowMs: 0 };
    const state = observeFleet(EMPTY_GUARD, look, DEFAULT_DELETION);
    expect(readFleet(state, 0, DEFAULT_DELETION)).toMatchObject({ missing: 2, isExceeded: true });
  });

  test("says first what a person must decide, or the Node itself", () => {
    const disabled = { ...DEFAULT_DELETION, enabled: false };
    expect(judgeYoung(lost, disabled)).toMatchObject({ reason: "disabled" });
    expect(judgeYoung([{ at: 0 }])).toMatchObject({ kind: "waiting", reason: "confirmations" });
    expect(judgeYoung([...lost, { at: 61, isReady: true }])).toMatchObject({ reason: "ready" });
  });
});

describe("noteDeletion()", () => {
  test("does not stand in the way of the others that are missing", () => {
    const { state, nowMs } = loseNodes(12, ["a", "b", "c", "d"]);
    let next = state;
    for (const uid of ["c", "a", "d", "b"]) {
      expect(judge(next, uid, nowMs, DEFAULT_DELETION)).toEqual(confirm);
      next = noteDeletion(next, uid, nowMs);
    }
    expect(readFleet(next, nowMs, DEFAULT_DELETION)).toMatchObject({ deleted: 4, affected: 4 });
  });

  test("counts after the Node left, until the window is over", () => {
    const { state, nowMs } = loseNodes(12, ["a", "b", "c", "d"]);
    let next = state;
    for (const uid of ["a", "b", "c", "d"]) next = noteDeletion(next, uid, nowMs);
    const windowEndMs = nowMs + DEFAULT_DELETION.fleetWindowMs;
    const later = loseNodes(8, ["e"], { state: next, fromMs: nowMs + 5_000, rounds: 3 });
    expect(judge(later.state, "e", later.nowMs, DEFAULT_DELETION).kind).toBe("blocked");
    const last = loseNodes(8, ["e"], { state: later.state, fromMs: windowEndMs, rounds: 1 });
    expect(judge(last.state, "e", windowEndMs, DEFAULT_DELETION).kind).toBe("blocked");
    expect(judge(last.state, "e", windowEndMs + 1, DEFAULT_DELETION)).toEqual(confirm);
  });

  test("keeps the streak, so that a deletion that failed can be tried again", () => {
    const { state, nowMs } = loseNodes(12, ["a"]);
    const next = noteDeletion(state, "a", nowMs);
    expect(judge(next, "a", nowMs + 5_000, DEFAULT_DELETION)).toEqual(confirm);
  });
});

describe("breakStreaks() and breakStreak()", () => {
  test("keep counting the Nodes as missing", () => {
    const { state, nowMs } = loseNodes(12, ["a", "b"]);
    for (const next of [breakStreaks(state), breakStreak(state, "a")]) {
      expect(readFleet(next, nowMs, DEFAULT_DELETION).missing).toBe(2);
    }
  });

  test("break every streak, and only one", () => {
    const { state, nowMs } = loseNodes(12, ["a", "b"]);
    const judgeBoth = (next: GuardState): string[] =>
      ["a", "b"].map((uid) => judge(next, uid, nowMs, DEFAULT_DELETION).kind);
    expect(judgeBoth(breakStreaks(state))).toEqual(["waiting", "waiting"]);
    expect(judgeBoth(breakStreak(state, "a"))).toEqual(["waiting", "confirm"]);
  });
});

describe("observeFleet()", () => {
  test("compares a new cluster with its first Nodes, not with none", () => {
    const first = observeFleet(
      EMPTY_GUARD,
      { fleet: [], observedAtMs: 0, nowMs: 0 },
      DEFAULT_DELETION,
    );
    const look = { fleet: toHealthy(12), observedAtMs: 1_000, nowMs: 1_000 };
    const next = observeFleet(first, look, DEFAULT_DELETION);
    expect(readFleet(next, 2_000, DEFAULT_DELETION).sizeAtStart).toBe(12);
    // Nodes that were there before count for the whole window.
    const gone = observeFleet(next, { ...look, fleet: [], nowMs: 3_000 }, DEFAULT_DELETION);
    expect(readFleet(gone, 4_000, DEFAULT_DELETION).sizeAtStart).toBe(12);
    const { fleetWindowMs } = DEFAULT_DELETION;
    expect(readFleet(gone, 3_000 + fleetWindowMs, DEFAULT_DELETION).sizeAtStart).toBe(0);
  });

  const fleet: FleetMember[] = [
    ...toHealthy(10),
    { uid: "lost", isReady: false, sighting: "missing" },
    { uid: "odd", isReady: true, sighting: "missing" },
  ];

  test("counts an inventory once, whatever time it is", () => {
    const first = observeFleet(EMPTY_GUARD, { fleet, observedAtMs: 0, nowMs: 1 }, DEFAULT_DELETION);
    for (const nowMs of [1, 5_000, 10_000_000]) {
      const next = observeFleet(first, { fleet, observedAtMs: 0, nowMs }, DEFAULT_DELETION);
      expect(next).toEqual(first);
    }
  });

  test("changes no state that it was given", () => {
    const { state } = loseNodes(12, ["a"]);
    const before = structuredClone(state);
    loseNodes(12, ["b"], { state, fromMs: 10_000_000 });
    breakStreaks(state);
    noteDeletion(state, "a", 1);
    expect(state).toEqual(before);
    expect(EMPTY_GUARD.sightings.shown.size).toBe(0);
    expect(EMPTY_GUARD).toMatchObject({ observedAtMs: -Infinity, sizes: [] });
    expect(EMPTY_GUARD.missing.size + EMPTY_GUARD.deletions.size).toBe(0);
  });

  test("without an inventory counts as missing what was, as long as it is in the fleet", () => {
    const { state, nowMs } = loseNodes(10, ["a", "b", "c", "d", "e"]);
    const unknown = (uid: string): FleetMember => ({ uid, isReady: false, sighting: "unknown" });
    const look = { fleet: [...toHealthy(6), ...["a", "b", "c", "d"].map(unknown)], nowMs };
    const next = observeFleet(state, look, DEFAULT_DELETION);
    expect(readFleet(next, nowMs, DEFAULT_DELETION)).toMatchObject({
      missing: 4,
      isExceeded: true,
    });
    expect(observeFleet(next, look, DEFAULT_DELETION)).toEqual(next);
  });

  test("remembers nothing of Nodes that are well, once ten minutes went by", () => {
    const look = { fleet: toHealthy(5_000), observedAtMs: 1, nowMs: 1 };
    const young = observeFleet(EMPTY_GUARD, look, DEFAULT_DELETION);
    expect(young.sightings.shown.size).toBe(5_000);
    const old = { ...look, observedAtMs: 600_001 };
    const state = observeFleet(young, old, DEFAULT_DELETION);
    expect(state.missing.size + state.sightings.shown.size).toBe(0);
    expect(state.sizes).toEqual([{ atMs: 1, size: 5_000 }]);
  });

  test("forgets deletions that are older than the window", () => {
    const deleted = noteDeletion(EMPTY_GUARD, "a", 0);
    const windowMs = DEFAULT_DELETION.fleetWindowMs;
    const within = observeFleet(deleted, { fleet, nowMs: windowMs }, DEFAULT_DELETION);
    expect(within.deletions.size).toBe(1);
    const after = observeFleet(within, { fleet, nowMs: windowMs + 1 }, DEFAULT_DELETION);
    expect(after.deletions.size).toBe(0);
  });
});

describe("while another part of the cloud is lost", () => {
  const tolerant = { ...DEFAULT_DELETION, whileOtherPartsAreLost: true };
  const prolong = (state: GuardState): GuardState => prolongStreak(state, X);
  const MINUTE = [0, 30, 60].map((at) => ({ at }));
  const lost = [...MINUTE.slice(0, 2), { at: 60, after: prolong }];

  test("a streak that was prolonged goes on, for ten minutes", () => {
    expect(judgeAfter(lost, tolerant)).toMatchObject({
      reason: "holdOff",
      message: expect.stringContaining("1m0s of 10m0s, which is longer because another part"),
    });
    expect(judgeAfter([...lost, { at: 599 }], tolerant)).toMatchObject({ kind: "waiting" });
    expect(judgeAfter([...lost, { at: 600 }], tolerant)).toEqual(confirm);
    const patient = { ...tolerant, holdOffMs: 3_600_000 };
    expect(judgeAfter([...lost, { at: 600 }], patient)).toMatchObject({ reason: "holdOff" });
  });

  test.each<[string, readonly Step[], boolean, boolean]>([
    ["the ten minutes are over", [...lost, { at: 600 }], true, true],
    ["they are not", [...lost, { at: 599 }], true, false],
    ["the settings forbid it", [...lost, { at: 600 }], false, false],
    ["nobody said that a part is lost", [...MINUTE, { at: 600 }], true, false],
    [
      "the streak broke",
      [...lost, { at: 300, isReady: true }, { at: 600 }, { at: 900 }],
      true,
      false,
    ],
    ["there is none", [{ at: 0, sighting: "present" }], true, false],
  ])("mayPartsBeLost() when %s", (_title, steps, whileOtherPartsAreLost, expected) => {
    const settings = { ...DEFAULT_DELETION, whileOtherPartsAreLost };
    expect(mayPartsBeLost(runSteps(steps, settings), X, settings)).toBe(expected);
  });

  test("prolongStreak() changes nothing where there is no streak", () => {
    const state = runSteps([{ at: 0, isReady: true }], tolerant);
    expect(prolongStreak(state, X)).toEqual(state);
  });
});
