/**
 * Markdown pieces of the reference pages.
 * @module
 */

/** Stands at the top of every generated page. */
export const GENERATED_NOTE = "<!-- Written by docs/generate.ts (npm run docs). Do not edit. -->";

/** A table, aligned as the formatter wants it; cells are Markdown already, except `|` and line breaks. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [header, ...rows].map((row) => row.map(toCell));
  const widths = header.map((_, at) =>
    Math.max(3, ...cells.map((row) => Bun.stringWidth(row[at] ?? ""))),
  );
  const lines = cells.map((row) => toRow(row, widths));
  const rule = toRow(
    widths.map((width) => "-".repeat(width)),
    widths,
  );
  return [lines[0], rule, ...lines.slice(1)].map((line) => `${line}\n`).join("");
}

/** Text in the type of code; nothing for nothing. */
export function toCode(text: string | undefined): string {
  return text === undefined || text === "" ? "" : `\`${text}\``;
}

function toRow(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map(
    (cell, at) => cell + " ".repeat((widths[at] ?? 0) - Bun.stringWidth(cell)),
  );
  return `| ${padded.join(" | ")} |`;
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}
