import { describe, expect, test } from "bun:test";
import { splitTemplate } from "../../../../../../lib/controllers/sipcluster/services/load_balancer/template/pieces.ts";

/** Texts as they are, actions in braces. */
function show(template: string): string[] {
  return splitTemplate(template).map(({ kind, content }) =>
    kind === "text" ? content : `{${content}}`,
  );
}

describe("splitTemplate()", () => {
  const cases: readonly (readonly [template: string, pieces: readonly string[]])[] = [
    ["", []],
    ["text\n", ["text\n"]],
    ["a {{ .B }} c", ["a ", "{.B}", " c"]],
    ["a {{.B}}{{.C}}", ["a ", "{.B}", "{.C}"]],
    ["a \n {{- .B }} c", ["a", "{.B}", " c"]],
    ["a {{ .B -}} \n\n c", ["a ", "{.B}", "c"]],
    ["a {{- .B -}} c", ["a", "{.B}", "c"]],
    ["a {{ .B -}} \n {{- .C }}", ["a ", "{.B}", "{.C}"]],
    ["a {{/* note */}} b", ["a ", " b"]],
    ["a {{- /* a }} note */ -}} b", ["a", "b"]],
    // Without a blank it is no trim marker.
    ["a {{-.B}}", ["a ", "{-.B}"]],
    ["a {{.B-}} c", ["a ", "{.B-}", " c"]],
    ["a } } }} b", ["a } } }} b"]],
  ];
  for (const [template, pieces] of cases) {
    test(`splits ${JSON.stringify(template)}`, () => expect(show(template)).toEqual([...pieces]));
  }

  test("knows the line of each piece", () => {
    const pieces = splitTemplate("a\nb {{ .C }}\n{{- /* two\nlines */ -}}\n\n{{ .D }}\ne");
    expect(pieces.map(({ content, line }) => [content, line])).toEqual([
      ["a\nb ", 1],
      [".C", 2],
      [".D", 6],
      ["\ne", 6],
    ]);
  });

  for (const [template, line, message] of [
    ["a\n{{ .B", 2, "An action has {{ without }}"],
    ["a\n\n{{/* b }}", 3, "A comment does not end"],
    ["{{/* b */ .C }}", 1, "A comment must be alone between {{ and }}"],
  ] as const) {
    test(`refuses ${JSON.stringify(template)}`, () => {
      expect(() => splitTemplate(template)).toThrow(expect.objectContaining({ line, message }));
    });
  }
});
