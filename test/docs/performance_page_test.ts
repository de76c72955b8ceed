/**
 * The page about performance: what is compared with what.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { BUDGETS } from "../../bench/budgets.ts";
import { renderPerformance } from "../../docs/generator/performance/page.ts";

const figures = Object.fromEntries(Object.keys(BUDGETS).map((name) => [name, 1]));
const results = { date: "2026-01-01", machine: "2 processors", figures, curve: [] };
const page = renderPerformance(results).get("explanation/performance.md") ?? "";

function readSection(title: string): string {
  return page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
}

describe("renderPerformance()", () => {
  test("puts into the table of goals only what was measured together", () => {
    const tables = readSection("Goals")
      .split("\n")
      .filter((line) => line.startsWith("|"));
    expect(tables.length).toBeGreaterThan(10);
    expect(tables.join("\n")).not.toContain("Go controller");
    for (const row of tables) expect(row.split("|")).toHaveLength(6);
  });

  test("says of the Go controller's figures which version they are of, and on what they were measured", () => {
    const section = readSection("The Go controller");
    for (const word of ["v1.1.0", "1.36.2", "5.207.2", "another day", "simulated hypervisor"]) {
      expect(section).toContain(word);
    }
    expect(section).toContain("148 s");
    expect(page).not.toContain("v1.2.0");
  });
});
