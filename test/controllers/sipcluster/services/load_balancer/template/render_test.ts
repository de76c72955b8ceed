import { describe, expect, test } from "bun:test";
import { renderTemplate } from "../../../../../../lib/controllers/sipcluster/services/load_balancer/template/render.ts";
import { tries } from "../../../../../support/net/hostile.ts";
import fc from "fast-check";

const DATA = {
  ContainerPorts: [
    { Name: "port-1", ContainerPort: 1 },
    { Name: "port-2", ContainerPort: 2 },
  ],
  Servers: [
    { Name: "a", IP: "10.0.0.1" },
    { Name: "b & <c>", IP: "2001:db8::1" },
  ],
  Empty: [],
};

describe("renderTemplate()", () => {
  const cases: readonly (readonly [template: string, text: string])[] = [
    ["plain\n", "plain\n"],
    ["{{ range .Servers }}{{ .Name }} {{ end }}", "a b & <c> "],
    ["{{ range $s := .Servers }}{{ $s.IP }};{{ end }}", "10.0.0.1;2001:db8::1;"],
    ["{{ range $i, $s := .Servers }}{{ $i }}{{ .IP }};{{ end }}", "010.0.0.1;12001:db8::1;"],
    ["{{ range .ContainerPorts }}{{ .ContainerPort }}{{ end }}", "12"],
    [
      "{{ $all := .Servers }}{{ range $p := .ContainerPorts }}{{ range $all }}" +
        "{{ .Name }}:{{ $p.ContainerPort }} {{ end }}{{ end }}",
      "a:1 b & <c>:1 a:2 b & <c>:2 ",
    ],
    [
      "{{ range .ContainerPorts }}{{ range $.Servers }}{{ .IP }} {{ end }}{{ end }}",
      "10.0.0.1 2001:db8::1 10.0.0.1 2001:db8::1 ",
    ],
    ["{{ range .Empty }}x{{ else }}none{{ end }}", "none"],
    ["{{ range .Empty }}x{{ end }}", ""],
    ["{{ if .Empty }}some{{ else }}none{{ end }}", "none"],
    ["{{ if .Servers }}some{{ else }}none{{ end }}", "some"],
    ["{{ if .Empty }}some{{ end }}", ""],
    [
      "{{ range $i, $s := .Servers }}{{ if $i }}, {{ end }}{{ $s.IP }}{{ end }}",
      "10.0.0.1, 2001:db8::1",
    ],
    // A variable that a block declares again is another one.
    [
      "{{ $x := .Servers }}{{ if .Empty }}{{ else }}{{ $x := .Empty }}{{ end }}{{ range $x }}.{{ end }}",
      "..",
    ],
    [
      "{{- range .Servers }}\n  server {{ .Name }} {{ .IP }}\n{{- end }}\n",
      "\n  server a 10.0.0.1\n  server b & <c> 2001:db8::1\n",
    ],
  ];
  for (const [template, text] of cases) {
    test(`renders ${JSON.stringify(template)}`, () =>
      expect(renderTemplate(template, DATA)).toBe(text));
  }

  const wrong: readonly (readonly [template: string, message: string])[] = [
    ["{{ .Server }}", 'There is no field "Server" here, only ContainerPorts and Servers and Empty'],
    ["{{ range .Servers }}{{ .Ip }}{{ end }}", 'There is no field "Ip" here, only Name and IP'],
    ["{{ .Servers.Name }}", 'There is no field "Name" here'],
    ["{{ .constructor }}", 'There is no field "constructor" here'],
    ["{{ .Servers.length }}", 'There is no field "length" here'],
    ["{{ $x }}", "There is no variable $x here"],
    ["{{ range $x := .Servers }}{{ end }}{{ $x }}", "There is no variable $x here"],
    ["{{ if .Servers }}{{ $x := .Servers }}{{ end }}{{ $x }}", "There is no variable $x here"],
    ["{{ .Servers }}", "A list cannot be printed"],
    ["{{ . }}", "A list cannot be printed"],
    ["{{ range . }}{{ end }}", "Only a list can have a range"],
    ["{{ range .Servers }}{{ range .Name }}{{ end }}{{ end }}", "Only a list can have a range"],
  ];
  for (const [template, message] of wrong) {
    test(`refuses ${template}`, () => {
      expect(() => renderTemplate(`\n${template}`, DATA)).toThrow(
        expect.objectContaining({ line: 2, message: expect.stringContaining(message) }),
      );
    });
  }

  const many = { Servers: Array.from({ length: 100 }, () => ({ Name: "a" })) };
  const nest = (text: string): string =>
    `${"{{ range $.Servers }}".repeat(8)}${text}${"{{ end }}".repeat(8)}`;

  for (const text of ["", "long"]) {
    test(`gives up on nested ranges with ${JSON.stringify(text)} inside`, () => {
      expect(() => renderTemplate(nest(text), many)).toThrow("The result is too long");
    });
  }

  test("renders or refuses any actions in any order", () => {
    const part = fc.constantFrom(
      ..."{{ }} {{- -}} range .Servers end if else $x := , . .IP $ /* */ \n text".split(" "),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        try {
          expect(typeof renderTemplate(parts.join(" "), DATA)).toBe("string");
        } catch (error) {
          expect(error).toHaveProperty("name", "TemplateProblem");
        }
      }),
      tries(1000),
    );
  });
});
