/**
 * Templates of HAProxy's configuration, which users write.
 *
 * It is a small part of the language of Go's text/template: `{{ .Field }}`, `{{ $ }}` and `{{ $variable.Field }}`,
 * `{{ $variable := .Field }}`, `{{ range .List }}`, `{{ range $item := .List }}`, `{{ range $index, $item := .List }}`,
 * `{{ if .Field }}`, `{{ else }}`, `{{ end }}`, comments and trim markers. There are no functions and no pipelines.
 *
 * A template is checked in full against an example of its data before it is rendered, so it is refused for what it says
 * and not for what there is today. Nothing waits while it is read and rendered, so both have a price in steps.
 * @module
 */
import { quote } from "../../../../core/text/printable.ts";

/** A value of a template. */
export type Value = string | number | readonly Value[] | { readonly [field: string]: Value };

/**
 * Work for one template, in steps: one for each part and item that is visited, and for each character between braces.
 * Without a compiler, so many take less than 0.1 s.
 */
const STEPS_MAX = 250_000;
/** An action is read before it is visited. */
const ACTION_STEPS = 10;
/** Longest result, in characters: the configuration must fit into a ConfigMap. */
const LENGTH_MAX = 1_000_000;
const DEPTH_MAX = 8;

const OPERAND = String.raw`\$\w*(?:\.[A-Za-z_]\w*)*|(?:\.[A-Za-z_]\w*)+|\.`;
const SIMPLE = new RegExp(String.raw`^(?:(\$\w+)\s*:=\s*)?(${OPERAND})$`);
const IF = new RegExp(String.raw`^if\s+(${OPERAND})$`);
const RANGE = new RegExp(String.raw`^range\s+(?:(?:(\$\w+)\s*,\s*)?(\$\w+)\s*:=\s*)?(${OPERAND})$`);

/** Why a template cannot be used. Its message is a sentence without a full stop. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
  /** Where it is, from 1. */
  readonly line: number;
  /** Whether it would take too much work, or give too much. */
  readonly isTooLarge: boolean;

  constructor(message: string, line: number, isTooLarge = false) {
    super(message);
    this.line = line;
    this.isTooLarge = isTooLarge;
  }
}

/**
 * Renders a template, as plain text: nothing is escaped.
 *
 * @param data What `$` is, and `.` outside of ranges
 * @param example Has the fields that the data has, and one item in each list
 * @throws {TemplateProblem} if the template is wrong, names what is not there, or is too large
 */
export function renderTemplate(template: string, data: Value, example: Value): string {
  return new Template(template).render(data, example);
}

/** A text to copy, or what stands between `{{` and `}}`. */
interface Piece {
  readonly kind: "text" | "action";
  /** Of an action, without blanks and trim markers around it. */
  readonly content: string;
  /** Where it begins. */
  readonly at: number;
}

/** A value: where it is while the template is rendered, and an example of it. */
interface Operand {
  readonly slot: number;
  /** From outside to inside. */
  readonly fields: readonly string[];
  readonly example: Value;
}

/** What a name means: a variable is another name for a value, and ends with the parts beside it. */
interface Scope {
  readonly current: Operand;
  readonly variables: Map<string, Operand>;
  readonly outer?: Scope;
}

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "print"; readonly operand: Operand }
  | Block;

interface Block {
  readonly kind: "range" | "if";
  readonly operand: Operand;
  /** Of `range`: where each item and its index go. */
  readonly item: number;
  readonly index: number;
  readonly at: number;
  readonly body: readonly Part[];
  /** After `{{ else }}`. */
  readonly otherwise: readonly Part[];
}

class Template {
  readonly #template: string;
  readonly #pieces: Iterator<Piece, undefined>;
  /** What is known while it is rendered: the data, then items and indices of ranges. */
  readonly #slots: Value[] = [];
  #slotCount = 1;
  #steps = 0;
  #result = "";

  constructor(template: string) {
    this.#template = template;
    this.#pieces = this.#split();
  }

  render(data: Value, example: Value): string {
    const current = { slot: 0, fields: [], example };
    const { parts, end } = this.#readList({ current, variables: new Map([["$", current]]) }, 0);
    if (end) throw this.#toProblem(end.at, `{{ ${end.content} }} closes nothing`);
    this.#slots.push(data);
    this.#renderAll(parts, 0);
    this.#spend(0, this.#template.length);
    return this.#result;
  }

  /**
   * Splits the template. A minus sign with a blank inside the braces removes all blanks and line ends beside them, as
   * in Go: `{{- .Name -}}`. Comments such as `{{/* text *\/}}` are left out.
   */
  *#split(): Generator<Piece, undefined> {
    const template = this.#template;
    let trims = false;
    for (let at = 0; ;) {
      const open = template.indexOf("{{", at);
      let text = template.slice(at, open < 0 ? undefined : open);
      if (trims) text = text.trimStart();
      const trimsBefore = open >= 0 && /^-\s/.test(template.slice(open + 2, open + 4));
      if (trimsBefore) text = text.trimEnd();
      if (text !== "") yield { kind: "text", content: text, at };
      if (open < 0) return undefined;
      const start = open + (trimsBefore ? 4 : 2);
      const isComment = template.startsWith("/*", start);
      // A comment may contain the braces.
      const from = isComment ? template.indexOf("*/", start + 2) : start;
      const close = from < 0 ? -1 : template.indexOf("}}", from);
      if (close < 0) throw this.#toProblem(open, isComment ? "A comment does not end" : NO_END);
      this.#spend(ACTION_STEPS + (isComment ? 0 : close - start), open);
      trims = /\s-$/.test(template.slice(Math.max(start, close - 2), close));
      const content = template.slice(start, trims ? close - 2 : close).trim();
      if (!isComment) yield { kind: "action", content, at: open };
      else if (!content.endsWith("*/"))
        throw this.#toProblem(open, "A comment must be alone between {{ and }}");
      at = close + 2;
    }
  }

  /** Reads parts up to an `else` or `end`, which it returns, or to the end of the template. */
  #readList(
    scope: Scope,
    depth: number,
  ): { readonly parts: readonly Part[]; readonly end?: Piece } {
    const parts: Part[] = [];
    for (;;) {
      const piece = this.#pieces.next().value;
      if (piece === undefined) return { parts };
      const { kind, content, at } = piece;
      if (kind === "text") {
        parts.push({ kind, text: content });
        continue;
      }
      if (content === "else" || content === "end") return { parts, end: piece };
      const [, variable, named] = SIMPLE.exec(content) ?? [];
      if (named === undefined) {
        parts.push(this.#readBlock(piece, scope, depth + 1));
        continue;
      }
      const operand = this.#find(named, scope, at);
      if (variable !== undefined) scope.variables.set(variable, operand);
      else if (typeof operand.example !== "object") parts.push({ kind: "print", operand });
      else throw this.#toProblem(at, "A list cannot be printed");
    }
  }

  #readBlock({ content, at }: Piece, outer: Scope, depth: number): Block {
    const [, condition] = IF.exec(content) ?? [];
    const [, indexName, itemName, list] = RANGE.exec(content) ?? [];
    const named = condition ?? list;
    if (named === undefined)
      throw this.#toProblem(at, `Landfall does not understand the action ${quote(content)}`);
    if (depth > DEPTH_MAX)
      throw this.#toProblem(at, `Actions are nested more than ${DEPTH_MAX} deep`);
    const operand = this.#find(named, outer, at);
    const [item, index] = [this.#slotCount, this.#slotCount + 1];
    const inner = { current: outer.current, variables: new Map<string, Operand>(), outer };
    if (condition === undefined) {
      const { example } = operand;
      const [one] = isList(example) ? example : [];
      if (one === undefined) throw this.#toProblem(at, "Only a list can have a range");
      this.#slotCount += 2;
      inner.current = { slot: item, fields: [], example: one };
      if (indexName) inner.variables.set(indexName, { slot: index, fields: [], example: 0 });
      if (itemName) inner.variables.set(itemName, inner.current);
    }
    const first = this.#readList(inner, depth);
    const second =
      first.end?.content === "else"
        ? this.#readList({ current: outer.current, variables: new Map(), outer }, depth)
        : { parts: [], end: first.end };
    const { end } = second;
    if (end === undefined) throw this.#toProblem(at, `${quote(content)} has no {{ end }}`);
    if (end.content === "else") throw this.#toProblem(end.at, "There is a second {{ else }}");
    const kind = condition === undefined ? "range" : "if";
    return { kind, operand, item, index, at, body: first.parts, otherwise: second.parts };
  }

  /** What a text such as `$name.Field` names. */
  #find(text: string, scope: Scope, at: number): Operand {
    const [name = "", ...names] = text === "." ? [] : text.split(".");
    let operand = name === "" ? scope.current : undefined;
    for (let next: Scope | undefined = scope; !operand && next; next = next.outer)
      operand = next.variables.get(name);
    if (operand === undefined)
      throw this.#toProblem(at, `There is no variable ${quote(name)} here`);
    let { example } = operand;
    for (const field of names) {
      const record = isRecord(example) ? example : {};
      const found = Object.hasOwn(record, field) ? record[field] : undefined;
      if (found === undefined) {
        const known = Object.keys(record).join(" and ");
        const hint = known && `, only ${known}`;
        throw this.#toProblem(at, `There is no field ${quote(field)} here${hint}`);
      }
      example = found;
    }
    return { slot: operand.slot, fields: [...operand.fields, ...names], example };
  }

  #renderAll(parts: readonly Part[], at: number): void {
    this.#spend(1 + parts.length, at);
    for (const part of parts) {
      if (part.kind === "text") this.#result += part.text;
      else {
        const value = this.#read(part.operand);
        if (part.kind === "print") this.#result += String(value);
        else if (isEmpty(value)) this.#renderAll(part.otherwise, part.at);
        else if (part.kind === "if") this.#renderAll(part.body, part.at);
        else if (isList(value)) this.#renderRange(part, value);
      }
    }
  }

  #renderRange({ body, item, index, at }: Block, list: readonly Value[]): void {
    for (let number = 0; number < list.length; number += 1) {
      this.#slots[item] = list[number] ?? "";
      this.#slots[index] = number;
      this.#renderAll(body, at);
    }
  }

  #read({ slot, fields }: Operand): Value {
    let value = this.#slots[slot] ?? "";
    for (const field of fields) value = (isRecord(value) ? value[field] : undefined) ?? "";
    return value;
  }

  /** Fails if that is too much work, or if the result is too long now: a list of parts adds little to it. */
  #spend(steps: number, at: number): void {
    this.#steps += steps;
    if (this.#steps > STEPS_MAX) throw this.#toProblem(at, TOO_MUCH_WORK, true);
    if (this.#result.length > LENGTH_MAX) throw this.#toProblem(at, TOO_LONG, true);
  }

  #toProblem(at: number, message: string, isTooLarge = false): TemplateProblem {
    const line = this.#template.slice(0, at).split("\n").length;
    return new TemplateProblem(message, line, isTooLarge);
  }
}

const TOO_LONG =
  `The configuration has more than ${LENGTH_MAX} characters. ` +
  "Write less for each port and server, or use fewer of them";
const NO_END = "An action has {{ without }}";
const TOO_MUCH_WORK =
  `The template takes more than ${STEPS_MAX} steps. ` +
  "Use fewer actions, or fewer ranges inside ranges";

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isRecord(value: Value): value is { readonly [field: string]: Value } {
  return typeof value === "object" && !isList(value);
}

/** What counts as false in Go. */
function isEmpty(value: Value): boolean {
  return value === 0 || value === "" || (isList(value) && value.length === 0);
}
