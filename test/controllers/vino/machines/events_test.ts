import { describe, expect, test } from "bun:test";
import type { MachineProblem } from "../../../../lib/cloud/capabilities/machines.ts";
import { MachineEvents } from "../../../../lib/controllers/vino/machines/events.ts";
import type { HostOutcome } from "../../../../lib/controllers/vino/hosts/types.ts";
import type { HostState, Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toProblem, toReport, toReports } from "../../../support/vino/reports.ts";

function start(): {
  events: MachineEvents;
  told: string[];
  logged: string[];
  clock: ManualClock;
} {
  const told: string[] = [];
  const logged: string[] = [];
  const clock = new ManualClock();
  const write = (line: string): void => void logged.push(line.trim());
  const events = new MachineEvents({
    clock,
    events: { record: (_object, { reason, message }) => void told.push(`${reason}: ${message}`) },
    log: createLogger({ format: "text", write, now: () => 0 }),
    metrics: { countMachine: () => undefined },
    warn: (_vino, { reason }, message) => void told.push(`${reason}: ${message}`),
  });
  return { events, told, logged, clock };
}

const NOTICE = toProblem("notice", "disk data is missing");

test.each<[string, MachineProblem, string | undefined, boolean, readonly string[]]>([
  ["a complete machine differs", NOTICE, undefined, true, ["MachineDiffers: disk data is missing"]],
  ["a machine differs as before", NOTICE, NOTICE.message, true, []],
  ["a machine differs that the spec does not want", NOTICE, undefined, false, []],
  ["a machine fails", toProblem("retry", "no room"), undefined, true, []],
])("MachineEvents.recordChanges() when %s", (_title, problem, before, isWanted, expected) => {
  const { events, told } = start();
  const entry = before === undefined ? {} : { message: before };
  const vino: Vino = {
    metadata: { name: "edge" },
    status: { machines: [toReport(0, entry).entry] },
  };
  const { message } = problem;
  const report = toReports([toReport(0, { message }, { problems: [problem], isWanted })]);
  events.recordChanges(vino, report);
  expect(told).toEqual([...expected]);
});

test("MachineEvents.recordChanges() names all hosts that differ, once, also behind other notices", () => {
  const { events, told } = start();
  const named = (host: string): HostOutcome => ({
    name: host,
    state: "Published",
    notices: [],
    differences: [`${host} has another address`],
  });
  const own = { ...toProblem("notice", "a has another address"), reason: "HostDiffers" };
  const machines = [
    toReport(0, { message: own.message }, { problems: [own] }),
    toReport(1, { message: NOTICE.message }, { problems: [NOTICE] }),
  ];
  const report = toReports(machines, { hosts: [named("a"), named("b")] });
  events.recordChanges({ metadata: { name: "edge" }, status: { machines: [] } }, report);
  expect(told.filter((one) => !one.startsWith("MachineReady"))).toEqual([
    "MachineDiffers: disk data is missing",
    "HostDiffers: a has another address; b has another address",
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

test("MachineEvents.recordChanged() names the step", () => {
  const { events, told } = start();
  events.recordChanged({ metadata: { name: "edge" } }, "a-0", "add interface b to a-0");
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
])("MachineEvents.recordChanges() when %s", (_title, change, before, expected) => {
  const { events, told } = start();
  const { bareMetalHost: _published, ...entry } = toReport(0).entry;
  const old = before === undefined ? entry : { ...entry, bareMetalHost: before };
  const vino: Vino = { metadata: { name: "edge" }, status: { machines: [old] } };
  const hosts = [{ name: "edge-worker-0", state: "Published" as const, notices: [], ...change }];
  events.recordChanges(vino, toReports([toReport(0)], { hosts }));
  expect(told).toEqual([...expected]);
});

test("MachineEvents.recordChanges() says why hosts have no management controller, and logs it once", () => {
  const { events, told, logged } = start();
  const problem = { bmcProblem: 'bmcCredentials: there is no Secret "nosuch"' };
  const hosts = [0, 1].map((index) => ({
    name: `edge-worker-${index}`,
    state: "Published" as const,
    notices: [],
    ...problem,
  }));
  const report = toReports([toReport(0), toReport(1)], { hosts });
  const same = { machines: report.machines.map(({ entry }) => entry) };
  const reason = "BmcCredentialsUnusable";
  const condition = { type: "HostsPublished", status: "False", reason, message: "" } as const;
  const conditions = [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }];
  events.recordChanges({ metadata: { name: "edge" }, status: same }, report);
  events.recordChanges({ metadata: { name: "edge" }, status: { ...same, conditions } }, report);
  const event = `${reason}: ${problem.bmcProblem}`;
  expect(told).toEqual([event, event]);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("Hosts get no management controller");
});

test("MachineEvents.recordEnd() names what stays, also if the cloud does not say whether it exists", () => {
  const { events, told } = start();
  const vino: Vino = { metadata: { name: "edge" } };
  const two = toReports([toReport(0), toReport(1)]);
  events.recordEnd(vino, two, false);
  events.recordEnd(vino, two, true);
  events.recordEnd(vino, toReports([]), false);
  events.recordEnd(vino, toReports([]), true);
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
    events.recordFailed(vino, "a-0", failure);
    expect(told).toEqual(["MachineFailure: a-0: no room"]);
    expect(logged).toEqual([
      "1970-01-01T00:00:00.000Z WARN  Cannot make or change a machine; trying again " +
        'vino=metal/edge machine=a-0 reason="no room" retryIn=40s',
    ]);
  });
});
