/**
 * The page about performance: what is compared with what.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { BUDGETS } from "../../bench/budgets.ts";
import { NO_RESULTS, type Results, type Run } from "../../bench/results.ts";
import { renderPerformance } from "../../docs/generator/performance/page.ts";

const figures = Object.fromEntries(Object.keys(BUDGETS).map((name) => [name, 1]));
const run: Run = {
  date: "2026-01-01",
  machine: "2 processors",
  loadBefore: "0.5 1 20",
  loadAfter: "1.5 2 3",
};
const results: Results = { ...NO_RESULTS, figures, runs: { small: run } };
const page =
  renderPerformance({ xenorchestra: results, cloudstack: results }).get(
    "explanation/performance.md",
  ) ?? "";

function readSection(title: string): string {
  return page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
}

describe("renderPerformance()", () => {
  test("puts into the table of goals only what was measured together", () => {
    const tables = readSection("Xen Orchestra: goals")
      .split("\n")
      .filter((line) => line.startsWith("|"));
    expect(tables.length).toBeGreaterThan(10);
    expect(tables.join("\n")).not.toContain("Go controller");
    for (const row of tables) expect(row.split("|")).toHaveLength(6);
  });

  test("keeps the figures of each cloud apart, with goals and charts of its own", () => {
    const pages = renderPerformance({ xenorchestra: results, cloudstack: results });
    const row = "1,000 Nodes at once, until all are initialised, median";
    for (const [title, goal] of [
      ["Xen Orchestra", "5"],
      ["Apache CloudStack", "3"],
    ]) {
      const lines = readSection(`${title}: goals`).split("\n");
      expect(lines.find((line) => line.includes(row))).toContain(`≤ ${goal} `);
    }
    const charts = [...pages.keys()].filter((path) => path.endsWith(".svg"));
    for (const path of charts) expect(page).toContain(`(../${path})`);
    expect(charts.map((path) => path.includes("cloudstack"))).toEqual([
      ...Array.from({ length: 4 }, () => false),
      ...Array.from({ length: 4 }, () => true),
    ]);
  });

  test("says of which cloud the figures are noisy", () => {
    const noisy = { ...run, loadBefore: "6.2 5 4", loadAfter: "3 3 3" };
    const busy: Results = { ...results, runs: { small: run, "1000": noisy } };
    const text = renderPerformance({ xenorchestra: results, cloudstack: busy }).get(
      "explanation/performance.md",
    );
    expect(text?.split("**Noisy:**")).toHaveLength(2);
    expect(text?.split("## Apache CloudStack")[1]).toContain("(load up to 6.2)");
  });

  test("says of a measurement that ran elsewhere when and where it ran", () => {
    const later = { ...run, date: "2026-01-02", machine: "8 processors" };
    const runs = { machines: later, small: run, start: run };
    const text = renderPerformance({
      xenorchestra: { ...results, runs },
      cloudstack: NO_RESULTS,
    }).get("explanation/performance.md");
    expect(text).toContain(
      "Measured on 2026-01-01: 2 processors. `machines` on 2026-01-02: 8 processors.\n",
    );
  });

  test("leaves out a cloud that was never measured", () => {
    const pages = renderPerformance({ xenorchestra: results, cloudstack: NO_RESULTS });
    expect(pages.size).toBe(5);
    expect(pages.get("explanation/performance.md")).not.toContain("Apache CloudStack:");
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
