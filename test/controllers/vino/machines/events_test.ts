import { expect, test } from "bun:test";
import type { MachineProblem } from "../../../../lib/cloud/capabilities/machines.ts";
import { MachineEvents } from "../../../../lib/controllers/vino/machines/events.ts";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { toProblem, toReport, toReports } from "../../../support/vino/reports.ts";

function start(): { events: MachineEvents; told: string[] } {
  const told: string[] = [];
  const events = new MachineEvents({
    events: { record: (_object, { reason, message }) => void told.push(`${reason}: ${message}`) },
    log: silentLogger,
    metrics: { countMachine: () => undefined },
    warn: (_vino, { reason }, message) => void told.push(`${reason}: ${message}`),
  });
  return { events, told };
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

test("MachineEvents.recordChanged() names the step", () => {
  const { events, told } = start();
  events.recordChanged({ metadata: { name: "edge" } }, "a-0", "add interface b to a-0");
  expect(told).toEqual(["MachineChanged: Landfall changed machine a-0: add interface b to a-0"]);
});
