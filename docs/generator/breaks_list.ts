/**
 * The list of deliberate breaks in docs/contributing/testing.md, from the table that `npm run breaks` works by.
 * @module
 */
import type { Break } from "../../test/breaks/break.ts";
import type { BreakGroup } from "../../test/breaks/breaks.ts";
import { toCode, toTable } from "./markdown.ts";

/** Renders a heading and a table for each group. */
export function renderBreakList(groups: readonly BreakGroup[]): string {
  return groups
    .map(({ title, breaks }) => `### ${title}\n\n${toTable(HEADER, breaks.map(toRow))}`)
    .join("\n");
}

const HEADER = ["break", "rule that it breaks", "caught by"] as const;

const WORDS = { nodes: "**simulation**", vinos: "**simulation of Vinos**" } as const;

function toRow({ id, invariant, tests, simulated }: Break): readonly string[] {
  const catchers = [...tests.map(toCode), ...(simulated ? [WORDS[simulated]] : [])];
  return [toCode(id), invariant, catchers.join(", ")];
}
