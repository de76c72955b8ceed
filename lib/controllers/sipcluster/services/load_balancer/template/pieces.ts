/**
 * Splits a template into its texts and its actions.
 * @module
 */
import { TemplateProblem } from "./problem.ts";

/** A text to copy, or what stands between `{{` and `}}`. */
export interface Piece {
  readonly kind: "text" | "action";
  /** Of an action, without blanks and trim markers around it. */
  readonly content: string;
  /** The line on which it begins, from 1. */
  readonly line: number;
}

/**
 * Splits a template. A minus sign with a blank inside the braces removes all blanks and line ends beside them, as in
 * Go: `{{- .Name -}}`. Comments such as `{{/* text *\/}}` are left out.
 *
 * @throws {TemplateProblem} if an action or a comment has no end
 */
export function splitTemplate(template: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let line = 1;
  let trims = false;
  for (;;) {
    const open = template.indexOf("{{", at);
    let text = template.slice(at, open < 0 ? undefined : open);
    const textLine = line;
    line += countLines(text);
    if (trims) text = text.trimStart();
    if (open < 0) {
      if (text !== "") pieces.push({ kind: "text", content: text, line: textLine });
      return pieces;
    }
    const action = findAction(template, open, line);
    if (action.trimsBefore) text = text.trimEnd();
    if (text !== "") pieces.push({ kind: "text", content: text, line: textLine });
    if (!action.isComment) pieces.push({ kind: "action", content: action.content, line });
    line += countLines(template.slice(open, action.end));
    at = action.end;
    trims = action.trimsAfter;
  }
}

interface Action {
  readonly content: string;
  readonly isComment: boolean;
  readonly trimsBefore: boolean;
  readonly trimsAfter: boolean;
  /** Where the text after it begins. */
  readonly end: number;
}

function findAction(template: string, open: number, line: number): Action {
  const trimsBefore = /^-\s/.test(template.slice(open + 2, open + 4));
  const start = open + (trimsBefore ? 4 : 2);
  const isComment = template.startsWith("/*", start);
  // A comment may contain the braces.
  const from = isComment ? template.indexOf("*/", start + 2) : start;
  const close = from < 0 ? -1 : template.indexOf("}}", from);
  if (close < 0) throw new TemplateProblem(line, isComment ? "A comment does not end" : NO_END);
  const trimsAfter = /\s-$/.test(template.slice(Math.max(start, close - 2), close));
  const content = template.slice(start, trimsAfter ? close - 2 : close).trim();
  if (isComment && !content.endsWith("*/")) {
    throw new TemplateProblem(line, "A comment must be alone between {{ and }}");
  }
  return { content, isComment, trimsBefore, trimsAfter, end: close + 2 };
}

const NO_END = "An action has {{ without }}";

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
