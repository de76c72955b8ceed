import { describe, expect, test } from "bun:test";
import type { Vino, VinoSpec, VinoStatus } from "../../../../lib/controllers/vino/resource/vino.ts";
import {
  planStatus,
  findSilenceChange,
  listWarnings,
  type Outcome,
  type Warning,
  describeAlike,
  type MachineLine,
} from "../../../../lib/controllers/vino/status/status.ts";
import { toReport, toSummary } from "../../../support/vino/reports.ts";
import {
  toRemovalTask,
  toWantedTasks,
} from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { ProgressTracker } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import { takeSnapshot } from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/resource/role_form.ts";
import type { MachinesView } from "../../../../lib/cloud/capabilities/machines.ts";
import {
  listReports,
  type MachineReport,
} from "../../../../lib/controllers/vino/status/machine_status.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import {
  AT_REST,
  toEntry,
  toKnown,
  toMachine,
  toView,
  VINO_OWNER,
} from "../../../support/vino/known.ts";
import { MachinesDouble, POOL, toDoubleHost } from "../../../support/vino/machines_double.ts";

const VINO: Vino = { metadata: { name: "edge", generation: 3 } };

function plan(outcome: Outcome, vino = VINO): ReturnType<typeof planStatus> {
  return planStatus(vino, { outcome, nowMs: 0 });
}

describe("planStatus()", () => {
  const summary = toSummary([
    toReport(0),
    toReport(1, { state: "Creating", machineId: "vm-1" }),
    toReport(2, {}, { isWanted: false }),
  ]);
  const served: Outcome = { kind: "served", spec: {}, summary };

  test("counts machines", () => {
    expect(plan(served)).toMatchObject({
      observedGeneration: 3,
      counts: { wanted: 2, machines: 3, ready: 1, unwanted: 1, published: 2, summary: "1/2" },
    });
  });
});

const line = (index: number, message: string): MachineLine => ({
  name: `vino-a-${index}`,
  message,
});
const ID = "02f9029d-1f7c-4b3b-9d5e-2a5c0d3e4f10";
const OTHER_ID = "0e6f3c52-5a1d-4a55-8a3b-7f0f0c8c9d21";

test.each([
  ["one message with its machine", [line(0, "no room")], ["machine vino-a-0: no room"]],
  ["one message that names its machine", [line(0, "vino-a-0 is off")], ["vino-a-0 is off"]],
  [
    "the same of several machines once",
    [line(0, "no room"), line(1, "no room"), line(12, "no room")],
    ["machines vino-a-0, vino-a-1, vino-a-12: no room"],
  ],
  [
    "what differs only by the name of the machine once",
    [line(0, "disk of vino-a-0 is gone"), line(1, "disk of vino-a-1 is gone")],
    ["disk of vino-a-0 is gone, and the same for 1 more machine"],
  ],
  [
    "what has several sentences, and that others have the same, in a sentence of its own",
    [
      line(0, "disk of vino-a-0 is gone. Attach it"),
      line(1, "disk of vino-a-1 is gone. Attach it"),
    ],
    ["disk of vino-a-0 is gone. Attach it. The same is true of 1 more machine"],
  ],
  [
    "what differs only by an ID or a MAC address once",
    [
      line(0, `VM ${ID} has the MAC address 02:00:00:00:00:01`),
      line(1, `VM ${OTHER_ID} has the MAC address 02:00:00:00:00:0f`),
      line(2, `VM ${OTHER_ID} has the MAC address 02:00:00:00:00:0f`),
    ],
    [
      `machine vino-a-0: VM ${ID} has the MAC address 02:00:00:00:00:01, and the same for 2 more machines`,
    ],
  ],
  [
    "what differs only by an IP address once",
    [
      line(0, "eth0 has 192.0.2.10, not one of 192.0.2.0/24"),
      line(1, "eth0 has 192.0.2.11, not one of 192.0.2.0/24"),
      line(2, "eth0 has 2001:db8::1, not one of 192.0.2.0/24"),
      line(3, "eth0 has 192.0.2.12, not one of 192.0.3.0/24"),
    ],
    [
      "machine vino-a-0: eth0 has 192.0.2.10, not one of 192.0.2.0/24, and the same for 2 more machines",
      "machine vino-a-3: eth0 has 192.0.2.12, not one of 192.0.3.0/24",
    ],
  ],
  [
    "different things in the order of the first machines",
    [line(0, "no room"), line(1, "no template"), line(2, "no room")],
    ["machines vino-a-0, vino-a-2: no room", "machine vino-a-1: no template"],
  ],
  [
    "all that one machine has",
    [line(0, `network ${ID} is gone`), line(0, `network ${OTHER_ID} is gone`)],
    [`machine vino-a-0: network ${ID} is gone`, `machine vino-a-0: network ${OTHER_ID} is gone`],
  ],
  ["nothing", [], []],
])("describeAlike() says %s", (_title, lines, texts) => {
  expect(describeAlike(lines)).toEqual(texts);
});

const PROBLEMS = [{ path: "spec.nodes", message: "must be a list" }];
const READY = toSummary([toReport(0)]);
const REFUSED = { kind: "refused", spec: {}, message: "m" } as const;
const toServed = (change: Partial<typeof READY>): Outcome => ({
  kind: "served",
  spec: {},
  summary: { ...READY, ...change },
});
const NOWHERE = { role: "worker", missing: 3, kind: "noHosts", why: "no host" } as const;

test.each<[string, Outcome, Warning | undefined]>([
  [
    "a wrong spec",
    { kind: "invalid", problems: PROBLEMS },
    { word: "invalidSpec", message: "spec.nodes: must be a list" },
  ],
  [
    "a spec without forms",
    { kind: "incomplete", spec: {}, missing: PROBLEMS },
    { word: "formMissing", message: "spec.nodes: must be a list" },
  ],
  ["a wrong pool", { ...REFUSED, why: "noPool" }, { word: "noPool", message: "m" }],
  ["too many machines", { ...REFUSED, why: "tooMany" }, { word: "tooMany", message: "m" }],
  [
    "pools that are refused",
    { ...REFUSED, why: "poolsRefused" },
    { word: "poolsRefused", message: "m" },
  ],
  [
    "pools that are refused in a deletion",
    { kind: "deleting", why: "poolsRefused", obstacle: "m" },
    { word: "poolsRefused", message: "m" },
  ],
  ["a silent cloud", { ...REFUSED, why: "silent" }, undefined],
  [
    "hosts that are not there, before addresses",
    toServed({ shortages: [NOWHERE], addressProblems: ["network oam is full"] }),
    { word: "noHosts", message: "3 of role worker: no host" },
  ],
  [
    "a full network",
    toServed({ addressProblems: ["network oam is full"] }),
    { word: "noAddress", message: "network oam is full" },
  ],
  [
    "two full networks, each in a sentence",
    toServed({ addressProblems: ["network oam is full. Widen it", "network pxe is full"] }),
    { word: "noAddress", message: "network oam is full. Widen it. Network pxe is full" },
  ],
  [
    "machines with other addresses, before a full network",
    toServed({
      addressDifferences: [{ name: "a", message: "eth0 of a has 192.0.2.9" }],
      addressProblems: ["oam is full"],
    }),
    { word: "addressesDiffer", message: "eth0 of a has 192.0.2.9" },
  ],
  ["hosts that are disabled", toServed({ shortages: [{ ...NOWHERE, kind: "noRoom" }] }), undefined],
  ["machines that are complete", { kind: "served", spec: {}, summary: READY }, undefined],
  ["a deletion", { kind: "deleting", obstacle: "m" }, undefined],
  [
    "machines that a person must confirm to remove",
    toServed({ limit: "confirm it" }),
    { word: "contractionBlocked", message: "confirm it" },
  ],
])("listWarnings() of %s", (_what, outcome, warning) => {
  expect(listWarnings(outcome)).toEqual(warning ? [warning] : []);
});

test("listWarnings() says why hosts have no management controller, each reason once", () => {
  const outcome = { name: "h", state: "Published", notices: [], bmcProblem: "no Secret" } as const;
  const summary = toSummary([0, 1].map((index) => toReport(index, {}, { outcome })));
  expect(listWarnings({ kind: "served", spec: {}, summary })).toEqual([
    { word: "bmcCredentialsUnusable", message: "no Secret" },
  ]);
});

const SERVED: Outcome = { kind: "served", spec: {}, summary: toSummary([toReport(0)]) };
const SILENT: Outcome = { kind: "refused", spec: {}, why: "silent", message: "no answer" };
const STILL: Outcome = { kind: "refused", spec: {}, why: "silent", message: "another timeout" };
const LEAVING: Outcome = { kind: "deleting", obstacle: "no answer" };
const NO_POOL: Outcome = { kind: "refused", spec: {}, why: "noPool", message: "no pool" };
const INVALID: Outcome = {
  kind: "invalid",
  problems: [{ path: "spec.nodes", message: "must be a list" }],
};

function toStatus(outcome: Outcome, before?: VinoStatus): VinoStatus {
  const vino = { metadata: { name: "edge", generation: 1 }, ...(before && { status: before }) };
  return planStatus(vino, { outcome, nowMs: 0 }) ?? before ?? {};
}

test.each<[string, Outcome | undefined, Outcome, string | undefined]>([
  ["a first silence", undefined, SILENT, "cloudSilent: no answer"],
  ["a silence after an answer", SERVED, SILENT, "cloudSilent: no answer"],
  ["a silence during a deletion", SERVED, LEAVING, "cloudSilent: no answer"],
  ["a silence that goes on", SILENT, STILL, undefined],
  ["a deletion during a silence", SILENT, LEAVING, undefined],
  ["an answer", SILENT, SERVED, "cloudBack: The cloud answers again"],
  ["an answer without the pool", SILENT, NO_POOL, "cloudBack: The cloud answers again"],
  ["a wrong spec during a silence", SILENT, INVALID, undefined],
  ["no silence at all", SERVED, NO_POOL, undefined],
])("findSilenceChange() of %s", (_what, before, outcome, said) => {
  const status = before && toStatus(before);
  const change = findSilenceChange(status, toStatus(outcome, status), outcome);
  const text = change && `${change.word}: ${change.message.replace(/\. Landfall.*/, "")}`;
  expect(text).toBe(said);
});

const SPEC: VinoSpec = {
  nodes: [{ name: "worker", count: 2 }],
  xenOrchestra: { template: "t", cpus: 2, memory: "4Gi", countPer: "Total" },
};

const THREE: VinoSpec = { ...SPEC, nodes: [{ name: "worker", count: 3 }] };

const SHOWN = { isDeleting: false, isPaused: false, use: undefined };

type Input = Parameters<typeof listReports>[0];

const nameOf = (index: number): string => toEntry("worker", index).name;

/** The roles of a spec, and what the cloud shows of its machines. @param spec Without it, no machine is wanted */
function look(view: MachinesView, spec?: VinoSpec): Pick<Input, "snapshot" | "roles"> {
  const read = spec && readRoles(spec);
  const roles = read?.isComplete === true ? read.roles : undefined;
  const result = takeSnapshot({
    vino: { metadata: VINO_OWNER, ...(spec && { spec }) },
    owner: VINO_OWNER,
    view,
    entries: [],
    ...(roles && { roles }),
    isConsumed: () => false,
    deletes: true,
  });
  if (result.kind === "refused") throw new Error(result.message);
  return { snapshot: result.snapshot, roles };
}

/** Reports on machines with which nothing goes on, but for what a test says. */
function report(change: Pick<Input, "snapshot" | "roles"> & Partial<Input>): MachineReport[] {
  return listReports({
    addresses: { machines: new Map(), problems: new Map(), notices: [] },
    wanted: [],
    idle: [],
    removals: [],
    staying: [],
    hosts: new Map(),
    shown: [],
    tracker: { find: () => undefined, isWorking: () => false },
    isGone: () => false,
    now: { monotonicMs: 0, wallMs: 0 },
    isLeft: () => false,
    ...change,
  });
}

test("listReports() reports on machines that are wanted, wait, stay and go, in their order, with their hosts", () => {
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
  const tracker = new ProgressTracker({
    clock: new ManualClock(),
    machines: new MachinesDouble(),
    work: AT_REST,
  });
  for (const task of [...tasks, ...removals]) tracker.review(task, view, undefined);
  const differences = ["edge-worker has another address"];
  const found = report({
    snapshot,
    roles,
    addresses,
    wanted: tasks,
    idle,
    removals,
    staying: [{ machine: toKnown("worker", 12), why: "x", isKept: false }],
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
  });
  expect(
    found.map(({ entry, isWanted }) => [
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
    [12, "InUse", false, "h1", "xcp-1"],
  ]);
  expect(found[0]?.problems).toMatchObject([{ kind: "notice", message: differences[0] }]);
  expect(found[1]?.entry.message).toBe("oam is full");
});

test("listReports() tells machines with other addresses apart from those without", () => {
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
  expect(found.map(({ entry, problems }) => [entry.state, problems])).toEqual([
    ["Ready", [{ reason: "AddressesDiffer", kind: "notice", message: say(0) }]],
    ["Ready", [{ reason: "AddressesDiffer", kind: "notice", message: say(1) }]],
    ["Ready", []],
  ]);
});

test("listReports() says of what a person would have to decide that it stays, if the Vino is done with it", () => {
  const view = toView([toMachine("worker", 0)]);
  const looked = look(view);
  const [machine] = looked.snapshot.placement.surplus;
  const removals = machine ? [toRemovalTask(VINO_OWNER, machine)] : [];
  const tracker = new ProgressTracker({
    clock: new ManualClock(),
    machines: new MachinesDouble(),
    work: AT_REST,
  });
  for (const task of removals) {
    tracker.review(task, view, undefined);
    tracker.noteFailure(task.name, { kind: "decision", message: "VM a is hidden" });
  }
  expect(report({ ...looked, removals, tracker })).toMatchObject([
    { entry: { message: "VM a is hidden" }, problems: [{ kind: "decision" }] },
  ]);
  const message =
    "What exists of it stays in the cloud, because deletionPolicy is Retain. VM a is hidden";
  expect(report({ ...looked, removals, tracker, isLeft: () => true })).toMatchObject([
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
])("listReports() of a machine %s", (_title, pools, isShown, isSilent) => {
  const looked = look(toView(isShown ? [toMachine("worker", 0)] : [], { pools }));
  const [machine] = looked.snapshot.placement.surplus;
  const known = machine ?? toKnown("worker", 0);
  const { machine: _shown, ...limited } = known;
  const staying = [{ machine: limited, why: "x", isKept: false }];
  const machines = report({ ...looked, staying });
  expect(machines.map((one) => one.isSilent === true)).toEqual([isSilent]);
});
