/**
 * Renders a template over the servers and ports of a load balancer, as plain text: nothing is escaped.
 * @module
 */
import { quote } from "../../../../../core/text/printable.ts";
import { type Block, type Operand, parseTemplate, type Part } from "./parse.ts";
import { TemplateProblem } from "./problem.ts";

/** A value of a template. */
export type Value = string | number | readonly Value[] | { readonly [field: string]: Value };

/** Longest result, in characters: the configuration must fit into a Secret. */
const LENGTH_MAX = 1_000_000;
/** How many parts and items are visited at most: ranges can be nested. */
const STEPS_MAX = 500_000;

/**
 * Renders a template.
 *
 * @param data What `$` is, and `.` outside of ranges
 * @throws {TemplateProblem} if the template is wrong, names a field or variable that is not there, or gives too much
 */
export function renderTemplate(template: string, data: Value): string {
  const parts = parseTemplate(template);
  const renderer = new Renderer();
  renderer.render(parts, data, new Map([["$", data]]));
  return renderer.text;
}

/** By name, with `$` in front. */
type Variables = ReadonlyMap<string, Value>;

class Renderer {
  text = "";
  #steps = 0;

  /** Variables that are declared here end with these parts, as in Go. */
  render(parts: readonly Part[], current: Value, outer: Variables): void {
    const variables = new Map(outer);
    for (const part of parts) {
      this.#step(part.line);
      if (part.kind === "text") this.text += part.text;
      else {
        const value = find(part.operand, current, { variables, line: part.line });
        if (part.kind === "print") this.text += print(value, part.line);
        else if (part.kind === "declare") variables.set(part.variable, value);
        else this.#renderBlock(part, value, { current, variables });
      }
    }
  }

  #renderBlock(
    block: Block,
    value: Value,
    { current, variables }: { readonly current: Value; readonly variables: Variables },
  ): void {
    const { kind, body, otherwise, index, item, line } = block;
    if (isEmpty(value)) this.render(otherwise, current, variables);
    else if (kind === "if") this.render(body, current, variables);
    else {
      if (!isList(value)) throw new TemplateProblem(line, "Only a list can have a range");
      for (const [at, one] of value.entries()) {
        this.#step(line);
        const inner = new Map(variables);
        if (index !== undefined) inner.set(index, at);
        if (item !== undefined) inner.set(item, one);
        this.render(body, one, inner);
      }
    }
  }

  #step(line: number): void {
    this.#steps += 1;
    if (this.#steps > STEPS_MAX || this.text.length > LENGTH_MAX) {
      throw new TemplateProblem(line, "The result is too long");
    }
  }
}

function find(
  { variable, fields }: Operand,
  current: Value,
  { variables, line }: { readonly variables: Variables; readonly line: number },
): Value {
  let value = variable === undefined ? current : variables.get(variable);
  if (value === undefined) {
    throw new TemplateProblem(line, `There is no variable ${variable ?? ""} here`);
  }
  for (const field of fields) value = findField(value, field, line);
  return value;
}

function findField(value: Value, field: string, line: number): Value {
  const isRecord = typeof value === "object" && !isList(value);
  const found = isRecord && Object.hasOwn(value, field) ? value[field] : undefined;
  if (found !== undefined) return found;
  const hint = isRecord ? `, only ${Object.keys(value).join(" and ")}` : "";
  throw new TemplateProblem(line, `There is no field ${quote(field)} here${hint}`);
}

function print(value: Value, line: number): string {
  if (typeof value === "object") throw new TemplateProblem(line, "A list cannot be printed");
  return String(value);
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** What counts as false in Go. */
function isEmpty(value: Value): boolean {
  return value === 0 || value === "" || (isList(value) && value.length === 0);
}
