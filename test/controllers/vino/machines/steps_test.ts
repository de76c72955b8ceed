/**
 * The reconcile of single machines, which of them are due, and what is remembered of them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { LeadershipLostError } from "../../../../lib/core/fence.ts";
import type { DoubleMachineStep } from "../../../support/vino/machines_double.ts";
import { nameOf, startStepsRig, toTask } from "../../../support/vino/steps_rig.ts";
import type {
  Machine,
  MachinePlan,
  MachinesView,
} from "../../../../lib/cloud/capabilities/machines.ts";
import {
  listForgotten,
  type MachineTask,
  toMachineRequests,
  toRemovalTask,
  assignWanted,
  toMachineSpec,
  toOwner,
} from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import type { HostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import {
  toEntry,
  toKnown,
  toMachine,
  toObject,
  toView,
  VINO_OWNER,
} from "../../../support/vino/known.ts";
import { toProblem } from "../../../support/vino/reports.ts";
import {
  type RoleForm,
  readRoles,
  type Role,
} from "../../../../lib/controllers/vino/resource/role_form.ts";
import {
  type Snapshot,
  takeSnapshot,
} from "../../../../lib/controllers/vino/placement/snapshot.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import type {
  HostState,
  MachineEntry,
} from "../../../../lib/controllers/vino/resource/vino_machine.ts";
import { WorkList } from "../../../../lib/controllers/vino/machines/work_list.ts";
import { Sightings, toInterimPlan } from "../../../../lib/controllers/vino/placement/known.ts";
import {
  holds,
  keepFound,
  listSetbacks,
} from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";

const FULL = toProblem("retry", "no room");
const NOTICE = toProblem("notice", "worth knowing");
const LEFT = { state: "Removing", problems: [], parts: [] } as const;
const HOST = { name: "h", vinoUid: VINO_OWNER.uid } as unknown as HostFacts;

function toRemoval(): MachineTask {
  const known = toKnown("worker", 0, "h1", { entry: toEntry("worker", 0, { state: "Removing" }) });
  const { name, identity } = toTask(0);
  return { name, identity, known, goal: { kind: "remove" } };
}

describe("the reconcile of a machine", () => {
  test("observes once for all that begin together, and makes the next steps of each", async () => {
    const { round } = startStepsRig();
    expect(await round([toTask(0), toTask(1)])).toEqual([
      "look worker-0,worker-1",
      `create VM ${nameOf(0)}`,
      `create VM ${nameOf(1)}`,
    ]);
  });

  test("says which steps were made although one that follows them directly fails", async () => {
    const { round, cloud, tracker, events } = startStepsRig();
    cloud.plan = (_view, spec) => {
      const step = (kind: "configure" | "create", isDirect: boolean): DoubleMachineStep => {
        return { summary: kind, kind, name: nameOf(0), isDirect, spec, isNews: true };
      };
      const steps = [step("create", false), step("configure", true)];
      return { state: "Absent", steps, problems: [], parts: [], needsLook: true };
    };
    cloud.onStep = ({ kind }) => {
      if (kind === "configure") throw new CloudError("protocol", "no room");
    };
    await round([toTask(0)]);
    const failure = `MachineFailure: ${nameOf(0)}: Cannot configure: no room`;
    expect(events).toEqual(["MachineCreated", failure]);
    expect(tracker.find(nameOf(0))?.failure?.message).toBe("Cannot configure: no room");
  });

  test("lets the others end if the whole cloud fails", async () => {
    const { round, cloud, tracker } = startStepsRig();
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("unreachable", "gone");
    };
    await expect(round([toTask(0), toTask(1)])).rejects.toThrow("gone");
    expect(cloud.world.has(nameOf(1))).toBe(true);
    expect(tracker.find(nameOf(0))?.failure).toBeUndefined();
    cloud.onStep = () => undefined;
    await round([toTask(0)]);
    expect(cloud.world.has(nameOf(0))).toBe(true);
  });

  test("throws a lost leadership first", async () => {
    const { round, cloud } = startStepsRig();
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("unreachable", "gone");
      throw new LeadershipLostError("another leads");
    };
    await expect(round([toTask(0), toTask(1)])).rejects.toThrow("another leads");
  });

  test("gives a seed only to a machine that is not complete", async () => {
    const asked: string[] = [];
    const { round, cloud } = startStepsRig({
      readSeed: async (_vino, { name }) => {
        asked.push(name);
        return { label: "cidata", files: { "user-data": "x" } };
      },
    });
    for (let at = 0; at < 4; at += 1) await round([toTask(0)]);
    expect(cloud.world.get(nameOf(0))).toMatchObject({ stage: "ready", seed: { label: "cidata" } });
    expect(asked).toHaveLength(3);
  });

  test("leaves a machine whose seed cannot be read, and goes on with others", async () => {
    const { round, cloud, tracker } = startStepsRig({
      readSeed: async (_vino, { name }) => {
        if (name === nameOf(0)) throw new Error("there is no Secret");
        return undefined;
      },
    });
    await round([toTask(0), toTask(1)]);
    expect([...cloud.world.keys()]).toEqual([nameOf(1)]);
    expect(tracker.find(nameOf(0))?.failure?.message).toBe("there is no Secret");
  });

  test("makes no machine whose host could not be published, unless the other host goes", async () => {
    for (const isDeleting of [false, true]) {
      const host = { ...HOST, labels: {}, vinoUid: "v2", isDeleting };
      const { round, tracker } = startStepsRig({ host });
      const create = isDeleting ? [`create VM ${nameOf(0)}`] : [];
      expect(await round([toTask(0)])).toEqual(["look worker-0", ...create]);
      if (isDeleting) continue;
      expect(tracker.find(nameOf(0))?.failure).toEqual({
        kind: "decision",
        message: expect.stringMatching(
          /^BareMetalHost h was made for another Vino. Landfall makes no machine that it cannot publish/,
        ),
      });
    }
  });

  test.each<[string, Partial<MachinePlan<DoubleMachineStep>>, readonly string[]]>([
    ["says that the cloud could not make a machine", { problems: [FULL] }, ["MachineFailure: "]],
    ["takes a lost pool for no failure of a machine", { state: "Unknown", problems: [FULL] }, []],
    ["takes a notice for no failure", { state: "Ready", problems: [NOTICE] }, []],
  ])("%s", async (_title, plan, reasons) => {
    const { round, cloud, events } = startStepsRig();
    const base = { state: "Absent", steps: [], problems: [], parts: [] } as const;
    cloud.plan = ({ isForChange }) =>
      isForChange ? { ...base, ...plan } : { ...base, needsLook: true };
    await round([toTask(0)]);
    expect(events).toEqual(reasons.map((reason) => `${reason}${nameOf(0)}: no room`));
  });

  test.each([
    ["asks whether a machine is gone", { isQuestion: true }, undefined],
    ["deletes what no machine ever used", { isCleanup: true }, undefined],
    ["removes nothing of a machine", {}, "The cloud still has something of the machine"],
  ])("%s although the Vino deletes none", async (_title, flags, message) => {
    const step = { summary: "ask", kind: "detach", name: nameOf(0), ...flags } as const;
    const { round, cloud, tracker } = startStepsRig({ deletes: false });
    cloud.planRemoval = () => ({ ...LEFT, steps: [step], needsLook: true });
    await round([toRemoval()]);
    // There is no such machine: so the question fails, and not because of the policy.
    const failure = tracker.find(nameOf(0))?.failure?.message;
    expect(failure).toStartWith(message ?? "Cannot ask: ");
  });

  test.each<[HostState, number]>([
    ["Gone", 1],
    ["Removing", 0],
    ["InUse", 0],
    ["Paused", 0],
    ["Moved", 0],
    ["Refused", 0],
    ["NameTaken", 0],
  ])("removes a machine whose host is %s by now: %d steps", async (leavingHost, steps) => {
    const { round, cloud } = startStepsRig({ leavingHost });
    const step = { summary: "delete it", kind: "detach", name: nameOf(0) } as const;
    cloud.planRemoval = () => ({ ...LEFT, steps: [step], needsLook: true });
    const asked = await round([toRemoval()]);
    expect(asked.filter((one) => !one.startsWith("look"))).toHaveLength(steps);
  });

  test("makes no machine whose record has no place", async () => {
    const foreign = toObject(toEntry("worker", 0), { ...VINO_OWNER, uid: "another" });
    const { round, tracker } = startStepsRig({ objects: [foreign] });
    expect(await round([toTask(0)])).toEqual(["look worker-0"]);
    const failure = tracker.find(nameOf(0))?.failure?.message;
    expect(failure).toStartWith("VinoMachine edge-worker-0 is not for this machine. ");
  });

  test("makes a machine again that vanished, and records that", async () => {
    const known = toKnown("worker", 0, "h1", { entry: toEntry("worker", 0) });
    const { round, events } = startStepsRig();
    expect(await round([{ ...toTask(0), known }])).toContain(`create VM ${nameOf(0)}`);
    expect(events[0]).toStartWith(`MachineVanished: Machine ${nameOf(0)} does not exist any more`);
  });

  test("does not make a machine again whose host is in use", async () => {
    const { round, tracker } = startStepsRig({
      host: { ...HOST, use: 'is used by Metal3Machine "a"' },
    });
    expect(await round([toTask(0)])).toEqual(["look worker-0"]);
    expect(tracker.find(nameOf(0))?.failure?.message).toStartWith(
      'The machine does not exist any more. BareMetalHost edge-worker-0 is used by Metal3Machine "a". ',
    );
  });
});

const FORM: RoleForm = {
  template: "debian",
  cpus: 2,
  memoryBytes: 4_294_967_296,
  disks: [
    { name: "root", sizeBytes: 10 },
    { name: "data", sizeBytes: 20, sr: "fast" },
  ],
  countPer: "Host",
  boot: "Template",
  hosts: {},
};
const INTERFACES = ["oam", "storage"].map((network, at) => ({
  name: `eth${at}`,
  network,
  mac: `02:00:00:00:00:0${at}`,
  ...(at === 1 && { mtu: 9000 }),
  addresses: [],
  routes: [],
  dnsServers: [],
}));
const SOURCE = {
  owner: VINO_OWNER,
  spec: { xenOrchestra: { networks: { oam: "Pool-wide network" } } },
  form: FORM,
  role: "worker",
  index: 3,
  poolId: "p",
  hostId: "h",
  interfaces: INTERFACES,
  hasBmc: false,
};

test("toMachineSpec() maps networks, storage and MTUs", () => {
  expect(toMachineSpec(SOURCE)).toEqual({
    owner: VINO_OWNER,
    role: "worker",
    index: 3,
    poolId: "p",
    hostId: "h",
    template: "debian",
    cpus: 2,
    memoryBytes: 4_294_967_296,
    disks: [
      { name: "root", sizeBytes: 10 },
      { name: "data", sizeBytes: 20, storage: "fast" },
    ],
    interfaces: [
      { name: "eth0", network: "Pool-wide network", mac: "02:00:00:00:00:00" },
      { name: "eth1", network: "storage", mac: "02:00:00:00:00:01", mtu: 9000 },
    ],
    boot: "disk",
    isStarted: true,
  });
});

test.each([
  ["Template", false, "disk", true],
  ["Template", true, "disk", true],
  ["Network", false, "network", true],
  ["Network", true, "network", false],
] as const)(
  "toMachineSpec() for %s with a management controller: %p",
  (boot, hasBmc, first, isStarted) => {
    const spec = toMachineSpec({ ...SOURCE, form: { ...FORM, boot }, hasBmc });
    expect(spec).toMatchObject({ boot: first, isStarted });
  },
);

test("toOwner() reads namespace, name and UID", () => {
  expect(toOwner({ metadata: { ...VINO_OWNER, resourceVersion: "7" } })).toEqual(VINO_OWNER);
});

const SPEC: VinoSpec = {
  networks: [{ name: "oam" }],
  nodes: [{ name: "worker", count: 2, networkInterfaces: [{ name: "eth0", network: "oam" }] }],
  xenOrchestra: { template: "t", cpus: 2, memory: "4Gi", countPer: "Total" },
};

function toScene(
  view: MachinesView = toView([toMachine("worker", 0)]),
  entries: readonly MachineEntry[] = [],
): { snapshot: Snapshot; roles: ReadonlyMap<string, Role> } {
  const read = readRoles(SPEC);
  if (!read.isComplete) throw new Error("the form is complete");
  const { roles } = read;
  const vino = { metadata: VINO_OWNER, spec: SPEC };
  const rest = { entries, isConsumed: () => false, deletes: true };
  const result = takeSnapshot({ vino, owner: VINO_OWNER, view, roles, ...rest });
  if (result.kind === "refused") throw new Error(result.message);
  return { snapshot: result.snapshot, roles };
}

const [FIRST, SECOND] = [toEntry("worker", 0).name, toEntry("worker", 1).name];

test("toMachineRequests() asks for each machine that must exist", () => {
  const { snapshot, roles } = toScene();
  expect(toMachineRequests(snapshot, roles)).toEqual([
    { name: FIRST, interfaces: [{ name: "eth0", network: "oam" }] },
    { name: SECOND, interfaces: [{ name: "eth0", network: "oam" }] },
  ]);
});

describe("assignWanted()", () => {
  test("makes a task of each machine with addresses, and says why others wait", () => {
    const { snapshot, roles } = toScene();
    const addresses = {
      machines: new Map([[FIRST, []]]),
      problems: new Map([[SECOND, "oam has no free address"]]),
      notices: [],
    };
    const assignments = assignWanted(snapshot, { spec: SPEC, roles, addresses, hasBmc: false });
    const goal = { spec: { poolId: "pool-1", cpus: 2 } };
    expect(assignments).toMatchObject([
      { name: FIRST, isWanted: true, task: { name: FIRST, hostId: "h1", goal } },
      { name: SECOND, isWanted: true, heldBy: "oam has no free address" },
    ]);
    expect(assignments[1]?.task).toBeUndefined();
  });

  test("leaves a machine alone whose host may be in a part of the cloud that is lost", () => {
    const pools = [
      { id: "pool-1", name: "lyon", isComplete: true },
      { id: "pool-2", name: "paris", isComplete: false },
    ];
    const entry = toEntry("worker", 0, { machineId: "vm-1", host: "h9" });
    const view = toView([], { pools });
    const read = readRoles(SPEC);
    if (!read.isComplete) throw new Error("the form is complete");
    const vino = {
      metadata: VINO_OWNER,
      spec: { ...SPEC, xenOrchestra: { ...SPEC.xenOrchestra, pool: "lyon" } },
    };
    const rest = { entries: [entry], isConsumed: () => false, deletes: true };
    const result = takeSnapshot({ vino, owner: VINO_OWNER, view, roles: read.roles, ...rest });
    if (result.kind === "refused") throw new Error(result.message);
    const machines = new Map([FIRST, SECOND].map((name) => [name, []]));
    const addresses = { machines, problems: new Map(), notices: [] };
    const options = { spec: SPEC, roles: read.roles, addresses, hasBmc: false };
    const [first, second] = assignWanted(result.snapshot, options);
    const heldBy =
      "The cloud does not show its host h9: pool paris is disconnected or still loading";
    expect(first).toMatchObject({ name: FIRST, heldBy });
    expect(first?.task).toBeUndefined();
    expect(second?.task?.name).toBe(SECOND);
  });
});

test("toRemovalTask() names the machine, and wants no spec", () => {
  expect(toRemovalTask(VINO_OWNER, toKnown("worker", 3))).toMatchObject({
    name: toEntry("worker", 3).name,
    identity: { role: "worker", index: 3 },
    goal: { kind: "remove" },
  });
});

test("listForgotten() finds machines with addresses that are neither wanted nor known, of this Vino alone", () => {
  const { snapshot } = toScene();
  const forgotten = toEntry("worker", 9).name;
  const holders = [FIRST, SECOND, forgotten, "vino-00000000-worker-9", "something"];
  expect(listForgotten(VINO_OWNER, holders, snapshot).map(({ name }) => name)).toEqual([forgotten]);
});

const machine: Machine = toMachine("worker", 0);
const { name } = machine;
const toShownPlan = (state: MachinePlan["state"], shown?: Machine): MachinePlan => ({
  state,
  steps: [],
  problems: [],
  parts: [],
  ...(shown && { machine: shown }),
});

function removeMachine(): Sightings {
  const sightings = new Sightings();
  sightings.note(name, toShownPlan("Ready", machine), 5);
  sightings.noteGone(name, 10);
  return sightings;
}

describe("Sightings", () => {
  test.each(["Unknown", "Creating", "Removing"] as const)(
    "prove nothing by a look that found it %s and did not show it",
    (state) => {
      const sightings = new Sightings();
      sightings.note(name, toShownPlan("Ready", machine), 5);
      sightings.note(name, toShownPlan(state), 7);
      expect(sightings.find(name, 5)).toMatchObject({ atMs: 5, machine, isReady: true });
      expect(sightings.find(name, 6)).toBeUndefined();
    },
  );
});

describe("Sightings of a machine whose removal is over", () => {
  test.each<[string, (sightings: Sightings) => void, boolean]>([
    ["a look finds it absent", (one) => one.note(name, toShownPlan("Absent"), 12), true],
    ["a look finds it being made", (one) => one.note(name, toShownPlan("Creating"), 12), false],
    ["a look does not know", (one) => one.note(name, toShownPlan("Unknown"), 12), false],
    ["a look shows it", (one) => one.note(name, toShownPlan("Ready", machine), 12), false],
    ["it is begun", (one) => one.noteBegun(name), false],
    ["another one is begun", (one) => one.noteBegun("vino-1b4e28ba-worker-9"), true],
  ])("after %s", (_what, change, isGone) => {
    const sightings = removeMachine();
    change(sightings);
    expect(sightings.isGone(name)).toBe(isGone);
  });
});

test.each<["exist" | "remove", Machine | undefined, boolean, MachinePlan["state"]]>([
  ["exist", machine, true, "Ready"],
  ["exist", machine, false, "Unfinished"],
  ["exist", undefined, false, "Absent"],
  ["remove", machine, true, "Removing"],
  ["remove", undefined, false, "Removing"],
])("toInterimPlan() to %s: %#", (goal, shown, isReady, state) => {
  const plan = toInterimPlan(goal, { isReady, ...(shown && { machine: shown }) });
  expect(plan).toMatchObject({ state, steps: [], needsLook: true });
  expect(plan.machine).toEqual(shown);
});

function toPlan(change: Partial<MachinePlan>): MachinePlan {
  return { state: "Ready", steps: [], problems: [], parts: [], ...change };
}

const NEW = toProblem("retry", "new");
const OLD = toProblem("retry", "old");
const BEFORE = { setbacks: [OLD] };

describe("listSetbacks()", () => {
  test.each<[string, Partial<MachinePlan>, readonly string[]]>([
    ["of a look that finds why", { state: "Absent", problems: [NEW] }, ["new"]],
    ["of a look that finds nothing in the way", { state: "Absent" }, []],
    ["of an inventory that shows no machine", { state: "Absent", needsLook: true }, ["old"]],
    ["while it is made", { state: "Creating" }, ["old"]],
    ["once it is made", { state: "Unfinished" }, []],
    ["of a machine that may be in a lost pool", { state: "Unknown" }, []],
  ])("%s", (_title, plan, expected) => {
    const found = listSetbacks(toPlan(plan), BEFORE);
    expect(found.map(({ message }) => message)).toEqual([...expected]);
  });

  test("takes only what passes by itself, and needs nothing from before", () => {
    const problems = [toProblem("notice", "n"), toProblem("decision", "d")];
    expect(listSetbacks(toPlan({ state: "Absent", problems }), BEFORE)).toEqual([]);
    expect(listSetbacks(toPlan({ state: "Creating" }), undefined)).toEqual([]);
  });
});

test("keepFound() keeps failures beside notices, as long as a look is needed", () => {
  const notice = toProblem("notice", "n");
  const before = toPlan({ problems: [notice, OLD] });
  const kept = keepFound(toPlan({ needsLook: true }), before, []);
  expect(kept.problems).toEqual([OLD, notice]);
  expect(keepFound(toPlan({}), before, []).problems).toEqual([]);
});

test("holds() only what a look found that no failure followed", () => {
  const plan = toPlan({ problems: [toProblem("notice", "n")], shown: "a" });
  const next = toPlan({ shown: "a" });
  expect(holds({ plan, failures: 0, foundMs: 1 }, next)).toBe(true);
  expect(holds({ plan, failures: 1, foundMs: 1 }, next)).toBe(false);
  expect(holds({ plan, failures: 0 }, next)).toBe(false);
});

describe("pickDue()", () => {
  test("looks at machines at rest every hour, some at a time, and when nothing else is due", async () => {
    const { round, clock } = startStepsRig({ machinesMax: 2 });
    const tasks = [0, 1, 2].map(toTask);
    const nothing: string[] = [];
    for (let at = 0; at < 8; at += 1) await round(tasks);
    expect(await round(tasks)).toEqual(nothing);
    await clock.advance(3_590_000);
    expect(await round(tasks)).toEqual(nothing);
    await clock.advance(10_000);
    const more = [...tasks, toTask(3)];
    expect(await round(more)).toEqual(["look worker-3", `create VM ${nameOf(3)}`]);
    await round(more);
    await round(more);
    expect(await round(more)).toEqual(["look worker-3"]);
    expect(await round(more)).toEqual(["look worker-0,worker-1"]);
    expect(await round(more)).toEqual(["look worker-2"]);
    expect(await round(more)).toEqual(nothing);
  });

  test("gives the place of a machine that failed to others until it is due again", async () => {
    const { round, cloud, clock } = startStepsRig({ machinesMax: 1 });
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("protocol", "no room");
    };
    const tasks = [toTask(0), toTask(1)];
    await round(tasks);
    await round(tasks);
    expect([...cloud.world.keys()]).toEqual([nameOf(1)]);
    cloud.onStep = () => undefined;
    await clock.advance(5_000);
    for (let at = 0; at < 4; at += 1) await round(tasks);
    expect(cloud.world.size).toBe(2);
  });
});

test("a failed look at machines of one Vino fails those of no other", async () => {
  const asked: string[] = [];
  const { observation } = new WorkList({
    observe: async ({ machines = [] }) => {
      asked.push(machines.map(({ owner, index }) => `${owner.name}-${index}`).join(" "));
      if (machines.some(({ owner }) => owner.name === "broken")) throw new Error("no answer");
      return toView([]);
    },
  });
  const machines = [["edge", 0] as const, ["broken", 0] as const, ["edge", 1] as const];
  for (const [name, index] of machines) observation.expect(`${name}/${index}`);
  const ends = await Promise.allSettled(
    machines.map(([name, index]) => {
      const owner = { ...VINO_OWNER, name, uid: name };
      const { signal } = new AbortController();
      return observation.observe(`${name}/${index}`, { owner, role: "worker", index }, signal);
    }),
  );
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(asked).toEqual(["edge-0 broken-0 edge-1", "edge-0 edge-1", "broken-0"]);
});

test("a machine is never given to two reconciles, and only its own one ends its work", async () => {
  const { work, toWork, cloud } = startStepsRig();
  const keys: string[] = [];
  const ended: string[] = [];
  work.started.subscribe((some) => void keys.push(...some));
  work.ended.subscribe((some) => void ended.push(...some));
  work.start([toWork(toTask(0))]);
  const [key = ""] = keys;
  const first = work.find(key);
  work.start([toWork(toTask(0))]);
  expect(keys).toEqual([key]);
  if (first === undefined || work.find(key) !== first) throw new Error("it was replaced");
  work.end(key, { ...first });
  expect(work.find(key)).toBe(first);
  work.end(key, first);
  expect(work.find(key)).toBeUndefined();
  expect(ended).toEqual([`${VINO_OWNER.namespace}/${VINO_OWNER.name}`]);
  expect(cloud.calls).toEqual([]);
});
