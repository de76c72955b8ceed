/**
 * Reads the actions of a template.
 *
 * It is a small part of the language of Go's text/template: `{{ .Field }}`, `{{ $ }}` and `{{ $variable.Field }}`,
 * `{{ $variable := .Field }}`, `{{ range .List }}`, `{{ range $item := .List }}`, `{{ range $index, $item := .List }}`,
 * `{{ if .Field }}`, `{{ else }}`, `{{ end }}`, comments and trim markers. There are no functions and no pipelines.
 * @module
 */
import { quote } from "../../../../../core/text/printable.ts";
import { type Piece, splitTemplate } from "./pieces.ts";
import { TemplateProblem } from "./problem.ts";

/** A value that a template names: a variable or the current value, and fields of it. */
export interface Operand {
  /** `$` for all data, `$name` for a variable; absent for the current value. */
  readonly variable?: string;
  /** From outside to inside. */
  readonly fields: readonly string[];
}

/** A part of a template, with its line. */
export type Part =
  | { readonly kind: "text"; readonly text: string; readonly line: number }
  | { readonly kind: "print"; readonly operand: Operand; readonly line: number }
  | {
      readonly kind: "declare";
      readonly variable: string;
      readonly operand: Operand;
      readonly line: number;
    }
  | Block;

/** A part with parts inside. */
export interface Block {
  readonly kind: "range" | "if";
  readonly operand: Operand;
  /** Variables of `range`. */
  readonly index?: string;
  readonly item?: string;
  readonly line: number;
  readonly body: readonly Part[];
  /** After `{{ else }}`. */
  readonly otherwise: readonly Part[];
}

const DEPTH_MAX = 8;
const OPERAND = String.raw`\$\w*(?:\.[A-Za-z_]\w*)*|(?:\.[A-Za-z_]\w*)+|\.`;
const PRINT = new RegExp(`^(${OPERAND})$`);
const DECLARE = new RegExp(String.raw`^(\$\w+)\s*:=\s*(${OPERAND})$`);
const IF = new RegExp(String.raw`^if\s+(${OPERAND})$`);
const RANGE = new RegExp(String.raw`^range\s+(?:(?:(\$\w+)\s*,\s*)?(\$\w+)\s*:=\s*)?(${OPERAND})$`);

/**
 * Reads a template.
 *
 * @throws {TemplateProblem} if it has an action that is not one of the above
 */
export function parseTemplate(template: string): readonly Part[] {
  return new Parser(splitTemplate(template)).parse();
}

class Parser {
  readonly #pieces: readonly Piece[];
  #at = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  parse(): readonly Part[] {
    const { parts, end } = this.#parseList(0);
    if (end) throw new TemplateProblem(end.line, `{{ ${end.content} }} closes nothing`);
    return parts;
  }

  /** Reads parts up to an `else` or `end`, which it returns, or to the end of the template. */
  #parseList(depth: number): { readonly parts: readonly Part[]; readonly end?: Piece } {
    const parts: Part[] = [];
    for (;;) {
      const piece = this.#pieces[this.#at];
      if (piece === undefined) return { parts };
      this.#at += 1;
      const { kind, content, line } = piece;
      if (kind === "text") parts.push({ kind, text: content, line });
      else if (content === "else" || content === "end") return { parts, end: piece };
      else parts.push(parseSimple(piece) ?? this.#parseBlock(piece, depth + 1));
    }
  }

  #parseBlock(piece: Piece, depth: number): Block {
    const { content, line } = piece;
    const head = parseHead(piece);
    if (depth > DEPTH_MAX) {
      throw new TemplateProblem(line, `Actions are nested more than ${DEPTH_MAX} deep`);
    }
    const unclosed = new TemplateProblem(line, `{{ ${content} }} has no {{ end }}`);
    const first = this.#parseList(depth);
    if (first.end === undefined) throw unclosed;
    if (first.end.content === "end") return { ...head, line, body: first.parts, otherwise: [] };
    const second = this.#parseList(depth);
    if (second.end === undefined) throw unclosed;
    if (second.end.content === "else") {
      throw new TemplateProblem(second.end.line, "There is a second {{ else }}");
    }
    return { ...head, line, body: first.parts, otherwise: second.parts };
  }
}

function parseSimple({ content, line }: Piece): Part | undefined {
  const printed = PRINT.exec(content);
  if (printed) return { kind: "print", operand: toOperand(printed[1]), line };
  const declared = DECLARE.exec(content);
  if (declared === null) return undefined;
  const [, variable = "", operand] = declared;
  return { kind: "declare", variable, operand: toOperand(operand), line };
}

function parseHead({ content, line }: Piece): Pick<Block, "kind" | "operand" | "index" | "item"> {
  const condition = IF.exec(content);
  if (condition) return { kind: "if", operand: toOperand(condition[1]) };
  const range = RANGE.exec(content);
  if (range === null) {
    throw new TemplateProblem(line, `Landfall does not understand the action ${quote(content)}`);
  }
  const [, index, item, operand] = range;
  const variables = { ...(index && { index }), ...(item && { item }) };
  return { kind: "range", operand: toOperand(operand), ...variables };
}

function toOperand(text = ""): Operand {
  const [variable, ...fields] = text.split(".").filter((part, at) => at === 0 || part !== "");
  return variable ? { variable, fields } : { fields };
}
