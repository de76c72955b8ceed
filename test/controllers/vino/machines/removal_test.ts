import { describe, expect, test } from "bun:test";
import type { HostOutcome } from "../../../../lib/controllers/vino/hosts/types.ts";
import {
  decideRemovals,
  KEPT_MESSAGE,
  type RemovalInput,
  isProvenGone,
} from "../../../../lib/controllers/vino/machines/removal/removals.ts";
import {
  describeIdlePools,
  describeWayOut,
  isGoneWithPool,
  readGonePools,
} from "../../../../lib/controllers/vino/machines/removal/gone_pools.ts";
import type { KnownMachine } from "../../../../lib/controllers/vino/placement/known.ts";
import { toEntry, toKnown, toMachine, toObject, VINO_OWNER } from "../../../support/vino/known.ts";
import type { MachinePlan, MachineProblem } from "../../../../lib/cloud/capabilities/machines.ts";
import {
  NeverComplete,
  describeLimit,
  isConfirmed,
  RemovalLimit,
} from "../../../../lib/controllers/vino/machines/removal/limit.ts";
import { toTask } from "../../../support/vino/steps_rig.ts";
import { toProblem, toReport } from "../../../support/vino/reports.ts";
import type { Progress } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import { MachineEvents } from "../../../../lib/controllers/vino/machines/events.ts";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import type { HostState } from "../../../../lib/controllers/vino/resource/vino_machine.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { CloudDeadline } from "../../../../lib/controllers/vino/machines/desired_machines.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const worker = (change: Partial<KnownMachine> = {}): KnownMachine =>
  toKnown("worker", 0, "h1", change);

function judge(
  machine: KnownMachine,
  isHostGone: boolean,
  change: Partial<RemovalInput> = {},
): { removable: number; says: string | undefined; isDrained: boolean } {
  const base = { deletes: true, limit: undefined, isHostGone: () => isHostGone };
  const decision = decideRemovals({ surplus: [machine], ...base, ...change }, () => toTask(0));
  const [one] = decision.assignments;
  return {
    removable: decision.tasks.length,
    says: one?.heldBy ?? one?.keptBecause,
    isDrained: decision.isDrained,
  };
}

describe("decideRemovals()", () => {
  test("removes a machine only when its host is gone", () => {
    expect(judge(worker(), true)).toEqual({ removable: 1, says: undefined, isDrained: true });
    expect(judge(worker(), false)).toEqual({ removable: 0, says: undefined, isDrained: false });
  });

  test("leaves a machine in the cloud if the Vino retains, and says so", () => {
    expect(judge(worker(), true, { deletes: false })).toEqual({
      removable: 0,
      says: KEPT_MESSAGE,
      isDrained: true,
    });
  });

  test("looks after a machine that is not shown, also if the Vino retains", () => {
    const { machine: _gone, ...known } = worker({ entry: toEntry("worker", 0) });
    expect(judge(known, true, { deletes: false }).removable).toBe(1);
  });

  test("keeps all machines without the cloud, but removes their hosts first", () => {
    const { machine: _unseen, ...known } = worker({ entry: toEntry("worker", 0) });
    const alone = { deletes: false, isWithoutCloud: true };
    expect(judge(known, false, alone)).toMatchObject({ removable: 0, isDrained: false });
    expect(judge(known, true, alone)).toMatchObject({
      removable: 0,
      says: expect.stringContaining("If it exists, it stays there with its addresses"),
      isDrained: true,
    });
  });

  test("removes none while a person must confirm, except what was begun", () => {
    const limit = "too many at once";
    const held = judge(worker(), true, { limit });
    expect(held).toMatchObject({ removable: 0, isDrained: false });
    expect(held.says).toContain("A person must confirm its removal");
    expect(judge(worker({ isRemoving: true }), true, { limit })).toMatchObject({ removable: 1 });
  });
});

const TASK = toTask(0);
const CREATE = { summary: "create" };
const COMPLETE = { summary: "complete", completes: true };

function toPlan(change: Partial<MachinePlan>): MachinePlan {
  return { state: "Absent", steps: [CREATE], problems: [], parts: [], ...change };
}

function begin(): NeverComplete {
  const never = new NeverComplete();
  never.noteSteps(TASK, toPlan({}));
  return never;
}

describe("NeverComplete", () => {
  test("knows a machine that a look proved absent before it was begun", () => {
    expect(begin().has(TASK.name)).toBe(true);
    expect(begin().has("another")).toBe(false);
  });

  test.each<[string, Partial<MachinePlan>]>([
    ["that is half made already", { state: "Creating" }],
    ["that only an inventory does not show", { needsLook: true }],
    ["that may be in a lost pool", { state: "Unknown" }],
    ["that is complete after the same steps", { steps: [CREATE, { ...COMPLETE, isDirect: true }] }],
  ])("does not know it of a machine %s", (_title, plan) => {
    const never = new NeverComplete();
    never.noteSteps(TASK, toPlan(plan));
    expect(never.has(TASK.name)).toBe(false);
  });

  test("does not know it of a machine that goes", () => {
    const never = new NeverComplete();
    never.noteSteps({ name: TASK.name, goal: { kind: "remove" } }, toPlan({}));
    expect(never.has(TASK.name)).toBe(false);
  });

  test("forgets a machine before the step that completes it, and not before", () => {
    const never = begin();
    never.noteSteps(TASK, toPlan({ state: "Creating", steps: [CREATE, COMPLETE] }));
    expect(never.has(TASK.name)).toBe(true);
    never.noteSteps(TASK, toPlan({ state: "Creating", steps: [COMPLETE] }));
    expect(never.has(TASK.name)).toBe(false);
  });

  const half = toMachine("worker", 0, { isComplete: false });
  const creating = toEntry("worker", 0, { state: "Creating" });

  test.each<[string, Partial<KnownMachine>, boolean]>([
    ["is half made", { machine: half, entry: creating }, true],
    ["is complete", { machine: toMachine("worker", 0) }, false],
    ["was complete", { machine: half, entry: toEntry("worker", 0) }, false],
    ["is in use", { machine: half, isConsumed: true }, false],
    ["is published", { machine: half, entry: { ...creating, bareMetalHost: "Published" } }, false],
  ])("reviews a machine that %s", (_title, change, expected) => {
    const never = begin();
    const { entry: _entry, ...known } = toKnown("worker", 0);
    never.review([{ ...known, ...change }], new Set());
    expect(never.has(TASK.name)).toBe(expected);
  });

  test("forgets a machine that is neither known nor worked on any more", () => {
    const never = begin();
    never.review([], new Set([TASK.name]));
    expect(never.has(TASK.name)).toBe(true);
    never.review([], new Set());
    expect(never.has(TASK.name)).toBe(false);
  });
});

const LOST: MachinePlan = {
  state: "Unknown",
  steps: [],
  problems: [{ reason: "No", message: "no", kind: "retry", missingPoolId: "p" }],
  parts: [],
};

test.each([
  [{}, []],
  [{ annotations: {} }, []],
  [{ annotations: { "landfall.dev/gone-pools": "p" } }, ["p"]],
  [{ annotations: { "landfall.dev/gone-pools": "p, q" } }, ["p", "q"]],
])("readGonePools() of %o", (metadata, pools) => {
  expect([...readGonePools(metadata)]).toEqual(pools);
});

test.each<[string, Partial<MachinePlan>, readonly string[], boolean]>([
  ["in a pool that a person named", {}, ["p"], true],
  ["in a pool that no person named", {}, ["q"], false],
  [
    "in a pool that is only not connected",
    { problems: [{ reason: "No", message: "no", kind: "retry" }] },
    ["p"],
    false,
  ],
  ["which the cloud shows", { state: "Removing" }, ["p"], false],
  ["about which only a look could tell", { needsLook: true }, ["p"], false],
  ["for which there is something to do", { steps: [{ summary: "x" }] }, ["p"], false],
])("isGoneWithPool() of a machine %s", (_title, over, pools, expected) => {
  expect(isGoneWithPool({ ...LOST, ...over }, new Set(pools))).toBe(expected);
});

test("describeWayOut() gives the command", () => {
  const owner = { namespace: "metal", name: "edge", uid: "u" };
  const command =
    "kubectl annotate vino edge --namespace=metal --overwrite landfall.dev/gone-pools=p";
  expect(describeWayOut(owner, "p", undefined)).toStartWith("If that pool is gone for good");
  expect(describeWayOut(owner, "p", undefined)).toEndWith(command);
  const wrong = describeWayOut(owner, "p", "lyon, q");
  expect(wrong).toStartWith(
    'The annotation landfall.dev/gone-pools is "lyon, q", without the ID of that pool. If',
  );
  expect(wrong).toEndWith(command);
  expect(describeWayOut(owner, "p", "q, p")).toBeUndefined();
});

const POOLS = [
  { id: "p", name: "lyon", isComplete: true },
  { id: "q", name: "paris", isComplete: false },
];
const REMOVE = "remove the annotation landfall.dev/gone-pools";
const SHOWN = `The cloud shows pool lyon, so it is not gone: ${REMOVE}`;

test.each<[string | undefined, Parameters<typeof toReport>[1], readonly string[]]>([
  [undefined, {}, []],
  ["p", {}, [SHOWN]],
  ["lyon", {}, [SHOWN]],
  ["q", {}, [`No machine of this Vino is in a lost pool "q": ${REMOVE}`]],
  ["typo, p", {}, [`No machine of this Vino is in a lost pool "typo": ${REMOVE}`, SHOWN]],
  // Then the message of that machine says what to write.
  ["typo", { state: "Unknown" }, []],
])("describeIdlePools() of %j, with a machine %j", (said, entry, found) => {
  expect(describeIdlePools(said, POOLS, [toObject(toEntry("worker", 0, entry))])).toEqual([
    ...found,
  ]);
});

const SETTINGS = { fleetShare: 0.34, fleetWindowMs: 600_000 };
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `m-${at}`);

describe("RemovalLimit", () => {
  test.each([
    [10, 3, false],
    [10, 4, true],
    [1, 1, false],
    [3, 1, false],
    [3, 2, true],
    [0, 0, false],
  ])("of %i machines, %i too many: exceeded is %p", (known, surplus, isExceeded) => {
    const question = { known: names(known), surplus: names(surplus), nowMs: 0 };
    expect(new RemovalLimit().read(question, SETTINGS).isExceeded).toBe(isExceeded);
  });

  test("counts what was removed within the window, and compares with the size before", () => {
    const limit = new RemovalLimit();
    const read = (known: number, surplus: number, nowMs: number): boolean =>
      limit.read({ known: names(known), surplus: names(surplus), nowMs }, SETTINGS).isExceeded;
    expect(read(10, 3, 0)).toBe(false);
    limit.noteRemoval("m-9", { monotonicMs: 1_000, wallMs: 0 });
    expect(read(9, 2, 1_000)).toBe(false);
    expect(read(9, 3, 2_000)).toBe(true);
    expect(read(9, 3, 700_000)).toBe(false);
  });
});

describe("RemovalLimit after a restart", () => {
  const at = { monotonicMs: 5_000, wallMs: Date.UTC(2026, 0, 1, 12) };
  const isExceeded = (time: string): boolean => {
    const limit = new RemovalLimit();
    limit.load([{ name: "m-9", time }], at, SETTINGS);
    const question = { known: names(9), surplus: names(3), nowMs: at.monotonicMs };
    return limit.read(question, SETTINGS).isExceeded;
  };

  test.each([
    ["a short time ago", "2026-01-01T11:59:00Z", true],
    ["before the window", "2026-01-01T11:49:59Z", false],
    ["in the future, because a clock went back", "2026-01-01T13:00:00Z", true],
    ["at no time that can be read", "soon", true],
  ])("counts what another process removed %s", (_title, time, expected) => {
    expect(isExceeded(time)).toBe(expected);
  });

  test("ends with the window that began before it", () => {
    const limit = new RemovalLimit();
    const removals = [{ name: "m-9", time: "2026-01-01T11:59:00Z" }];
    limit.load(removals, at, SETTINGS);
    const endMs = at.monotonicMs + SETTINGS.fleetWindowMs - 60_000;
    expect(limit.list(endMs, SETTINGS)).toEqual(removals);
    expect(limit.list(endMs + 1, SETTINGS)).toEqual([]);
  });

  test("keeps what it removed itself, with its own time", () => {
    const limit = new RemovalLimit();
    limit.noteRemoval("m-9", at);
    limit.load([{ name: "m-9", time: "2026-01-01T11:55:00Z" }], at, SETTINGS);
    expect(limit.list(at.monotonicMs, SETTINGS)).toEqual([
      { name: "m-9", time: "2026-01-01T12:00:00Z" },
    ]);
  });
});

test.each([
  [
    "confirms this spec",
    { generation: 3, annotations: { "landfall.dev/confirm-removal": "3" } },
    true,
  ],
  [
    "confirms another one",
    { generation: 4, annotations: { "landfall.dev/confirm-removal": "3" } },
    false,
  ],
  ["is absent", { generation: 3 }, false],
  [
    "is there, and the spec has no generation",
    { annotations: { "landfall.dev/confirm-removal": "undefined" } },
    false,
  ],
])("isConfirmed() if the annotation %s", (_title, metadata, expected) => {
  expect(isConfirmed(metadata)).toBe(expected);
});

const reading = {
  affected: 5,
  missing: 4,
  deleted: 1,
  sizeAtStart: 6,
  limit: 2,
  isExceeded: true,
};

test("describeLimit() says that a confirmation is for another spec", () => {
  const metadata = { namespace: "metal", name: "edge", generation: 7 };
  const annotations = { "landfall.dev/confirm-removal": "6" };
  expect(describeLimit(reading, { ...metadata, annotations }, false)).toContain(
    'The annotation landfall.dev/confirm-removal is "6", but the generation of this spec is 7. ' +
      "If that is right, confirm it: kubectl annotate",
  );
  expect(describeLimit(reading, metadata, false)).not.toContain("The annotation");
});

test("describeLimit() gives the command that confirms", () => {
  const text = describeLimit(reading, { namespace: "metal", name: "edge", generation: 7 }, false);
  expect(text).toContain(
    "The spec wants 5 of 6 machines gone at once, 1 of them already, and the limit is 2",
  );
  expect(text).toEndWith(
    "kubectl annotate vino edge --namespace=metal --overwrite landfall.dev/confirm-removal=7",
  );
});

const NAME = "vino-1b4e28ba-worker-0";

function toProgress(plan: Partial<MachinePlan> = {}): Progress {
  const identity = { owner: VINO_OWNER, role: "worker", index: 0 };
  return {
    task: { name: NAME, identity, goal: { kind: "remove" } },
    plan: { state: "Absent", steps: [], problems: [], parts: [], ...plan },
    observedAtMs: 20,
    dueMs: Infinity,
    failures: 0,
    retryMs: -Infinity,
    sinceMs: 0,
    setbacks: [],
  };
}

const PROBLEM = { reason: "MayComeLate", message: "m", kind: "notice" } as const;

test.each<[string, Progress | undefined, boolean]>([
  ["of which a look found nothing", toProgress(), true],
  ["that has a step left", toProgress({ steps: [{ summary: "delete a disk" }] }), false],
  ["that may come late", toProgress({ problems: [PROBLEM] }), false],
  ["that only an inventory does not show", toProgress({ needsLook: true }), false],
  ["that may be in a lost pool", toProgress({ state: "Unknown" }), false],
  ["without a plan", undefined, false],
])("isProvenGone() of a machine %s", (_what, progress, expected) => {
  expect(isProvenGone(progress)).toBe(expected);
});

function start(): {
  events: MachineEvents;
  told: string[];
  logged: string[];
} {
  const told: string[] = [];
  const logged: string[] = [];
  const write = (line: string): void => void logged.push(line.trim());
  const events = new MachineEvents({
    events: { record: (_object, { reason, message }) => void told.push(`${reason}: ${message}`) },
    log: createLogger({ format: "text", write, now: () => 0 }),
    metrics: { countMachine: () => undefined },
    objects: { find: () => undefined, warn: () => false },
    warn: (_vino, { reason }, message) => told.push(`${reason}: ${message}`) > 0,
  });
  return { events, told, logged };
}

const NOTICE = toProblem("notice", "disk data is missing");

test.each<[string, MachineProblem, string | undefined, boolean, readonly string[]]>([
  ["a complete machine differs", NOTICE, undefined, true, ["MachineDiffers: disk data is missing"]],
  ["a machine differs as before", NOTICE, NOTICE.message, true, []],
  ["a machine differs that the spec does not want", NOTICE, undefined, false, []],
  ["a machine fails", toProblem("retry", "no room"), undefined, true, []],
])("MachineEvents.recordChange() when %s", (_title, problem, before, isWanted, expected) => {
  const { events, told } = start();
  const entry = before === undefined ? {} : { message: before };
  const { message } = problem;
  const report = toReport(0, { message }, { problems: [problem], isWanted });
  events.recordChange({ metadata: { name: "edge" } }, report, toReport(0, entry).entry);
  expect(told).toEqual([...expected]);
});

test("MachineEvents.recordChange() names each host that differs, also behind other notices", () => {
  const { events, told } = start();
  const named = (host: string): { outcome: HostOutcome } => {
    const differences = [`${host} has another address`];
    return { outcome: { name: host, state: "Published", notices: [], differences } };
  };
  const own = { ...toProblem("notice", "a has another address"), reason: "HostDiffers" };
  const machines = [
    toReport(0, { message: own.message }, { problems: [own], ...named("edge-worker-0") }),
    toReport(1, { message: NOTICE.message }, { problems: [NOTICE], ...named("edge-worker-1") }),
  ];
  for (const one of machines) events.recordChange({ metadata: { name: "edge" } }, one, undefined);
  expect(told.filter((one) => !one.startsWith("MachineReady"))).toEqual([
    "HostDiffers: edge-worker-0 has another address",
    "HostDiffers: edge-worker-1 has another address",
    "MachineDiffers: disk data is missing",
  ]);
});

test("MachineEvents.recordRestored() names each pool with its addresses, once", () => {
  const { events, told, logged } = start();
  events.recordRestored({ metadata: { name: "edge" } }, [
    { pool: "oam", ip: "192.0.2.1", isPoolNew: true },
    { pool: "pxe", ip: "198.51.100.1", isPoolNew: false },
    { pool: "oam", ip: "192.0.2.2", isPoolNew: true },
  ]);
  expect(told).toEqual([
    "IPPoolVanished: IPPool oam did not exist any more. " +
      "Landfall made it again with the addresses that machines have: 192.0.2.1, 192.0.2.2",
    "IPPoolVanished: IPPool pxe did not list addresses that machines have any more. " +
      "Landfall wrote them again: 198.51.100.1",
  ]);
  expect(logged.filter((line) => line.includes(" WARN  IPPool "))).toHaveLength(2);
});

const A = { name: "a-0", role: "a", index: 0 };

test("MachineEvents.recordChanged() names the step", () => {
  const { events, told } = start();
  events.recordChanged({ metadata: { name: "edge" } }, A, "add interface b to a-0");
  expect(told).toEqual(["MachineChanged: Landfall changed machine a-0: add interface b to a-0"]);
});

const MADE = { state: "Published", isMade: true } as const;
const TAKEN = { state: "NameTaken", message: "BareMetalHost edge-worker-0 exists" } as const;

test.each<[string, Partial<HostOutcome>, HostState | undefined, readonly string[]]>([
  [
    "a host that was published is made again",
    MADE,
    "Published",
    ["HostVanished: BareMetalHost edge-worker-0 did not exist any more. Landfall made it again"],
  ],
  ["a host is made", MADE, undefined, []],
  ["a host is made again that Landfall took away", MADE, "Publishing", []],
  ["a name is taken", TAKEN, undefined, [`UnableToPublishHosts: ${TAKEN.message}`]],
  ["a name is taken as before", TAKEN, "NameTaken", []],
])("MachineEvents.recordChange() when %s", (_title, change, before, expected) => {
  const { events, told } = start();
  const { bareMetalHost: _published, ...entry } = toReport(0).entry;
  const old = before === undefined ? entry : { ...entry, bareMetalHost: before };
  const outcome = { name: "edge-worker-0", state: "Published" as const, notices: [], ...change };
  events.recordChange({ metadata: { name: "edge" } }, toReport(0, {}, { outcome }), old);
  expect(told).toEqual([...expected]);
});

test("MachineEvents.recordEnd() names what stays, also if the cloud does not say whether it exists", () => {
  const { events, told } = start();
  const vino: Vino = { metadata: { name: "edge" } };
  const two = [toReport(0), toReport(1)].map(({ entry }) => entry.name);
  events.recordEnd(vino, two, false);
  events.recordEnd(vino, two, true);
  events.recordEnd(vino, [], false);
  events.recordEnd(vino, [], true);
  const why = "because deletionPolicy is Retain";
  const names = "vino-1b4e28ba-worker-0, vino-1b4e28ba-worker-1";
  const alone =
    "MachineKept: The Vino ends without an answer of the cloud. What exists of its machines stays, " +
    `and so do its addresses, ${why}`;
  expect(told).toEqual([
    `MachineKept: The Vino ends. Its machines stay in the cloud, with their addresses, ${why}: ${names}`,
    `${alone}: ${names}`,
    alone,
  ]);
});

describe("MachineEvents.recordFailed()", () => {
  const vino: Vino = { metadata: { namespace: "metal", name: "edge" } };
  const failure = { message: "no room", retryInMs: 39_001 };

  test("warns, and logs the Vino, the machine, the cause and the next attempt", () => {
    const { events, told, logged } = start();
    events.recordFailed(vino, A, failure);
    expect(told).toEqual(["MachineFailure: a-0: no room"]);
    expect(logged).toEqual([
      "1970-01-01T00:00:00.000Z WARN  Cannot make or change a machine; trying again " +
        'vino=metal/edge machine=a-0 reason="no room" retryIn=40s',
    ]);
  });
});

test("CloudDeadline passes after ten minutes of silence, and begins again after an answer", async () => {
  const clock = new ManualClock();
  const deadline = new CloudDeadline(clock);
  expect(deadline.hasPassed(true)).toBe(false);
  await clock.advance(599_999);
  expect(deadline.hasPassed(true)).toBe(false);
  expect(deadline.hasPassed(false)).toBe(false);
  await clock.advance(1);
  expect(deadline.hasPassed(true)).toBe(false);
  await clock.advance(600_000);
  expect(deadline.hasPassed(true)).toBe(true);
});
