import { expect, test } from "bun:test";
import { toWantedTasks } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { ProgressTracker } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import { toRemovalTask } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { takeSnapshot } from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/placement/roles.ts";
import type { MachinesView } from "../../../../lib/cloud/capabilities/machines.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import { makeReport } from "../../../../lib/controllers/vino/status/machines_report.ts";
import type { MachinesReport } from "../../../../lib/controllers/vino/status/outcome.ts";
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

type Input = Parameters<typeof makeReport>[0];

const nameOf = (index: number): string => toEntry("worker", index).name;

/** The roles of a spec, and what the cloud shows of its machines. @param spec Without it, no machine is wanted */
function look(view: MachinesView, spec?: VinoSpec): Pick<Input, "snapshot" | "roles"> {
  const read = spec && readRoles(spec);
  const roles = read?.isComplete === true ? read.roles : undefined;
  const result = takeSnapshot({
    vino: { metadata: VINO_OWNER, ...(spec && { spec }) },
    owner: VINO_OWNER,
    view,
    ...(roles && { roles }),
    isConsumed: () => false,
    deletes: true,
  });
  if (result.kind === "refused") throw new Error(result.message);
  return { snapshot: result.snapshot, roles };
}

/** A report in which nothing goes on, but for what a test says. */
function report(change: Pick<Input, "snapshot" | "roles"> & Partial<Input>): MachinesReport {
  return makeReport({
    addresses: { machines: new Map(), problems: new Map(), notices: [] },
    wanted: [],
    idle: [],
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
    ...change,
  });
}

test("makeReport() reports on machines that are wanted, wait, stay and go, in their order, with their hosts", () => {
  const hosts = [toDoubleHost("h1", { name: "xcp-1" }), toDoubleHost("h2")];
  const machines = [0, 5, 7].map((index) => toMachine("worker", index));
  const view = toView(machines, { hosts });
  const { snapshot, roles = new Map() } = look(view, SPEC);
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
  const found = report({
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
  });
  expect(found).toMatchObject({
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
    found.machines.map(({ entry, isWanted }) => [
      entry.index,
      entry.bareMetalHost,
      isWanted,
      entry.host,
      entry.hostDisplayName,
    ]),
  ).toEqual([
    [0, "Paused", true, "h1", "xcp-1"],
    [5, "Published", true, "h1", "xcp-1"],
    [7, "InUse", false, "h1", "xcp-1"],
    [12, "InUse", false, undefined, undefined],
  ]);
  expect(found.machines[0]?.problems).toMatchObject([{ kind: "notice", message: differences[0] }]);
  expect(found.machines[1]?.entry.message).toBe("oam is full");
});

test("makeReport() tells machines with other addresses apart from those without", () => {
  const view = toView([0, 1, 2].map((index) => toMachine("worker", index)));
  const { snapshot, roles = new Map() } = look(view, THREE);
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
  const { idle } = toWantedTasks(snapshot, { spec: THREE, roles, addresses, hasBmc: false });
  const found = report({ snapshot, roles, addresses, idle });
  expect(found.addressProblems).toEqual(["oam is full"]);
  expect(found.addressDifferences).toEqual([`${say(0)}. The same is true of 1 more machine`]);
  expect(found.machines.map(({ entry, problems }) => [entry.state, problems])).toEqual([
    ["Ready", [{ reason: "AddressesDiffer", kind: "notice", message: say(0) }]],
    ["Ready", [{ reason: "AddressesDiffer", kind: "notice", message: say(1) }]],
    ["Ready", []],
  ]);
});

test("makeReport() says of what a person would have to decide that it stays, if the Vino is done with it", () => {
  const view = toView([toMachine("worker", 0)]);
  const looked = look(view);
  const [machine] = looked.snapshot.placement.surplus;
  const removals = machine ? [toRemovalTask(VINO_OWNER, machine)] : [];
  const tracker = new ProgressTracker({ clock: new ManualClock(), machines: new MachinesDouble() });
  for (const task of removals) {
    tracker.review(task, view, undefined);
    tracker.noteFailure(task.name, { kind: "decision", message: "VM a is hidden" });
  }
  expect(report({ ...looked, removals, tracker }).machines).toMatchObject([
    { entry: { message: "VM a is hidden" }, problems: [{ kind: "decision" }] },
  ]);
  const message =
    "What exists of it stays in the cloud, because deletionPolicy is Retain. VM a is hidden";
  expect(report({ ...looked, removals, tracker, isLeft: () => true }).machines).toMatchObject([
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
  const looked = look(toView(isShown ? [toMachine("worker", 0)] : [], { pools }));
  const limited = toReport(0, { state: "Unknown" }, { isWanted: false });
  const decision = { removable: [], reports: [limited], isDrained: true };
  const { machines } = report({ ...looked, decision });
  expect(machines.map((one) => one.isSilent === true)).toEqual([isSilent]);
});
