/**
 * Every acceptance case against the titles of the tests.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { ACCEPTANCE_GROUPS } from "../docs/generator/acceptance_cases.ts";
import { listCoverage, listTitledIds } from "../docs/generator/acceptance_coverage.ts";

const CASES = ACCEPTANCE_GROUPS.flatMap((group) => group.cases);

function toIds(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${letter}-${String(at + 1).padStart(2, "0")}`);
}

test("the list of acceptance cases is whole, each once", () => {
  const wanted = [
    ...toIds("N", 26),
    ...toIds("L", 16),
    ...toIds("V", 5),
    ...toIds("I", 10),
    ...toIds("C", 9),
  ];
  const process = toIds("P", 7).filter((id) => !["P-03", "P-04"].includes(id));
  expect(CASES.map(({ id }) => id)).toEqual([...wanted, ...process]);
});

describe("listCoverage()", () => {
  const coverage = listCoverage();

  test.each(CASES)("finds a test of $id, or a reason why there is none, not both", (one) => {
    const isCovered = coverage.has(one.id);
    expect(isCovered).toBe(one.doesNotApply === undefined);
  });

  test("finds no ID that is not in the list", () => {
    const known = new Set(CASES.map(({ id }) => id));
    expect([...coverage.keys()].filter((id) => !known.has(id))).toEqual([]);
  });
});

const texts: readonly (readonly [string, string, readonly string[]])[] = [
  ["a test", 'test("N-01 does it", () => {});', ["N-01"]],
  ["several IDs", 'describe(\n  "N-01 C-02 do it",', ["N-01", "C-02"]],
  ["a colon", 'test("N-01: does it",', ["N-01"]],
  ["a table's cell", '["N-01 does it", 1],', ["N-01"]],
  ["a table's column", '  ["N-01", "does it"],', ["N-01"]],
  ["a title that ends with IDs", 'test("does it (N-01, C-02)", () => {', ["N-01", "C-02"]],
  ["a skipped test that ends with IDs", 'test.skip("does it (N-01)", () => {', []],
  ["a skipped test", 'test.skip("N-01 does it",', []],
  ["a test to do", 'test.todo("N-01 does it",', []],
  ["a comment", "// N-01 does it", []],
  ["an ID within a title", 'test("does N-01 well",', []],
];
test.each(texts)("listTitledIds() of %s", (_what, text, ids) => {
  expect([...listTitledIds(text)]).toEqual([...ids]);
});
