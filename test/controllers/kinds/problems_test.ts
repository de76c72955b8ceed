import { expect, test } from "bun:test";
import { describeProblems, joinSome, nameSome } from "../../../lib/controllers/kinds/problems.ts";

test("describeProblems() names twenty problems, and counts the others", () => {
  const problems = Array.from({ length: 23 }, (_, at) => ({ path: `p${at}`, message: "m" }));
  const text = describeProblems(problems);
  expect(text).toStartWith("p0: m; p1: m; ");
  expect(text).toEndWith("p19: m; and 3 more");
});

test.each([
  [["one"], 10, "one"],
  [["one. Do it"], 10, "one. Do it"],
  [["network a is full", "network b is full"], 10, "network a is full; network b is full"],
  [["one", "two", "three"], 1, "one; and 2 more"],
  [
    ["network a is full. Widen it", "network b is full. Widen it"],
    10,
    "network a is full. Widen it. Network b is full. Widen it",
  ],
  [
    ["a-0: no room", "a-1: has it. Move it", "b"],
    2,
    "a-0: no room. a-1: has it. Move it. And 1 more",
  ],
])("joinSome() of %j, at most %d, is %j", (sentences, max, text) => {
  expect(joinSome(sentences, max)).toBe(text);
});

test("nameSome() names ten, and counts the others", () => {
  const names = Array.from({ length: 12 }, (_, at) => `h${at}`);
  expect(nameSome(names)).toBe("h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 and 2 more");
});
