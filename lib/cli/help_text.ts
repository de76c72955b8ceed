/**
 * Paragraphs and examples of help texts. Pure.
 * @module
 */
import { wrapAfter, wrapText } from "../core/text/wrap.ts";
import type { CommandSpec } from "./commands.ts";

/** A heading, and each example after what it is for. Ends in a newline. */
export function formatExamples(examples: CommandSpec["examples"], width: number): string {
  const lines = examples.map(
    ([purpose, line]) =>
      `${wrapAfter("  # ", purpose, { width, indent: "  # " })}${formatLine(line, width)}`,
  );
  return `Examples:\n${lines.join("")}`;
}

/** A line to type, continued with `\` where it is too long: so it can be pasted. */
function formatLine(line: string, width: number): string {
  return `  ${wrapText(line, width - 6).join(" \\\n    ")}\n`;
}

/** A paragraph without indent. Ends in a newline. */
export function toParagraph(text: string, width: number): string {
  return wrapAfter("", text, { width });
}
