/**
 * The lines of an INI file, as gcfg reads them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readIniLines } from "../../../../lib/providers/cloudstack/settings/ini_lines.ts";

/** The value of the only key. */
function readValue(written: string): string | undefined {
  const { lines, issues } = readIniLines(`key${written}`);
  expect(issues).toEqual([]);
  const [line] = lines;
  expect(lines).toHaveLength(1);
  return line?.kind === "entry" ? line.value : undefined;
}

describe("readIniLines()", () => {
  test("finds sections and keys with their places, between comments and empty lines", () => {
    const text =
      "\ufeff; first\r\n\r\n[Global]\r\n  api-url = u # end\r\n# two\r\n[ Deletion ] ; x\nOn\n";
    expect(readIniLines(text)).toEqual({
      lines: [
        { kind: "section", name: "Global", line: 3, column: 1 },
        { kind: "entry", key: "api-url", value: "u", line: 4, column: 3 },
        { kind: "section", name: "Deletion", line: 6, column: 1 },
        { kind: "entry", key: "On", line: 7, column: 1 },
      ],
      issues: [],
    });
  });

  test.each([
    ["=value", "value"],
    ["\t =\t value \t", "value"],
    [" = two words", "two words"],
    [" = a=b==", "a=b=="],
    [" = https://host/client/api", "https://host/client/api"],
    [" = a;b", "a"],
    [" = a # b", "a"],
    [' = "a;b # c"', "a;b # c"],
    [' = " a "', " a "],
    [' = a" b "c', "a b c"],
    [' = "say \\"x\\" \\\\ \\n\\t."', 'say "x" \\ \n\t.'],
    [' = ""', ""],
    [" =", ""],
    [" = ; nothing", ""],
    ["", undefined],
    [" ; on", undefined],
    [" # on = 1", undefined],
    [" = a\\\n  b", "a  b"],
    [" = a \\\n;b", "a"],
  ])("reads key%j as %j", (written, value) => expect(readValue(written)).toBe(value));

  test.each([
    ["no key", 1],
    ["[Global", 1],
    ["[]", 1],
    ['[Global "one"]', 1],
    ["[Global] api-url = u", 1],
    ["1key = v", 1],
    ["_key = v", 1],
    ["= v", 1],
    ['key = "open', 1],
    ['key = "a\\q"', 1],
    ["key = C:\\path", 1],
    ["key: value", 1],
    ['ok = 1\nkey = "a\nb"', 2],
  ])("says what is wrong with %j, and where", (text, line) => {
    const { issues } = readIniLines(text);
    expect(issues[0]).toMatchObject({ line, column: 1 });
  });

  test("reads on after a line that is wrong, and never repeats one", () => {
    const { lines, issues } = readIniLines(
      '[Global]\nsecret-key = "s3cret\napi-key = k\n s3cret value\n',
    );
    expect(lines).toHaveLength(2);
    expect(issues.map(({ line }) => line)).toEqual([2, 4]);
    expect(JSON.stringify(issues)).not.toContain("s3cret");
  });

  test("a value in quotes keeps every character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }).filter((text) => !/[\r\0]/.test(text)),
        (text) => {
          const quoted = text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
          expect(readValue(` = "${quoted}"`)).toBe(text);
        },
      ),
    );
  });

  test.each([
    ["blanks", `[a${" ".repeat(300_000)}`],
    ["backslashes", "key = \\\n".repeat(50_000)],
    ["quotes", `key = ${'"'.repeat(300_000)}x`],
    ["brackets", "[".repeat(300_000)],
    ["wrong lines", "?\n".repeat(100_000)],
    ["blanks before a comment", `key${" ".repeat(300_000)}x;`],
  ])("is done in time with very many %s", (_title, text) => {
    const startedMs = performance.now();
    expect(readIniLines(text).issues.length).toBeLessThanOrEqual(50);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});
