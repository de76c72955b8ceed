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
import type { Addresses } from "../../../../lib/controllers/vino/addresses/types.ts";
import type { HostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import {
  type Assignment,
  assignWanted,
  type MachineTask,
  toRemovalTask,
} from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { ProgressTracker } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import { takeSnapshot } from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/resource/role_form.ts";
import type { MachinesView } from "../../../../lib/cloud/capabilities/machines.ts";
import {
  type MachineReport,
  reportMachine,
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
const VINO_OF_SPEC: Vino = { metadata: VINO_OWNER, spec: SPEC };
const HOST: HostFacts = {
  name: "edge-worker-0",
  uid: "u",
  resourceVersion: "1",
  vinoUid: VINO_OWNER.uid,
  labels: {},
  record: new Set(),
  machineName: undefined,
  machineId: undefined,
  hardwareDetails: undefined,
  bootMac: undefined,
  isPaused: false,
  isDeleting: false,
  use: undefined,
  wayOut: undefined,
  bmcAddress: undefined,
  isBmcOpen: true,
  error: undefined,
};

type Input = Parameters<typeof reportMachine>[0];

/** What the cloud shows of the machines of a Vino. @param spec Without it, no machine is wanted */
function look(view: MachinesView, spec?: VinoSpec): Pick<Input["work"], "input" | "snapshot"> {
  const read = spec && readRoles(spec);
  const roles = read?.isComplete === true ? read.roles : undefined;
  const result = takeSnapshot({
    vino: VINO_OF_SPEC,
    owner: VINO_OWNER,
    view,
    entries: [],
    ...(roles && { roles }),
    isConsumed: () => false,
    deletes: true,
  });
  if (result.kind === "refused") throw new Error(result.message);
  const desired = spec && roles && { desired: { spec, roles } };
  return {
    input: { vino: VINO_OF_SPEC, deletes: true, ...desired },
    snapshot: result.snapshot,
  };
}

/** Reports on a machine with which nothing goes on, but for what a test says. */
function report(
  looked: ReturnType<typeof look>,
  assignment: Assignment,
  change: Partial<Input> = {},
): MachineReport {
  const found = reportMachine({
    work: { ...looked, assignment, mayStep: false },
    progress: undefined,
    outcome: undefined,
    host: undefined,
    now: { monotonicMs: 0, wallMs: 0 },
    ...change,
  });
  if (found === undefined) throw new Error("there is nothing to say");
  return found;
}

function review(task: MachineTask, view: MachinesView): ProgressTracker {
  const clock = new ManualClock();
  const tracker = new ProgressTracker({ clock, machines: new MachinesDouble(), work: AT_REST });
  tracker.review(task, view, undefined);
  return tracker;
}

describe("reportMachine()", () => {
  const view = toView(
    [0, 1].map((index) => toMachine("worker", index)),
    { hosts: [toDoubleHost("h1", { name: "xcp-1" })] },
  );
  const looked = look(view, SPEC);
  const { desired } = looked.input;
  const toAddresses = (of: Partial<Addresses>): Addresses => ({
    machines: new Map(),
    problems: new Map(),
    notices: [],
    ...of,
  });
  const nameOf = (index: number): string => toEntry("worker", index).name;
  const plan = (addresses: Addresses): Assignment[] =>
    assignWanted(looked.snapshot, {
      spec: SPEC,
      roles: desired?.roles ?? new Map(),
      addresses,
      hasBmc: false,
    });

  test("says what was done with the host of a wanted machine", () => {
    const [assignment] = plan(toAddresses({ machines: new Map([[nameOf(0), []]]) }));
    const { task } = assignment ?? {};
    if (assignment === undefined || task === undefined) throw new Error("it is wanted");
    const differences = ["edge-worker-0 has another address"];
    const outcome = { name: "edge-worker-0", state: "Paused", message: "is paused" } as const;
    const found = report(looked, assignment, {
      progress: review(task, view).find(task.name),
      outcome: { ...outcome, notices: [], differences },
      host: HOST,
    });
    expect(found).toMatchObject({
      isWanted: true,
      entry: { host: "h1", hostDisplayName: "xcp-1", bareMetalHost: "Paused" },
      problems: [{ kind: "notice", message: differences[0] }],
    });
  });

  test("says why nothing can be done for a wanted machine, and tells apart those with other addresses", () => {
    const problems = new Map([
      [nameOf(0), "eth0 has 192.0.2.9. Set it back"],
      [nameOf(1), "oam is full"],
    ]);
    const idle = plan(toAddresses({ problems, differing: new Set([nameOf(0)]) }));
    const found = idle.map((one) => report(looked, one, { host: HOST }));
    expect(found.map(({ entry }) => [entry.state, entry.bareMetalHost, entry.message])).toEqual([
      ["Ready", "Published", "eth0 has 192.0.2.9. Set it back"],
      ["Ready", "Published", "oam is full"],
    ]);
    expect(found.map(({ problems: [first] }) => first?.reason)).toEqual([
      "AddressesDiffer",
      undefined,
    ]);
  });

  const known = toKnown("worker", 7);
  const task = toRemovalTask(VINO_OWNER, { ...known, known });
  const surplus = { name: known.name, role: "worker", index: 7, isWanted: false, known };
  const going = look(toView([toMachine("worker", 7)]));

  test.each<[string, Partial<Assignment>, Partial<Input>, string, boolean]>([
    ["that may not go", { heldBy: "confirm it" }, {}, "confirm it", false],
    [
      "whose host is in use",
      { task },
      {
        outcome: { name: "edge-worker-7", state: "InUse", message: "is used", notices: [] },
      },
      "is used",
      false,
    ],
    [
      "whose host goes",
      { task },
      { outcome: { name: "edge-worker-7", state: "Removing", notices: [] } },
      "BareMetalHost edge-worker-7 is being deleted",
      false,
    ],
    [
      "that stays without its host",
      { keptBecause: "Retain" },
      { outcome: { name: "edge-worker-7", state: "Gone", notices: [] } },
      "Retain",
      true,
    ],
  ])("says of a machine %s why it stays", (_title, assignment, change, message, isKept) => {
    const found = report(going, { ...surplus, ...assignment }, change);
    expect(found).toMatchObject({ isWanted: false, entry: { message } });
    expect(found.isKept === true).toBe(isKept);
  });

  test("says of what a person would have to decide that it stays, if the Vino is done with it", () => {
    const tracker = review(task, going.snapshot.view);
    tracker.noteFailure(task.name, { kind: "decision", message: "VM a is hidden" });
    const change = { progress: tracker.find(task.name) };
    expect(report(going, { ...surplus, task }, change)).toMatchObject({
      entry: { message: "VM a is hidden" },
      problems: [{ kind: "decision" }],
    });
    const retains = { ...going, input: { ...going.input, deletes: false } };
    const message =
      "What exists of it stays in the cloud, because deletionPolicy is Retain. VM a is hidden";
    expect(report(retains, { ...surplus, task }, change)).toMatchObject({
      entry: { message },
      problems: [],
      isKept: true,
    });
  });

  const LYON = POOL;
  const OTHER = { ...POOL, id: "pool-2", name: "paris" };
  const lose = (pool: typeof POOL): typeof POOL => ({ ...pool, isComplete: false });
  const { machine: _shown, ...unseen } = known;

  test.each<[string, readonly (typeof POOL)[], boolean]>([
    ["that no list shows, although all pools answer", [LYON, OTHER], false],
    ["that may be in any pool", [LYON, lose(OTHER)], true],
    ["without any pool", [], true],
  ])("says whether the cloud is silent about a machine %s", (_title, pools, isSilent) => {
    const { input, snapshot } = look(toView([], { pools }));
    const found = report({ input, snapshot }, { ...surplus, known: unseen, heldBy: "x" });
    expect(found.isSilent === true).toBe(isSilent);
  });
});
