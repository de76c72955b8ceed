/**
 * Tables for terminals, and those that the pages of several kinds have.
 * @module
 */
import { toPlainText } from "../core/text/printable.ts";
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

const CONDITION_TITLES = ["CONDITION", "STATUS", "REASON", "MESSAGE"];
const POOL_TITLES = ["POOL", "FAMILY", "USED", "TOTAL"];

/** The conditions of an object. */
export function formatConditions(conditions: readonly ConditionView[]): string {
  const rows = conditions.map(({ type, status, reason, message }) => [
    type,
    status,
    reason,
    message,
  ]);
  return formatTable(CONDITION_TITLES, rows);
}

/** How full address pools are. */
export function formatPools(pools: readonly PoolUsageView[]): string {
  const rows = pools.map(({ pool, family, used, total }) => [
    pool,
    family,
    String(used),
    String(total),
  ]);
  return formatTable(POOL_TITLES, rows);
}
