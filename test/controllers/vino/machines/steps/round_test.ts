import { describe, expect, test } from "bun:test";
import type { MachinePlan } from "../../../../../lib/cloud/capabilities/machines.ts";
import { MachineEvents } from "../../../../../lib/controllers/vino/machines/events.ts";
import { MachineRecords } from "../../../../../lib/controllers/vino/machines/machine_records.ts";
import { runRound } from "../../../../../lib/controllers/vino/machines/steps/round.ts";
import { NeverComplete } from "../../../../../lib/controllers/vino/machines/removal/never_complete.ts";
import type { MachineTask } from "../../../../../lib/controllers/vino/machines/steps/tasks.ts";
import type { HostFacts } from "../../../../../lib/controllers/vino/hosts/host_facts.ts";
import { silentLogger } from "../../../../../lib/core/log.ts";
import { toEntry, toKnown, toView, VINO_OWNER } from "../../../../support/vino/known.ts";
import type { DoubleMachineStep } from "../../../../support/vino/machines_double.ts";
import { toProblem } from "../../../../support/vino/reports.ts";
import { nameOf, startStepsRig, toTask } from "../../../../support/vino/steps_rig.ts";

const REPORT = {
  wantedCount: 0,
  machines: [],
  shortages: [],
  addressProblems: [],
  notices: [],
  hosts: [],
  removals: [],
};

const FULL = toProblem("retry", "no room");
const NOTICE = toProblem("notice", "worth knowing");
const LEFT = { state: "Removing", problems: [], parts: [] } as const;

function toRemoval(state: "Ready" | "Removing"): MachineTask {
  const known = toKnown("worker", 0, "h1", { entry: toEntry("worker", 0, { state }) });
  const { name, identity } = toTask(0);
  return { name, identity, known, goal: { kind: "remove" } };
}

interface Asked {
  /** Answers of the Vino. @default {true} */
  readonly confirms?: boolean;
  readonly announces?: boolean;
  readonly deletes?: boolean;
  /** The steps of a removal. @default {those of the machine} */
  readonly steps?: readonly DoubleMachineStep[];
  /** What the cloud says of a machine that must exist. @default {that it can be made} */
  readonly plan?: Partial<MachinePlan<DoubleMachineStep>>;
  /** What uses the host. */
  readonly use?: string;
  /** A host of something else that has the name. */
  readonly foreign?: Pick<HostFacts, "isDeleting">;
}

/** Runs one round with a task. */
async function run(task: MachineTask, asked: Asked = {}) {
  const { confirms = true, announces = true, deletes = true, steps, plan, use, foreign } = asked;
  const { cloud, clock, options } = startStepsRig();
  if (steps) cloud.planRemoval = () => ({ ...LEFT, steps, needsLook: true });
  const base = { state: "Absent", steps: [], problems: [], parts: [] } as const;
  if (plan) {
    cloud.plan = ({ isForChange }) =>
      isForChange ? { ...base, ...plan } : { ...base, needsLook: true };
  }
  await clock.advance(1);
  const said: string[] = [];
  const events: string[] = [];
  const machineEvents = new MachineEvents({
    clock,
    events: { record: (_object, { reason }) => void events.push(reason) },
    log: silentLogger,
    metrics: { countMachine: () => undefined },
    warn: (_vino, { reason }, message) => void events.push(`${reason}: ${message}`),
  });
  const { namespace, name, uid } = VINO_OWNER;
  const vino = { metadata: { namespace, name, uid } };
  const host = { name: "h", vinoUid: uid, use } as unknown as HostFacts;
  const other = { ...host, labels: {}, vinoUid: "v2", ...foreign };
  const hosts = {
    find: () => (foreign ? other : use === undefined ? undefined : host),
    list: () => [],
    forget: () => undefined,
    publish: () => Promise.reject(new Error("not here")),
  };
  const { signal } = new AbortController();
  const store = {
    find: () => vino,
    read: () => Promise.resolve(vino),
    patch: () => Promise.resolve(vino),
  };
  const context = {
    signal,
    records: new MachineRecords(vino, store, signal),
    confirm: async () => (said.push("confirm"), confirms),
    announce: async () => (said.push("announce"), announces),
  };
  options.tracker.review(task, toView([], { observedAtMs: -1 }), undefined);
  const isMoving = await runRound(
    { input: { vino, deletes }, tasks: [task], toReport: () => REPORT },
    {
      ...options,
      neverComplete: new NeverComplete(),
      hosts,
      machineEvents,
      readSeed: async () => undefined,
    },
    context,
  );
  const failure = options.tracker.find(task.name)?.failure?.message;
  return { isMoving, said, events, failure, calls: cloud.calls };
}

describe("runRound()", () => {
  test("confirms the Vino, then makes a step", async () => {
    const { isMoving, said, calls } = await run(toTask(0));
    expect([isMoving, said]).toEqual([true, ["confirm"]]);
    expect(calls).toEqual(["look worker-0", `create VM ${nameOf(0)}`]);
  });

  test.each<[string, MachineTask, Asked, string[]]>([
    ["a Vino that changed", toTask(0), { confirms: false }, ["confirm"]],
    [
      "a removal that is not in the status",
      toRemoval("Ready"),
      { announces: false },
      ["confirm", "announce"],
    ],
  ])("does not even look for %s", async (_what, task, asked, said) => {
    const result = await run(task, asked);
    expect([result.isMoving, result.said, result.calls]).toEqual([true, said, []]);
  });

  test("makes no machine whose host could not be published, unless the other host goes", async () => {
    const { failure, calls } = await run(toTask(0), { foreign: { isDeleting: false } });
    expect(calls).toEqual(["look worker-0"]);
    expect(failure).toStartWith(
      "BareMetalHost h was made for another Vino. Landfall makes no machine that it cannot publish",
    );
    const later = await run(toTask(0), { foreign: { isDeleting: true } });
    expect(later.calls).toContain(`create VM ${nameOf(0)}`);
  });

  test.each<[string, Partial<MachinePlan<DoubleMachineStep>>, readonly string[]]>([
    ["says that the cloud could not make a machine", { problems: [FULL] }, ["MachineFailure: "]],
    ["takes a lost pool for no failure of a machine", { state: "Unknown", problems: [FULL] }, []],
    ["takes a notice for no failure", { state: "Ready", problems: [NOTICE] }, []],
  ])("%s", async (_title, plan, reasons) => {
    const { events } = await run(toTask(0), { plan });
    expect(events).toEqual(reasons.map((reason) => `${reason}${nameOf(0)}: no room`));
  });

  test("announces a removal only once", async () => {
    expect((await run(toRemoval("Ready"))).said).toEqual(["confirm", "announce"]);
    expect((await run(toRemoval("Removing"))).said).toEqual(["confirm"]);
  });

  test.each([
    ["asks whether a machine is gone", { isQuestion: true }, undefined],
    ["deletes what no machine ever used", { isCleanup: true }, undefined],
    ["removes nothing of a machine", {}, "The cloud still has something of the machine"],
  ])("%s although the Vino deletes none", async (_title, flags, message) => {
    const step = { summary: "ask", kind: "detach", name: nameOf(0), ...flags } as const;
    const { failure = "" } = await run(toRemoval("Removing"), { deletes: false, steps: [step] });
    // There is no such machine: so the question fails, and not because of the policy.
    expect(failure).toStartWith(message ?? "Cannot ask: ");
  });

  test("makes a machine again that vanished, and records that", async () => {
    const known = toKnown("worker", 0, "h1", { entry: toEntry("worker", 0) });
    const { events, calls } = await run({ ...toTask(0), known });
    expect(events[0]).toStartWith(`MachineVanished: Machine ${nameOf(0)} does not exist any more`);
    expect(calls).toContain(`create VM ${nameOf(0)}`);
  });

  test("does not make a machine again whose host is in use", async () => {
    const { failure, calls } = await run(toTask(0), { use: 'is used by Metal3Machine "a"' });
    expect(failure).toStartWith(
      'The machine does not exist any more. BareMetalHost edge-worker-0 is used by Metal3Machine "a". ',
    );
    expect(calls).toEqual(["look worker-0"]);
  });
});
