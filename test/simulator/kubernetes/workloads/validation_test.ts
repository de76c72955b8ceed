import { expect, test } from "bun:test";
import {
  bindingProblems,
  deploymentProblems,
} from "../../../../lib/simulator/kubernetes/workloads/validation.ts";

const LABELS = { app: "a" };
const SPEC = {
  selector: { matchLabels: LABELS },
  template: { metadata: { labels: LABELS }, spec: { containers: [{ name: "c" }] } },
};

/** What is wrong with a Deployment, and the fields that are named. */
const CASES: readonly (readonly [string, object, readonly string[]])[] = [
  ["nothing", {}, []],
  ["no selector", { selector: {} }, ["spec.selector"]],
  [
    "a selector of other Pods",
    { selector: { matchLabels: { app: "b" } } },
    ["spec.template.metadata.labels"],
  ],
  [
    "no containers",
    { template: { metadata: { labels: LABELS } } },
    ["spec.template.spec.containers"],
  ],
];

test.each(CASES)("deploymentProblems() finds %s", (_, change, fields) => {
  const problems = deploymentProblems({ spec: { ...SPEC, ...change } }, undefined);
  expect(problems.map(({ field }) => field)).toEqual([...fields]);
});

test("deploymentProblems() lets no selector change", () => {
  const before = { spec: { ...SPEC, selector: { matchLabels: {}, matchExpressions: [] } } };
  const [problem] = deploymentProblems({ spec: SPEC }, before);
  expect(problem).toMatchObject({ field: "spec.selector" });
  expect(problem?.message).toContain("immutable");
});

test("bindingProblems() lets no role change", () => {
  const [one, other] = [{ roleRef: { name: "a" } }, { roleRef: { name: "b" } }];
  expect(bindingProblems(one, undefined)).toEqual([]);
  expect(bindingProblems(one, one)).toEqual([]);
  expect(bindingProblems(other, one)).toMatchObject([{ field: "roleRef" }]);
});
