import { expect, test } from "bun:test";
import { describeProblems } from "../../../lib/controllers/kinds/problems.ts";

test("describeProblems() names twenty problems, and counts the others", () => {
  const problems = Array.from({ length: 23 }, (_, at) => ({ path: `p${at}`, message: "m" }));
  const text = describeProblems(problems);
  expect(text).toStartWith("p0: m; p1: m; ");
  expect(text).toEndWith("p19: m; and 3 more");
});
