import { describe, expect, test } from "bun:test";
import {
  listFindings,
  type MachinesSummary,
  type Outcome,
} from "../../../../lib/controllers/vino/status/status.ts";
import type { HostOutcome } from "../../../../lib/controllers/vino/hosts/types.ts";
import type { HostState } from "../../../../lib/controllers/vino/resource/vino_machine.ts";
import type { MachinePlan, MachineProblem } from "../../../../lib/cloud/capabilities/machines.ts";
import { toProblem, toReport, toSummary } from "../../../support/vino/reports.ts";
import type { Progress } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import type { KnownMachine } from "../../../../lib/controllers/vino/placement/known.ts";
import type { MachineGoal } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import {
  findAddress,
  type MachineReport,
  reportIdle,
  reportProgress,
} from "../../../../lib/controllers/vino/status/machine_status.ts";
import { toEntry, toKnown, toMachine, VINO_OWNER } from "../../../support/vino/known.ts";

function show(outcome: Outcome, ...types: readonly string[]): string[] {
  return listFindings(outcome)
    .filter(({ type }) => types.length === 0 || types.includes(type))
    .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
}
const served = (summary: MachinesSummary): string[] =>
  show({ kind: "served", spec: {}, summary }, "Ready", "MachinesReady", "HostsPublished");

const READY = toReport(0);

/** A complete machine with a host, and what was done with that. */
function toHosted(
  index: number,
  state: HostState,
  change: Partial<HostOutcome> = {},
): MachineReport {
  const outcome = { name: `edge-worker-${index}`, state, notices: [], ...change };
  return toReport(index, { bareMetalHost: state }, { outcome });
}

describe("listFindings() of machines", () => {
  test("that are all complete and published", () => {
    expect(show({ kind: "served", spec: {}, summary: toSummary([READY]) })).toEqual([
      "Ready True ReconciliationSucceeded: 1 of 1 machines are complete. The complete machine has a BareMetalHost",
      "MachinesReady True AllMachinesReady: 1 of 1 machines are complete",
      "HostsPublished True AllHostsPublished: The complete machine has a BareMetalHost",
      "HostsHealthy True NoHostInError: metal3 reports no error of a host",
      "MachinesDiffer False NothingDiffers: No complete machine is known to differ from the spec",
      "ContractionBlocked False NothingBlocked: Nothing keeps a machine that the spec does not want",
      "UnsupportedFields False AllFieldsUsed: The spec has no field without a meaning",
      "CredentialsInClearText False NoPasswordInSpec: The spec has no password",
    ]);
  });

  test.each<[string, MachinesSummary, string, string, string]>([
    [
      "of which one is being made",
      toSummary([READY, toReport(1, { state: "Creating" })]),
      "Ready False Progressing",
      "MachinesReady False Progressing",
      "vino-1b4e28ba-worker-1: Creating",
    ],
    [
      "of which one waits for an enabled host",
      toSummary([READY], {
        wantedCount: 2,
        shortages: [{ role: "worker", missing: 1, kind: "noRoom", why: "host h2 is disabled" }],
      }),
      "Ready False Progressing",
      "MachinesReady False Progressing",
      "1 of 2 machines are complete. 1 of role worker: host h2 is disabled",
    ],
    [
      "of which none can be placed in a lost pool",
      toSummary([], {
        wantedCount: 1,
        shortages: [{ role: "worker", missing: 1, kind: "silent", why: "pool lyon is lost" }],
      }),
      "Ready False CloudUnreachable",
      "MachinesReady False CloudUnreachable",
      "0 of 1 machines are complete. 1 of role worker: pool lyon is lost",
    ],
    [
      "of which the spec names no host that is there",
      toSummary([], {
        wantedCount: 0,
        shortages: [{ role: "worker", missing: 3, kind: "noHosts", why: 'no host with tag "x"' }],
      }),
      "Ready False HostsNotFound",
      "MachinesReady False HostsNotFound",
      '0 of 0 machines are complete. 3 of role worker: no host with tag "x"',
    ],
    [
      "of which one failed",
      toSummary([
        READY,
        toReport(1, { state: "Absent" }, { problems: [toProblem("retry", "no room")] }),
      ]),
      "Ready False MachineFailure",
      "MachinesReady False MachineFailure",
      "vino-1b4e28ba-worker-1: no room",
    ],
    [
      "of which several failed, with the next attempt of all",
      toSummary(
        ["2026-01-01T12:01:00Z", "2026-01-01T12:00:40Z"].map((retryTime, index) =>
          toReport(
            index,
            { state: "Absent" },
            { problems: [toProblem("retry", "no room")], retryTime },
          ),
        ),
      ),
      "Ready False MachineFailure",
      "MachinesReady False MachineFailure",
      "0 of 2 machines are complete. Machines vino-1b4e28ba-worker-0, vino-1b4e28ba-worker-1: no room. " +
        "The next attempt is at 2026-01-01T12:00:40Z",
    ],
    [
      "of which one is not begun",
      toSummary([toReport(0, { state: "Absent", message: "it waits for others" })]),
      "Ready False Progressing",
      "MachinesReady False Progressing",
      "Machine vino-1b4e28ba-worker-0: not made yet. It waits for others",
    ],
    [
      "of which one needs a decision, although another failed",
      toSummary([
        toReport(0, { state: "Absent" }, { problems: [toProblem("retry", "no room")] }),
        toReport(1, { state: "Blocked" }, { problems: [toProblem("decision", "twins")] }),
      ]),
      "Ready False DecisionNeeded",
      "MachinesReady False DecisionNeeded",
      "worker-1: twins",
    ],
    [
      "that all have the same mistake",
      toSummary(
        [0, 1, 2].map((index) => {
          const problems = [toProblem("decision", index < 2 ? "no network" : "twins")];
          return toReport(index, {}, { problems });
        }),
      ),
      "Ready False DecisionNeeded",
      "MachinesReady False DecisionNeeded",
      "Machines vino-1b4e28ba-worker-0, vino-1b4e28ba-worker-1: no network; machine vino-1b4e28ba-worker-2: twins",
    ],
    [
      "without addresses",
      toSummary([READY], { wantedCount: 2, addressProblems: ["network oam has no free address"] }),
      "Ready False AddressesExhausted",
      "MachinesReady False AddressesExhausted",
      "1 of 2 machines are complete. Network oam has no free address",
    ],
    [
      "that may exist in a lost pool",
      toSummary([
        toReport(0, { state: "Unknown", message: "pool lyon is lost" }, { isSilent: true }),
      ]),
      "Ready False CloudUnreachable",
      "MachinesReady False CloudUnreachable",
      "worker-0: Unknown. Pool lyon is lost",
    ],
    [
      "of which one is not shown yet",
      toSummary([READY, toReport(1, { state: "Unknown", message: "it is looked for" })]),
      "Ready False Progressing",
      "MachinesReady False Progressing",
      "worker-1: Unknown. It is looked for",
    ],
    [
      "of which others, that are not shown, wait for a person",
      toSummary([READY, toReport(1, { state: "Unknown" }, { isWanted: false })], {
        limit: "confirm it",
      }),
      "Ready False FleetLimit",
      "MachinesReady True AllMachinesReady",
      "1 of 1 machines are complete",
    ],
    [
      "of which one goes",
      toSummary([READY, toReport(1, { state: "Removing" }, { isWanted: false })]),
      "Ready False Progressing",
      "MachinesReady False Progressing",
      "worker-1: Removing",
    ],
    [
      "of which one has a host that goes",
      toSummary([READY, toReport(1, { bareMetalHost: "Removing" }, { isWanted: false })]),
      "Ready False Progressing",
      "MachinesReady False Progressing",
      "worker-1: Ready",
    ],
    [
      "of which one stays although it is not wanted",
      toSummary([
        READY,
        toReport(1, { bareMetalHost: "InUse", message: "host b is in use" }, { isWanted: false }),
      ]),
      "Ready False HostsInUse",
      "Ready False HostsInUse",
      "1 of 1 machines are complete. Not wanted any more, but kept: host b is in use",
    ],
    [
      "of which a person must confirm the removal",
      toSummary([READY, toReport(1, {}, { isWanted: false })], {
        limit: "confirm it",
      }),
      "Ready False FleetLimit",
      "MachinesReady True AllMachinesReady",
      "1 of 1 machines are complete",
    ],
    [
      "of which one stays by the policy",
      toSummary([READY, toReport(1, {}, { isWanted: false })]),
      "Ready True ReconciliationSucceeded",
      "MachinesReady True AllMachinesReady",
      "1 of 1 machines are complete",
    ],
    [
      "whose host cannot be published",
      toSummary([toHosted(0, "NameTaken", { message: "a is another's" })]),
      "Ready False UnableToPublishHosts",
      "HostsPublished False NameTaken",
      "a is another's",
    ],
    [
      "whose host gets no management controller",
      toSummary([toHosted(0, "Published", { bmcProblem: "there is no Secret" })]),
      "Ready False BmcCredentialsUnusable",
      "HostsPublished False BmcCredentialsUnusable",
      "there is no Secret",
    ],
  ])("%s", (_title, report, ready, other, message) => {
    const found = served(report);
    expect(found[0]).toStartWith(`${ready}: `);
    const line = found.find((one) => one.startsWith(`${other}: `));
    expect(line).toContain(message);
  });
});

describe("listFindings() of machines that differ", () => {
  const wrong = toProblem("notice", "disk data of vino-1b4e28ba-worker-0 does not exist");
  const unnamed = toProblem("notice", "pool p has no network oam");
  const waiting = { ...toProblem("notice", "must be shut down"), isWaiting: true };
  const tell = (...machines: readonly MachineReport[]): string[] =>
    show({ kind: "served", spec: {}, summary: toSummary(machines) }, "Ready", "MachinesDiffer");

  test.each<[string, readonly MachineProblem[], string]>([
    [
      "which a person must end",
      [waiting, wrong],
      "PersonNeeded: 1 complete machine differs from the spec. Must be shut down; " +
        "disk data of vino-1b4e28ba-worker-0 does not exist",
    ],
    [
      "until they are stopped",
      [waiting],
      "StopNeeded: 1 complete machine differs from the spec. Machine vino-1b4e28ba-worker-0: must be shut down",
    ],
    [
      "in what does not exist",
      [unnamed],
      "PersonNeeded: 1 complete machine differs from the spec. " +
        "Machine vino-1b4e28ba-worker-0: pool p has no network oam",
    ],
  ])("%s", (_title, problems, found) => {
    const [ready, differ] = tell(toReport(0, {}, { problems }), toReport(1));
    expect(ready).toStartWith("Ready True");
    expect(differ).toBe(`MachinesDiffer True ${found}`);
  });

  test("about which a person must decide, with what to do", () => {
    const why = "disk root has 10Gi, and a disk cannot shrink to 8Gi. Ask for 10Gi in the spec";
    const problems = [waiting, toProblem("decision", why)];
    const [ready, differ] = tell(toReport(0, {}, { problems }), toReport(1));
    const text = `Machine vino-1b4e28ba-worker-0: ${why}`;
    expect(ready).toStartWith(`Ready False DecisionNeeded: 2 of 2 machines are complete. ${text}`);
    const message = `1 complete machine differs from the spec. ${text}`;
    expect(differ).toBe(`MachinesDiffer True PersonNeeded: ${message}`);
  });

  test("but not those that are not complete", () => {
    const problems = [toProblem("decision", "twins")];
    const [, differ] = tell(READY, toReport(1, { state: "Blocked" }, { problems }));
    expect(differ).toStartWith("MachinesDiffer False NothingDiffers");
  });
});

describe("listFindings() of machines with other addresses", () => {
  const moved = "interface eth0 of vino-1b4e28ba-worker-1 has 192.0.2.9. Set it back";
  const problem: MachineProblem = { reason: "AddressesDiffer", kind: "notice", message: moved };
  const differing = toReport(1, { message: moved }, { problems: [problem] });
  const change = { addressDifferences: [{ name: differing.entry.name, message: moved }] };

  test("says in all conditions that a complete machine differs", () => {
    const summary = toSummary([READY, differing], change);
    const shown = show({ kind: "served", spec: {}, summary })
      .slice(0, 5)
      .filter((one) => !one.startsWith("HostsHealthy"));
    expect(shown.map((one) => one.replace("Interface", "interface"))).toEqual([
      `Ready False AddressesDiffer: 2 of 2 machines are complete. ${moved}`,
      `MachinesReady False AddressesDiffer: 2 of 2 machines are complete. ${moved}`,
      "HostsPublished True AllHostsPublished: All 2 complete machines have a BareMetalHost. " +
        "Landfall does not update 1 BareMetalHost: MachinesReady says why",
      `MachinesDiffer True PersonNeeded: 1 complete machine differs from the spec. ${moved}`,
    ]);
  });

  test("waits for the host that such a machine does not have", () => {
    const { bareMetalHost: _none, ...entry } = differing.entry;
    const summary = toSummary([{ ...differing, entry }], change);
    const [found] = show({ kind: "served", spec: {}, summary }, "HostsPublished");
    expect(found).toStartWith("HostsPublished False Progressing: ");
  });
});

describe("listFindings() of hosts", () => {
  const tell = (...machines: readonly MachineReport[]): string[] =>
    show({ kind: "served", spec: {}, summary: toSummary(machines) }, "HostsPublished");
  const made = toReport(9, { state: "Creating" });
  const say = (index: number, state: HostState): MachineReport =>
    toHosted(index, state, { message: `h${index} ${state}` });

  test.each<[string, readonly MachineReport[], string]>([
    ["none", [], "True AllHostsPublished: There is no machine that needs a BareMetalHost"],
    [
      "two",
      [READY, toReport(1)],
      "True AllHostsPublished: All 2 complete machines have a BareMetalHost",
    ],
    [
      "one, while a machine is made",
      [READY, made],
      "False Progressing: 1 machine is not complete. Landfall publishes or updates its host when it is",
    ],
    ["one that is made again", [READY, say(1, "Publishing")], "False Progressing: h1 Publishing"],
    ["one of another machine", [say(0, "InUse")], "False Progressing: h0 InUse"],
    [
      "paused ones",
      [say(0, "Paused"), say(1, "Moved"), say(2, "Publishing")],
      "False HostsPaused: h0 Paused; h1 Moved",
    ],
    [
      "a taken name, while a machine is made",
      [say(0, "Paused"), say(1, "NameTaken"), made],
      "False NameTaken: h1 NameTaken",
    ],
    [
      "a refused one",
      [say(0, "NameTaken"), say(1, "Refused")],
      "False UnableToPublishHosts: h1 Refused",
    ],
    [
      "one without usable credentials",
      [toHosted(0, "Published", { bmcProblem: "no Secret" }), READY],
      "False BmcCredentialsUnusable: 1 host gets no management controller. No Secret",
    ],
    [
      "several for one reason",
      [0, 1].map((index) => toHosted(index, "Published", { bmcProblem: "no Secret" })),
      "False BmcCredentialsUnusable: 2 hosts get no management controller. No Secret",
    ],
    [
      "one with a notice about its credentials",
      [toHosted(0, "Published", { bmcNotice: "Landfall leaves out blanks" }), toReport(1)],
      "True AllHostsPublished: All 2 complete machines have a BareMetalHost. Landfall leaves out blanks",
    ],
  ])("%s", (_title, machines, expected) => {
    expect(tell(...machines)[0]?.replace(". no Secret", ". No Secret")).toBe(
      `HostsPublished ${expected}`,
    );
  });

  test("names those in which metal3 reports an error", () => {
    const hostErrors = [{ name: "edge-worker-0", error: "no power" }];
    const summary = toSummary([READY], { hostErrors });
    expect(show({ kind: "served", spec: {}, summary }, "HostsHealthy")).toEqual([
      "HostsHealthy False HostsInError: metal3 reports an error of 1 host. BareMetalHost edge-worker-0: no power",
    ]);
  });
});

describe("listFindings() of other outcomes", () => {
  test("says that the cloud is silent, or that machines are too many", () => {
    const silent: Outcome = { kind: "refused", spec: {}, why: "silent", message: "no answer" };
    expect(show(silent, "Ready", "MachinesReady")).toEqual([
      "Ready False CloudUnreachable: no answer",
      "MachinesReady False CloudUnreachable: no answer",
    ]);
    expect(show({ ...silent, why: "tooMany" }, "Ready", "MachinesReady")).toEqual([
      "Ready False TooManyMachines: no answer",
      "MachinesReady False TooManyMachines: no answer",
    ]);
  });

  test("says what stops a deletion", () => {
    expect(show({ kind: "deleting", obstacle: "no answer" })).toEqual([
      "Ready False UnableToDecommission: no answer",
      "MachinesReady False CloudUnreachable: no answer",
    ]);
    const left = toReport(1, { bareMetalHost: "InUse", message: "in use" }, { isWanted: false });
    expect(show({ kind: "deleting", summary: toSummary([left]), obstacle: "a is in use" })).toEqual(
      [
        "Ready False UnableToDecommission: a is in use",
        "MachinesReady False Progressing: The Vino is being deleted. Machines left: 1. " +
          "Machine vino-1b4e28ba-worker-1: Ready. In use",
        "HostsPublished False Progressing: The Vino is being deleted. BareMetalHosts left: 1",
        "MachinesDiffer False NothingDiffers: No complete machine is known to differ from the spec",
        "ContractionBlocked True HostsInUse: Not wanted any more, but kept: in use",
      ],
    );
    expect(show({ kind: "deleting", summary: toSummary([]) })).toEqual([
      "Ready False Progressing: Landfall removes what it made for the Vino",
      "MachinesReady False Progressing: The Vino is being deleted. Machines left: 0",
      "HostsPublished False Progressing: The Vino is being deleted. BareMetalHosts left: 0",
      "MachinesDiffer False NothingDiffers: No complete machine is known to differ from the spec",
      "ContractionBlocked False NothingBlocked: Nothing keeps a machine that the spec does not want",
    ]);
  });

  test("names wrong and missing fields", () => {
    const problems = [{ path: "spec.nodes", message: "must be a list" }];
    expect(show({ kind: "invalid", problems }, "Ready")).toEqual([
      "Ready False InvalidSpec: spec.nodes: must be a list",
    ]);
    expect(show({ kind: "incomplete", spec: {}, missing: problems }, "MachinesReady")).toEqual([
      "MachinesReady False MachineFormMissing: spec.nodes: must be a list",
    ]);
  });
});

const NAME = toEntry("worker", 0).name;

const NOW = { monotonicMs: 0, wallMs: 0 };

function toProgress(
  plan: Partial<MachinePlan>,
  change: Partial<Progress> = {},
  goal: MachineGoal["kind"] = "remove",
): Progress {
  return {
    task: {
      name: NAME,
      identity: { owner: VINO_OWNER, role: "worker", index: 0 },
      hostId: "h1",
      known: toKnown("worker", 0, "h1", { entry: toEntry("worker", 0, { machineId: "vm-old" }) }),
      goal: goal === "remove" ? { kind: "remove" } : ({ kind: "exist" } as MachineGoal),
    },
    plan: { state: "Ready", steps: [], problems: [], parts: [], ...plan },
    observedAtMs: 0,
    dueMs: Infinity,
    failures: 0,
    retryMs: 0,
    sinceMs: 0,
    setbacks: [],
    ...change,
  };
}

describe("reportProgress()", () => {
  const wanted = { isWanted: true, now: NOW } as const;

  test.each([
    [true, "An object uses its BareMetalHost: keep the machine until none does"],
    [false, "No object uses its BareMetalHost now"],
  ])("says before a deletion by hand what uses the host: %p", (isConsumed, use) => {
    const problem = { ...toProblem("notice", "delete it"), losesMachine: true };
    const progress = toProgress({ problems: [problem, toProblem("notice", "other")] }, {}, "exist");
    const task = { ...progress.task, known: toKnown("worker", 0, "h1", { isConsumed }) };
    const { problems, entry } = reportProgress({ ...progress, task }, wanted);
    expect(problems.map(({ message }) => message)).toEqual([`delete it. ${use}`, "other"]);
    expect(entry.message).toBe(`delete it. ${use}`);
  });

  test("says what the plan says", () => {
    const plan = { machine: toMachine("worker", 0), parts: [{ name: "CPUs", wanted: "2" }] };
    expect(
      reportProgress(toProgress(plan, {}, "exist"), { ...wanted, address: "192.0.2.1" }),
    ).toEqual({
      entry: {
        name: NAME,
        role: "worker",
        index: 0,
        host: "h1",
        machineId: "vm-worker-0",
        address: "192.0.2.1",
        state: "Ready",
      },
      isWanted: true,
      problems: [],
      parts: [{ name: "CPUs", wanted: "2" }],
      power: "running",
    });
  });

  test("keeps the ID of a machine that may be in a lost pool, and forgets that of one that is gone", () => {
    const idOf = (state: MachinePlan["state"]): string | undefined =>
      reportProgress(toProgress({ state }, {}, "exist"), wanted).entry.machineId;
    expect(idOf("Unknown")).toBe("vm-old");
    expect(idOf("Absent")).toBeUndefined();
  });

  test("says why a step failed before what the plan says, and a remark only if there is nothing else", () => {
    const plan = { problems: [toProblem("notice", "a hand edit")] };
    const failure = { kind: "retry", message: "no room" } as const;
    const say = (progress: Progress): string | undefined =>
      reportProgress(progress, { ...wanted, remark: "host b is paused" }).entry.message;
    expect(say(toProgress(plan, { failure }))).toBe("no room");
    expect(say(toProgress(plan))).toBe("a hand edit");
    expect(say(toProgress({}))).toBe("host b is paused");
  });
});

test("reportIdle() says what the cloud shows, without a plan", () => {
  const base = { name: NAME, role: "worker", index: 0, isWanted: true };
  const stateOf = (known: KnownMachine): string =>
    reportIdle({ ...base, known }, "stays").entry.state;
  expect(stateOf(toKnown("worker", 0))).toBe("Ready");
  const half = toMachine("worker", 0, { isComplete: false });
  expect(stateOf(toKnown("worker", 0, "h1", { machine: half }))).toBe("Unfinished");
  const { machine: _gone, ...rest } = toKnown("worker", 0, "h1", {
    entry: toEntry("worker", 0, { machineId: "vm-1", address: "192.0.2.1" }),
  });
  expect(reportIdle({ ...base, known: rest }, "stays").entry).toMatchObject({
    state: "Unknown",
    machineId: "vm-1",
    address: "192.0.2.1",
  });
});

test("reportIdle() says why a machine is not begun", () => {
  const place = { role: "worker", index: 0, hostId: "h1" };
  const assignment = { name: NAME, ...place, isWanted: true };
  const { entry, isWanted } = reportIdle(assignment, "no address");
  expect(entry).toEqual({
    name: NAME,
    role: "worker",
    index: 0,
    host: "h1",
    state: "Absent",
    message: "no address",
  });
  expect(isWanted).toBe(true);
});

test("findAddress() takes that of the boot interface, otherwise the first there is", () => {
  const interfaces = ["a", "b", "c"].map((name, at) => ({
    name,
    network: name,
    mac: "",
    addresses: at === 0 ? [] : [{ ip: `192.0.2.${at}`, prefixLength: 24 }],
    routes: [],
    dnsServers: [],
  }));
  expect(findAddress(interfaces, { bootInterfaceName: "c" })).toBe("192.0.2.2");
  expect(findAddress(interfaces, { bootInterfaceName: "a" })).toBe("192.0.2.1");
  expect(findAddress(interfaces, {})).toBe("192.0.2.1");
  expect(findAddress([], {})).toBeUndefined();
});

describe("reportProgress() while a machine is made again", () => {
  const setbacks = [toProblem("retry", "no room")];
  const tell = (plan: Partial<MachinePlan>): string[] => {
    const progress = toProgress({ state: "Creating", ...plan }, { setbacks }, "exist");
    const { entry, problems } = reportProgress(progress, { isWanted: true, now: NOW });
    return [entry.message ?? "", ...problems.map(({ message }) => message)];
  };

  test("says why the last attempt failed", () => {
    expect(tell({})).toEqual(["no room", "no room"]);
    const notice = toProblem("notice", "worth knowing");
    expect(tell({ problems: [notice] })).toEqual(["no room", "no room", "worth knowing"]);
  });

  test("says only what is wrong now, if something is", () => {
    const slow = toProblem("retry", "it takes long");
    expect(tell({ problems: [slow] })).toEqual(["it takes long", "it takes long"]);
  });
});

describe("reportProgress() says what a machine waits for", () => {
  const LATER = { dueMs: 40_999, retryMs: 40_999 };
  const FAILED = { problems: [toProblem("retry", "no room")] };

  test.each<
    [string, Partial<MachinePlan>, Partial<Progress>, string | undefined, string | undefined]
  >([
    [
      "a turn",
      { state: "Absent" },
      { dueMs: 0 },
      "after others: it makes only a few at once",
      undefined,
    ],
    ["a time", { state: "Absent" }, LATER, "Landfall makes it at 2026-01-01T00:00:40Z", undefined],
    ["an answer", { state: "Unknown" }, {}, "Landfall asks the cloud whether it exists", undefined],
    ["another attempt", { state: "Absent", ...FAILED }, LATER, "no room", "2026-01-01T00:00:40Z"],
    ["an attempt that runs", { state: "Absent", ...FAILED }, {}, "no room", undefined],
    ["nothing", { state: "Ready" }, { dueMs: 0 }, undefined, undefined],
  ])("%s", (_title, plan, change, message, expected) => {
    const now = { monotonicMs: 1_000, wallMs: Date.UTC(2026, 0, 1, 0, 0, 0, 1) };
    const at = { dueMs: Infinity, retryMs: -Infinity, ...change };
    const progress = toProgress(plan, at, "exist");
    const { entry, retryTime } = reportProgress(progress, { isWanted: true, now });
    if (message === undefined) expect(entry.message).toBeUndefined();
    else expect(entry.message).toEndWith(message);
    expect(retryTime).toBe(expected);
  });
});
