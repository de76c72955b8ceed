/**
 * The deliberate breaks themselves: that the list does not rot while the program changes.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSource, ROOT } from "../support/sources.ts";
import { applyEdit } from "./apply.ts";
import type { Break } from "./break.ts";
import { BREAKS } from "./breaks.ts";
import { findCatch } from "./catchers.ts";
import { readTokens, renameTokens, type Token } from "./tokens.ts";

/** The texts of the files that a break edits, by path. */
type Texts = ReadonlyMap<string, string>;

async function readTexts({ edits }: Break): Promise<Texts> {
  const files = [...new Set(edits.map(({ file }) => file))];
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readSource(file)] as const)),
  );
}

function applyEdits({ edits }: Break, texts: Texts): Texts {
  const broken = new Map(texts);
  for (const edit of edits) broken.set(edit.file, applyEdit(broken.get(edit.file) ?? "", edit));
  return broken;
}

/** As if somebody had renamed everything there is, but for what a break brings along from outside. */
function renameAll({ edits }: Break, texts: Texts): Texts {
  const listWords = (code: string): string[] => readTokens(code).map(({ text }) => text);
  const known = new Set(edits.flatMap(({ from, given }) => [from, ...given].flatMap(listWords)));
  const brought = new Set(
    edits.flatMap(({ to }) => listWords(to)).filter((one) => !known.has(one)),
  );
  const toName = ({ text, role }: Token): string =>
    brought.has(text) ? text : `${text}_${role === "member" ? "m" : "v"}`;
  return new Map(Array.from(texts, ([file, text]) => [file, renameTokens(text, toName)]));
}

describe("deliberate breaks", () => {
  test.each(BREAKS.map((one) => [one.id, one] as const))("%s can be applied", async (_id, one) => {
    const texts = await readTexts(one);
    const broken = applyEdits(one, texts);
    for (const [file, text] of broken) {
      expect(file).toMatch(/^lib\/.*\.ts$/);
      expect(text).not.toBe(texts.get(file));
      // What cannot even be read is caught by anything.
      expect(new Bun.Transpiler({ loader: "ts" }).transformSync(text)).not.toBe("");
    }
    expect(applyEdits(one, renameAll(one, texts))).toEqual(renameAll(one, broken));
  });

  test("each is given to test files that are there", () => {
    const missing = BREAKS.flatMap(({ tests }) => tests).filter(
      (file) => !existsSync(join(ROOT, file)),
    );
    expect(missing).toEqual([]);
  });

  test("each has a name of its own and says what holds, as a part of a sentence", () => {
    expect(new Set(BREAKS.map(({ id }) => id)).size).toBe(BREAKS.length);
    for (const { id, invariant } of BREAKS) {
      expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(invariant).toMatch(/^[a-z].*[^.]$/);
    }
  });
});

test.each([
  [0, "(pass) it works [1.00ms]\n", undefined],
  [1, "(pass) it works\n(fail) it > breaks [1234.50ms]\n(fail) later\n", "it > breaks"],
  [1, "T+1 s a1 sends it\nBROKEN: a1 deletes Node n1\nBROKEN: more\n", "a1 deletes Node n1"],
  [137, "(pass) it works\n", "it did not end in time"],
] as const)("findCatch() of code %d and %j is %p", (code, output, caught) => {
  expect(findCatch({ code, output })).toBe(caught);
});
