import { describe, expect, test } from "bun:test";
import type { MachinePlan } from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  holds,
  keepFound,
  listSetbacks,
} from "../../../../../lib/controllers/vino/machines/steps/kept_findings.ts";
import { toProblem } from "../../../../support/vino/reports.ts";

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
  const kept = keepFound(toPlan({ needsLook: true }), before);
  expect(kept.problems).toEqual([OLD, notice]);
  expect(keepFound(toPlan({}), before).problems).toEqual([]);
});

test("holds() only what a look found that no failure followed", () => {
  const plan = toPlan({ problems: [toProblem("notice", "n")], shown: "a" });
  const next = toPlan({ shown: "a" });
  expect(holds({ plan, failures: 0, foundMs: 1 }, next)).toBe(true);
  expect(holds({ plan, failures: 1, foundMs: 1 }, next)).toBe(false);
  expect(holds({ plan, failures: 0 }, next)).toBe(false);
});
