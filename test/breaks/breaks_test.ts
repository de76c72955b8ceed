/**
 * The deliberate breaks themselves: that the list does not rot while the program changes.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSource, ROOT } from "../support/sources.ts";
import { applyBreak, type Break, findCatch } from "./break.ts";
import { BREAKS } from "./breaks.ts";

describe("deliberate breaks", () => {
  test.each(BREAKS.map((one) => [one.id, one] as const))("%s can be applied", async (_id, one) => {
    const text = await readSource(one.file);
    const broken = applyBreak(text, one);
    expect(broken).not.toBe(text);
    // What cannot even be read is caught by anything.
    expect(new Bun.Transpiler({ loader: "tsx" }).transformSync(broken)).not.toBe("");
    expect(existsSync(join(ROOT, one.caughtBy))).toBe(true);
  });

  test("each has a name of its own and says what holds, as a part of a sentence", () => {
    expect(new Set(BREAKS.map(({ id }) => id)).size).toBe(BREAKS.length);
    for (const { id, rule, file, caughtBy } of BREAKS) {
      expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(rule).toMatch(/^[a-z].*[^.]$/);
      expect(file).toMatch(/^lib\/.*\.tsx?$/);
      expect(caughtBy).toMatch(/^test\/.*_test\.ts$/);
    }
  });

  test("applyBreak() replaces what occurs once, in any layout", () => {
    const one: Break = {
      id: "an-id",
      rule: "a rule",
      file: "lib/a.ts",
      from: "if (a[0]) return;",
      to: "$& b();",
      caughtBy: "test/a_test.ts",
    };
    expect(applyBreak("x; if\n  (a[0])  return; y", one)).toBe("x; $& b(); y");
    expect(() => applyBreak("if (a[0]) { return; }", one)).toThrow("0 times");
    expect(() => applyBreak("if (a[0]) return; if (a[0]) return;", one)).toThrow("2 times");
  });

  test.each([
    [0, "(pass) it works [1.00ms]\n", undefined],
    [1, "(pass) it works\n(fail) it > breaks [1234.50ms]\n(fail) later\n", "it > breaks"],
    [1, "error: Cannot find module\n", undefined],
    [undefined, "(pass) it works\n", "it did not end in time"],
  ] as const)("findCatch() of code %p and %j is %p", (code, output, caught) => {
    expect(findCatch(code, output)).toBe(caught);
  });
});
