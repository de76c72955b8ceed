/**
 * Tables for terminals.
 * @module
 */
import { toPlainText } from "../core/printable.ts";

/** What is longer is cut, but for the last cell of a row: one long name would make every row as long. */
const CELL_LENGTH_MAX = 120;

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
  const last = header.length - 1;
  const lines = [header, ...rows].map((row) => row.map((cell, at) => toCell(cell, at === last)));
  const widths = header.map((_, at) =>
    lines.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0),
  );
  return lines
    .map((row) => row.map((cell, at) => (at === last ? cell : cell.padEnd(widths[at] ?? 0))))
    .map((row) => `${row.join("  ").trimEnd()}\n`)
    .join("");
}

function toCell(text: string, isLast: boolean): string {
  if (text === "") return "-";
  const plain = toPlainText(text);
  const isLong = !isLast && plain.length > CELL_LENGTH_MAX;
  return isLong ? `${plain.slice(0, CELL_LENGTH_MAX - 1)}…` : plain;
}
