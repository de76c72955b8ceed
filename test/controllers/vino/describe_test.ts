import { describe, expect, test } from "bun:test";
import { describeVino, judgeState } from "../../../lib/controllers/vino/describe.ts";
import { makeSurvey } from "../../../lib/controllers/vino/placement/survey.ts";
import type { Vino } from "../../../lib/controllers/vino/resource/vino.ts";
import { toEntry, toMachine, toView, VINO_OWNER } from "../../support/vino/known.ts";
import { toReport, toReports } from "../../support/vino/reports.ts";

const CONDITION = { type: "Ready", message: "", lastTransitionTime: "" };

function toVino(
  status: "True" | "False",
  reason: string,
  metadata: Partial<Vino["metadata"]> = {},
): Vino {
  return {
    metadata: { ...VINO_OWNER, generation: 2, ...metadata },
    status: { observedGeneration: 2, conditions: [{ ...CONDITION, status, reason }] },
  };
}

const FAILED = { at: 0, outcome: "error", error: "no" } as const;

test.each([
  ["ready", toVino("True", "ReconciliationSucceeded"), undefined],
  ["working", toVino("False", "Progressing"), undefined],
  ["working", toVino("True", "ReconciliationSucceeded", { generation: 3 }), undefined],
  ["working", { metadata: VINO_OWNER }, undefined],
  ["waiting", toVino("False", "CloudUnreachable"), undefined],
  ["failing", toVino("False", "MachineFailure"), undefined],
  ["failing", toVino("True", "ReconciliationSucceeded"), FAILED],
  ["deleting", toVino("True", "x", { deletionTimestamp: "2026-01-01T00:00:00Z" }), FAILED],
])("judgeState() is %s", (expected, vino, outcome) => {
  expect(judgeState(vino, outcome)).toBe(expected as ReturnType<typeof judgeState>);
});

describe("describeVino()", () => {
  const vino = toVino("True", "ReconciliationSucceeded");

  test("shows hosts with their machines, and wanted beside actual, without records", () => {
    const parts = [{ name: "CPUs", wanted: "4", actual: "2" }];
    const report = toReports([toReport(0, { host: "h2" }, { parts })]);
    const result = makeSurvey({
      vino,
      owner: VINO_OWNER,
      view: toView([toMachine("worker", 0)]),
      isConsumed: () => false,
      deletes: false,
      isGone: () => false,
    });
    if (result.kind === "refused") throw new Error(result.message);
    const last = {
      outcome: { kind: "served", spec: {}, report } as const,
      keeper: { survey: result.survey },
    };
    const shown = describeVino(vino, { last, outcome: { at: 0, outcome: "ok" } });
    expect(shown).toMatchObject({
      state: "ready",
      wanted: 1,
      ready: 1,
      machines: [{ index: 0, isWanted: true, parts }],
      lastReconcile: { at: "1970-01-01T00:00:00.000Z", outcome: "ok" },
    });
    expect(shown.hosts.map(({ name, pool, machines }) => [name, pool, machines])).toEqual([
      ["h1", "lyon", []],
      ["h2", "lyon", [toEntry("worker", 0).name]],
      ["h3", "lyon", []],
    ]);
  });

  test("shows what the status says before this process has looked", () => {
    const machines = [toEntry("worker", 0, { record: "task-1" })];
    const shown = describeVino(
      { ...vino, status: { ...vino.status, machines } },
      { last: undefined, outcome: undefined },
    );
    expect(shown.machines).toMatchObject([{ index: 0, state: "Ready" }]);
    expect(JSON.stringify(shown)).not.toContain("task-1");
    expect(shown).toMatchObject({ hosts: [], lastReconcile: null });
  });
});
