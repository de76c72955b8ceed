/**
 * The deliberate breaks themselves: that the list does not rot while the program changes.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSource, ROOT } from "../support/sources.ts";
import { applyEdit } from "./apply.ts";
import { BREAKS } from "./breaks.ts";
import { findCatch } from "./catchers.ts";

describe("deliberate breaks", () => {
  test.each(BREAKS.map((one) => [one.id, one] as const))("%s can be applied", async (_id, one) => {
    const texts = new Map<string, string>();
    for (const edit of one.edits) {
      expect(edit.file).toStartWith("lib/");
      expect(edit.to).not.toBe(edit.from);
      const text = texts.get(edit.file) ?? (await readSource(edit.file));
      texts.set(edit.file, applyEdit(text, edit));
    }
    for (const [file, text] of texts) {
      const transpiler = new Bun.Transpiler({ loader: file.endsWith("x") ? "tsx" : "ts" });
      // What cannot even be read is caught by anything.
      expect(transpiler.transformSync(text)).not.toBe("");
    }
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

describe("applyEdit()", () => {
  const edit = { file: "lib/x.ts", from: "a", to: "b" };

  test("puts the one piece in the place of the other", () => {
    expect(applyEdit("cac", edit)).toBe("cbc");
  });

  test.each(["ccc", "aca"])("refuses a text that does not have the piece once: %s", (text) => {
    expect(() => applyEdit(text, edit)).toThrow(/^lib\/x\.ts has [02] times, not once: a$/);
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
