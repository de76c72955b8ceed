/**
 * Tables for terminals, and those that the pages of several kinds have.
 * @module
 */
import { toPlainText } from "../core/text/printable.ts";
import { type Section, type TableSection, toCellText } from "./page/model.ts";
import type { ConditionView, PoolUsageView } from "./views.ts";

/** Maximum width of a column, enough for two UUIDs. A longer value moves only the rest of its own row. */
const WIDTH_MAX = 96;

/**
 * Aligns columns with two blanks between them, as kubectl does. Empty cells show as `-`, texts as
 * {@linkcode toPlainText} makes them.
 *
 * @param header Titles
 * @param rows Cells, as many as there are titles
 * @returns Lines, each ending in a newline
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [header, ...rows].map((row) => row.map((cell) => toPlainText(cell) || "-"));
  const widths = header.map((_, at) => findWidth(lines.map((row) => row[at] ?? "")));
  return lines
    .map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function findWidth(cells: readonly string[]): number {
  const lengths = cells.map(({ length }) => length).filter((length) => length <= WIDTH_MAX);
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}

/** Sections of a page as tables. Facts are in the row of the object already. */
export function formatSections(sections: readonly Section[]): string {
  return sections.flatMap(listTables).join("\n");
}

/** A title as tables for terminals have it: `NODE-PORTS`. */
export function toTitle(title: string): string {
  return title.toUpperCase().replaceAll(" ", "-");
}

function listTables(section: Section): string[] {
  switch (section.kind) {
    case "table":
      return toTable(
        section.columns,
        section.rows.map(({ cells }) => cells.map(toCellText)),
      );
    case "comparison":
      return toTable(
        ["Of", "Part", "Desired", "Actual"],
        section.comparisons.flatMap(({ title, lines }) =>
          lines.map(({ name, wanted = "", actual = "", state }) => [
            title,
            name,
            wanted === "" && state === "unknown" ? "unknown" : wanted,
            actual,
          ]),
        ),
      );
    case "problems":
      return toTable(
        ["Problem", "Message"],
        section.problems.map(({ title, text }) => [title, text]),
      );
    case "steps":
      return toTable(
        ["Step", "What"],
        section.steps.map((step, at) => [String(at + 1), step]),
      );
    case "boxes":
    case "text":
      return section.tables.flatMap(listTables);
    case "facts":
      return [];
  }
}

function toTable(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [formatTable(titles.map(toTitle), rows)];
}

const COUNTED_MAX = 1_000_000;

/** How full address pools are. */
export function toPoolTable(pools: readonly PoolUsageView[]): TableSection {
  return {
    kind: "table",
    id: "pools",
    title: "Address pools",
    columns: ["Pool", "Family", "In use", "Addresses"],
    layout: "nodes pools",
    rows: pools.map(({ pool, family, used, total }) => ({
      cells: [
        pool,
        family,
        { text: used.toLocaleString("en"), share: total === 0 ? 0 : used / total },
        total > COUNTED_MAX ? "more than a million" : total.toLocaleString("en"),
      ],
    })),
  };
}

/** The conditions of an object, for terminals: pages show them as facts. */
export function toConditionTable(conditions: readonly ConditionView[]): TableSection {
  return {
    kind: "table",
    id: "conditions",
    title: "Conditions",
    columns: ["Condition", "Status", "Reason", "Message"],
    rows: conditions.map(({ type, status, reason, message }) => ({
      cells: [type, status, reason, message],
    })),
  };
}
