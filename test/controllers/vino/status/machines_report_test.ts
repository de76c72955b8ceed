import { expect, test } from "bun:test";
import { toWantedTasks } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { ProgressTracker } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import { toRemovalTask } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { takeSnapshot } from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/placement/roles.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import { makeReport } from "../../../../lib/controllers/vino/status/machines_report.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toEntry, toMachine, toView, VINO_OWNER } from "../../../support/vino/known.ts";
import { MachinesDouble, POOL, toDoubleHost } from "../../../support/vino/machines_double.ts";
import { toReport } from "../../../support/vino/reports.ts";

const SPEC: VinoSpec = {
  nodes: [{ name: "worker", count: 2 }],
  xenOrchestra: { template: "t", cpus: 2, memory: "4Gi", countPer: "Total" },
};

const THREE: VinoSpec = { ...SPEC, nodes: [{ name: "worker", count: 3 }] };

const SHOWN = { isDeleting: false, isPaused: false, use: undefined };

test("makeReport() reports on machines that are wanted, wait, stay and go, in their order, with their hosts", () => {
  const read = readRoles(SPEC);
  if (!read.isComplete) throw new Error("the form is complete");
  const { roles } = read;
  const hosts = [toDoubleHost("h1", { name: "xcp-1" }), toDoubleHost("h2")];
  const view = toView(
    [0, 5, 7].map((index) => toMachine("worker", index)),
    { hosts },
  );
  const rest = { isConsumed: () => false, deletes: true };
  const vino = { metadata: VINO_OWNER, spec: SPEC };
  const result = takeSnapshot({ vino, owner: VINO_OWNER, view, roles, ...rest });
  if (result.kind === "refused") throw new Error(result.message);
  const { snapshot } = result;
  const nameOf = (index: number): string => toEntry("worker", index).name;
  const wanted = snapshot.placement.wanted.map(({ index }) => nameOf(index));
  const [kept = "", waiting = ""] = wanted;
  const addresses = {
    machines: new Map([[kept, []]]),
    problems: new Map([
      [waiting, "oam is full"],
      ["other", "another network is full"],
    ]),
    notices: ["oam has moved"],
  };
  const { tasks, idle } = toWantedTasks(snapshot, { spec: SPEC, roles, addresses, hasBmc: false });
  const [first] = snapshot.placement.surplus;
  const removals = first ? [toRemovalTask(VINO_OWNER, first)] : [];
  const tracker = new ProgressTracker({ clock: new ManualClock(), machines: new MachinesDouble() });
  for (const task of [...tasks, ...removals]) tracker.review(task, view, undefined);
  const differences = ["edge-worker has another address"];
  const report = makeReport({
    snapshot,
    roles,
    addresses,
    wanted: tasks,
    idle,
    removals,
    decision: { removable: [], reports: [toReport(12, {}, { isWanted: false })], isDrained: true },
    hosts: new Map([
      [
        kept,
        { name: "edge-worker", state: "Paused", message: "is paused", notices: [], differences },
      ],
      [nameOf(12), { name: "edge-worker-12", state: "InUse", message: "is used", notices: [] }],
    ]),
    shown: [
      { ...SHOWN, name: "edge-worker-0" },
      { ...SHOWN, name: "edge-worker-5" },
      { ...SHOWN, name: "edge-worker-7", use: 'is used by M "m"' },
    ],
    tracker,
    gonePools: "lyon",
    removed: [{ name: nameOf(9), time: "2026-01-01T12:00:00Z" }],
    isGone: () => false,
    now: { monotonicMs: 0, wallMs: 0 },
    isLeft: () => false,
  });
  expect(report).toMatchObject({
    removals: [{ name: nameOf(9), time: "2026-01-01T12:00:00Z" }],
    wantedCount: 2,
    addressProblems: ["oam is full"],
    notices: [
      "oam has moved",
      "The cloud shows pool lyon, so it is not gone: remove the annotation landfall.dev/gone-pools",
    ],
    hosts: [{ name: "edge-worker", state: "Paused" }],
  });
  expect(
    report.machines.map(({ entry, isWanted }) => [entry.index, entry.bareMetalHost, isWanted]),
  ).toEqual([
    [0, "Paused", true],
    [5, "Published", true],
    [7, "InUse", false],
    [12, "InUse", false],
  ]);
  expect(report.machines[0]?.problems).toMatchObject([{ kind: "notice", message: differences[0] }]);
  expect(report.machines[1]?.entry.message).toBe("oam is full");
  expect(report.machines.map(({ entry }) => [entry.host, entry.hostDisplayName])).toEqual([
    ["h1", "xcp-1"],
    ["h1", "xcp-1"],
    ["h1", "xcp-1"],
    [undefined, undefined],
  ]);
});

test("makeReport() tells machines with other addresses apart from those without", () => {
  const view = toView([0, 1, 2].map((index) => toMachine("worker", index)));
  const owner = VINO_OWNER;
  const rest = { isConsumed: () => false, deletes: true };
  const vino = { metadata: owner, spec: THREE };
  const found = readRoles(THREE);
  if (!found.isComplete) throw new Error("the spec is not complete");
  const result = takeSnapshot({ vino, owner, view, roles: found.roles, ...rest });
  if (result.kind === "refused") throw new Error(result.message);
  const nameOf = (index: number): string => toEntry("worker", index).name;
  const say = (index: number): string =>
    `interface eth0 of ${nameOf(index)} has 192.0.2.${index}. Set it back`;
  const addresses = {
    machines: new Map(),
    problems: new Map([
      [nameOf(0), say(0)],
      [nameOf(1), say(1)],
      [nameOf(2), "oam is full"],
    ]),
    differing: new Set([nameOf(0), nameOf(1)]),
    notices: [],
  };
  const wanted = { spec: THREE, roles: found.roles, addresses, hasBmc: false };
  const report = makeReport({
    snapshot: result.snapshot,
    roles: found.roles,
    addresses,
    wanted: [],
    idle: toWantedTasks(result.snapshot, wanted).idle,
    removals: [],
    decision: { removable: [], reports: [], isDrained: true },
    hosts: new Map(),
    shown: [],
    tracker: { find: () => undefined },
    gonePools: undefined,
    removed: [],
    isGone: () => false,
    now: { monotonicMs: 0, wallMs: 0 },
    isLeft: () => false,
  });
  expect(report.addressProblems).toEqual(["oam is full"]);
  expect(report.addressDifferences).toEqual([`${say(0)}. The same is true of 1 more machine`]);
  expect(report.machines.map(({ entry, problems }) => [entry.state, problems])).toEqual([
    ["Ready", [{ reason: "AddressesDiffer", kind: "notice", message: say(0) }]],
    ["Ready", [{ reason: "AddressesDiffer", kind: "notice", message: say(1) }]],
    ["Ready", []],
  ]);
});

test("makeReport() says of what a person would have to decide that it stays, if the Vino is done with it", () => {
  const view = toView([toMachine("worker", 0)]);
  const rest = { isConsumed: () => false, deletes: false };
  const vino = { metadata: VINO_OWNER, spec: SPEC };
  const result = takeSnapshot({ vino, owner: VINO_OWNER, view, ...rest });
  if (result.kind === "refused") throw new Error(result.message);
  const { snapshot } = result;
  const [machine] = snapshot.placement.surplus;
  const removals = machine ? [toRemovalTask(VINO_OWNER, machine)] : [];
  const tracker = new ProgressTracker({ clock: new ManualClock(), machines: new MachinesDouble() });
  for (const task of removals) {
    tracker.review(task, view, undefined);
    tracker.noteFailure(task.name, { kind: "decision", message: "VM a is hidden" });
  }
  const input = {
    snapshot,
    roles: undefined,
    addresses: { machines: new Map(), problems: new Map(), notices: [] },
    wanted: [],
    idle: [],
    removals,
    decision: { removable: [], reports: [], isDrained: true },
    hosts: new Map(),
    shown: [],
    tracker,
    gonePools: undefined,
    removed: [],
    isGone: () => false,
    now: { monotonicMs: 0, wallMs: 0 },
  };
  expect(makeReport({ ...input, isLeft: () => false }).machines).toMatchObject([
    { entry: { message: "VM a is hidden" }, problems: [{ kind: "decision" }] },
  ]);
  const message =
    "What exists of it stays in the cloud, because deletionPolicy is Retain. VM a is hidden";
  expect(makeReport({ ...input, isLeft: () => true }).machines).toMatchObject([
    { entry: { message }, problems: [], isKept: true },
  ]);
});

const LYON = POOL;
const OTHER = { ...POOL, id: "pool-2", name: "paris" };
const lose = (pool: typeof POOL): typeof POOL => ({ ...pool, isComplete: false });

test.each<[string, readonly (typeof POOL)[], boolean, boolean]>([
  ["that no list shows, although all pools answer", [LYON, OTHER], false, false],
  ["that may be in any pool", [LYON, lose(OTHER)], false, true],
  ["that is in another pool than the lost one", [LYON, lose(OTHER)], true, false],
  ["that is in the lost pool", [lose(LYON), OTHER], true, true],
  ["without any pool", [], false, true],
])("makeReport() of a machine %s", (_title, pools, isShown, isSilent) => {
  const view = toView(isShown ? [toMachine("worker", 0)] : [], { pools });
  const rest = { isConsumed: () => false, deletes: true };
  const result = takeSnapshot({ vino: { metadata: VINO_OWNER }, owner: VINO_OWNER, view, ...rest });
  if (result.kind === "refused") throw new Error(result.message);
  const limited = toReport(0, { state: "Unknown" }, { isWanted: false });
  const report = makeReport({
    snapshot: result.snapshot,
    roles: undefined,
    addresses: { machines: new Map(), problems: new Map(), notices: [] },
    wanted: [],
    idle: [],
    removals: [],
    decision: { removable: [], reports: [limited], isDrained: true },
    hosts: new Map(),
    shown: [],
    tracker: { find: () => undefined },
    gonePools: undefined,
    removed: [],
    isGone: () => false,
    now: { monotonicMs: 0, wallMs: 0 },
    isLeft: () => false,
  });
  expect(report.machines.map((one) => one.isSilent === true)).toEqual([isSilent]);
});
