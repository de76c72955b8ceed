/**
 * Which test files cover which acceptance cases, by the titles of their tests.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const ID = /[NLVICP]-\d{2}/g;
/** Where titles carry IDs. The first group is the function that is called, if there is one. */
const TITLES = [
  // Text that begins with them: a title, or the cell of a table that becomes one.
  /(?:\b(\w+)\()?\s*["'`]((?:[NLVICP]-\d{2}:? )+)/g,
  // A cell of its own at the beginning of a row.
  /(?:\b(\w+)\()?\s*\["([NLVICP]-\d{2})"/g,
  // A title that ends with them, in brackets.
  /(?:\b(\w+)\()?\s*["'`][^"'`\n]*\(((?:[NLVICP]-\d{2}(?:, )?)+)\)["'`]/g,
];

/** Test files by the ID of a case, both sorted. Tests that are skipped or still to do cover nothing. */
export function listCoverage(): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, Set<string>>();
  for (const file of listTestFiles()) {
    for (const id of listTitledIds(readFileSync(join(ROOT, file), "utf8"))) {
      const known = files.get(id) ?? new Set<string>();
      files.set(id, known.add(file));
    }
  }
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([id, names]) => [id, [...names].sort()]));
}

/** The IDs in the titles of a test file's text. */
export function listTitledIds(text: string): Set<string> {
  const ids = new Set<string>();
  for (const [, call, titled = ""] of TITLES.flatMap((title) => [...text.matchAll(title)])) {
    if (call === "skip" || call === "todo") continue;
    for (const [id] of titled.matchAll(ID)) ids.add(id);
  }
  return ids;
}

function listTestFiles(): string[] {
  const entries = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" });
  return entries
    .filter((name) => /_test\.ts$|contract\w*\.ts$/.test(name))
    .filter((name) => name !== "acceptance_test.ts")
    .map((name) => `test/${name}`);
}
