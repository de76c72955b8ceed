/**
 * Tables for terminals.
 * @module
 */

/**
 * Aligns columns with two blanks between them, as kubectl does. Empty cells show as `-`; line breaks as blanks.
 *
 * @param header Titles
 * @param rows Cells, as many as there are titles
 * @returns Lines, each ending in a newline
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [header, ...rows].map((row) => row.map(toCell));
  const widths = header.map((_, at) => Math.max(...lines.map((row) => (row[at] ?? "").length)));
  return lines
    .map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function toCell(text: string): string {
  return text === "" ? "-" : text.replaceAll(/\s+/g, " ");
}
