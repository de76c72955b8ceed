import { describe, expect, test } from "bun:test";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import type { Outcome } from "../../../../lib/controllers/vino/status/outcome.ts";
import { planStatus } from "../../../../lib/controllers/vino/status/status.ts";
import { toReport, toReports } from "../../../support/vino/reports.ts";

const VINO: Vino = { metadata: { name: "edge", generation: 3 } };
const NONE: ReadonlyMap<string, string> = new Map();

function plan(outcome: Outcome, records = NONE, vino = VINO): ReturnType<typeof planStatus> {
  return planStatus(vino, { outcome, records, nowMs: 0 });
}

describe("planStatus()", () => {
  const report = toReports([
    toReport(0),
    toReport(1, { state: "Creating", machineId: "vm-1" }),
    toReport(2, {}, { isWanted: false }),
  ]);
  const served: Outcome = { kind: "served", spec: {}, report };

  test("counts machines, and lists them with their records", () => {
    const [, second] = report.machines;
    const records = new Map([[second?.entry.name ?? "", "task-1"]]);
    expect(plan(served, records)).toMatchObject({
      observedGeneration: 3,
      counts: { wanted: 2, machines: 3, ready: 1, unwanted: 1, published: 2, summary: "1/2" },
      machines: [{ index: 0 }, { index: 1, record: "task-1" }, { index: 2 }],
    });
  });

  test("lists at most a thousand machines, those with something in the cloud first", () => {
    const many = Array.from({ length: 1_200 }, (_, index) =>
      index < 400
        ? toReport(index, { state: "Absent" }, {})
        : toReport(index, { machineId: `vm-${index}` }),
    ).map((one) => {
      const { machineId: _none, ...entry } = one.entry;
      return one.entry.state === "Absent" ? { ...one, entry } : one;
    });
    const machines = plan({ kind: "served", spec: {}, report: toReports(many) })?.machines ?? [];
    expect(machines).toHaveLength(1_000);
    expect(machines.filter(({ machineId }) => machineId !== undefined)).toHaveLength(800);
  });
});
