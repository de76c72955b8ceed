import { describe, expect, test } from "bun:test";
import { parseTemplate } from "../../../../../../lib/controllers/sipcluster/services/load_balancer/template/parse.ts";

describe("parseTemplate()", () => {
  test("reads values, variables and blocks", () => {
    const template =
      "{{ . }}{{ .A.B }}{{ $ }}{{ $.A }}{{ $x := .A }}{{ range $i, $e := $x.B }}{{ $i }}{{ else }}none{{ end }}";
    const line = 1;
    expect(parseTemplate(template)).toEqual([
      { kind: "print", operand: { fields: [] }, line },
      { kind: "print", operand: { fields: ["A", "B"] }, line },
      { kind: "print", operand: { variable: "$", fields: [] }, line },
      { kind: "print", operand: { variable: "$", fields: ["A"] }, line },
      { kind: "declare", variable: "$x", operand: { fields: ["A"] }, line },
      {
        kind: "range",
        index: "$i",
        item: "$e",
        operand: { variable: "$x", fields: ["B"] },
        line,
        body: [{ kind: "print", operand: { variable: "$i", fields: [] }, line }],
        otherwise: [{ kind: "text", text: "none", line }],
      },
    ]);
  });

  const nested = (depth: number): string =>
    "{{ range . }}".repeat(depth) + "{{ end }}".repeat(depth);

  test("reads blocks in blocks, up to a limit", () => {
    expect(parseTemplate(nested(8))).toHaveLength(1);
    expect(() => parseTemplate(nested(9))).toThrow("Actions are nested more than 8 deep");
    expect(() => parseTemplate(nested(100_000))).toThrow("Actions are nested more than 8 deep");
  });

  const wrong: readonly (readonly [template: string, line: number, message: string])[] = [
    ["\n{{ range .A }}\n", 2, "{{ range .A }} has no {{ end }}"],
    ["{{ if .A }}{{ else }}", 1, "{{ if .A }} has no {{ end }}"],
    ["a\n{{ end }}", 2, "{{ end }} closes nothing"],
    ["{{ else }}", 1, "{{ else }} closes nothing"],
    ["{{ if .A }}{{ else }}\n{{ else }}{{ end }}", 2, "There is a second {{ else }}"],
  ];
  for (const [template, line, message] of wrong) {
    test(`refuses ${JSON.stringify(template)}`, () => {
      expect(() => parseTemplate(template)).toThrow(expect.objectContaining({ line, message }));
    });
  }

  const unknown = [
    "",
    "printf .A",
    ".A | len",
    "len .Servers",
    'template "x"',
    "with .A",
    "if eq .A .B",
    "else if .A",
    "$x = .A",
    "range",
    "range .A .B",
    "range $a, $b, $c := .A",
    "range $a .A",
    "ranges .A",
    "break",
    '"text"',
    "3",
    ".A.",
    "..",
    ".1",
    "(.A)",
    ".A .B",
  ];
  for (const action of unknown) {
    test(`refuses {{ ${action} }}`, () => {
      expect(() => parseTemplate(`a\n{{ ${action} }}`)).toThrow(
        expect.objectContaining({
          line: 2,
          message: `Landfall does not understand the action ${JSON.stringify(action)}`,
        }),
      );
    });
  }
});
