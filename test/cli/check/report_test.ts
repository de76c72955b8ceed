import { describe, expect, test } from "bun:test";
import {
  type CheckSteps,
  type PermissionAnswer,
  toReport,
  toSkipped,
  toStatus,
} from "../../../lib/cli/check/report.ts";

const FINE = { status: "ok", findings: [] } as const;
const STEPS: CheckSteps = {
  settings: { ...FINE, provider: "static" },
  cloud: FINE,
  kubernetes: FINE,
  permissions: { ...FINE, permissions: [] },
  nodes: { ...FINE, nodes: [] },
};

test.each([
  [[], "ok"],
  [["ok"], "ok"],
  [["ok", "warning"], "warning"],
  [["failure", "warning"], "failure"],
] as const)("toStatus() takes the gravest of %j", (levels, status) => {
  expect(toStatus(levels.map((level) => ({ level })))).toBe(status);
});

test("toSkipped() says why", () => {
  expect(toSkipped("no cloud")).toEqual({ status: "skipped", skipped: "no cloud", findings: [] });
});

describe("toReport()", () => {
  test("is well when all steps are, and when nothing was done", () => {
    expect(toReport("1", STEPS)).toMatchObject({ status: "ok", failures: 0, warnings: 0 });
    const cloud = toSkipped("x");
    expect(toReport("1", { ...STEPS, cloud })).toMatchObject({ version: "1", status: "ok" });
  });

  test("counts findings, rights and Nodes", () => {
    const finding = { level: "failure", code: "dns", message: "m" } as const;
    const right: PermissionAnswer = {
      group: "",
      resource: "nodes",
      verb: "list",
      allowed: "no",
      level: "failure",
      purpose: "p",
      mandatory: true,
    };
    const node = {
      name: "n",
      level: "warning",
      ready: true,
      uninitialized: false,
      presence: "unknown",
      changes: [],
      problems: [],
    } as const;
    const report = toReport("1", {
      ...STEPS,
      cloud: { status: "failure", findings: [finding] },
      permissions: { status: "failure", findings: [], permissions: [right] },
      nodes: { status: "warning", findings: [], nodes: [node] },
    });
    expect(report).toMatchObject({ status: "failure", failures: 2, warnings: 1, passed: 0 });
  });
});
