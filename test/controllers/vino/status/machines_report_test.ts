import { expect, test } from "bun:test";
import { toWantedTasks } from "../../../../lib/controllers/vino/machines/tasks.ts";
import { MachineBook } from "../../../../lib/controllers/vino/machines/book.ts";
import { toRemovalTask } from "../../../../lib/controllers/vino/machines/tasks.ts";
import { makeSurvey } from "../../../../lib/controllers/vino/placement/survey.ts";
import { readRoles } from "../../../../lib/controllers/vino/placement/wishes.ts";
import type { VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import { makeReport } from "../../../../lib/controllers/vino/status/machines_report.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toEntry, toMachine, toView, VINO_OWNER } from "../../../support/vino/known.ts";
import { MachinesDouble } from "../../../support/vino/machines_double.ts";
import { toReport } from "../../../support/vino/reports.ts";

const SPEC: VinoSpec = {
  nodes: [{ name: "worker", count: 2 }],
  xenOrchestra: { template: "t", cpus: 2, memory: "4Gi", countPer: "Total" },
};

test("makeReport() reports on machines that are wanted, wait, stay and go, in their order, with their hosts", () => {
  const read = readRoles(SPEC);
  if (!read.isComplete) throw new Error("the form is complete");
  const { roles } = read;
  const view = toView([0, 5, 7].map((index) => toMachine("worker", index)));
  const rest = { isConsumed: () => false, deletes: true, isGone: () => false };
  const vino = { metadata: VINO_OWNER, spec: SPEC };
  const result = makeSurvey({ vino, owner: VINO_OWNER, view, roles, ...rest });
  if (result.kind === "refused") throw new Error(result.message);
  const { survey } = result;
  const nameOf = (index: number): string => toEntry("worker", index).name;
  const wanted = survey.placement.wanted.map(({ index }) => nameOf(index));
  const [kept = "", waiting = ""] = wanted;
  const addresses = {
    machines: new Map([[kept, []]]),
    problems: new Map([
      [waiting, "oam is full"],
      ["other", "another network is full"],
    ]),
    notices: ["oam has moved"],
  };
  const { tasks, idle } = toWantedTasks(survey, { spec: SPEC, roles, addresses, hasBmc: false });
  const [first] = survey.placement.surplus;
  const removals = first ? [toRemovalTask(VINO_OWNER, first)] : [];
  const book = new MachineBook({ clock: new ManualClock(), machines: new MachinesDouble() });
  for (const task of [...tasks, ...removals]) book.review(task, view, undefined);
  const report = makeReport({
    survey,
    roles,
    addresses,
    wanted: tasks,
    idle,
    removals,
    verdict: { removable: [], reports: [toReport(12, {}, { isWanted: false })], isDrained: true },
    hosts: new Map([
      [kept, { name: "edge-worker", state: "Paused", message: "is paused", notices: [] }],
      [nameOf(12), { name: "edge-worker-12", state: "InUse", message: "is used", notices: [] }],
    ]),
    book,
    isGone: () => false,
  });
  expect(report).toMatchObject({
    wantedCount: 2,
    addressProblems: ["oam is full"],
    notices: ["oam has moved"],
    hosts: [{ name: "edge-worker", state: "Paused" }],
  });
  expect(
    report.machines.map(({ entry, isWanted }) => [entry.index, entry.bareMetalHost, isWanted]),
  ).toEqual([
    [0, "Paused", true],
    [5, undefined, true],
    [7, undefined, false],
    [12, "InUse", false],
  ]);
  expect(report.machines[1]?.entry.message).toBe("oam is full");
});
