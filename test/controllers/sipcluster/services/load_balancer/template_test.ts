import { describe, expect, test } from "bun:test";
import {
  renderTemplate,
  type Value,
} from "../../../../../lib/controllers/sipcluster/services/load_balancer/template.ts";
import { tries } from "../../../../support/extent.ts";
import { Random } from "../../../../support/random.ts";
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
const EXAMPLE = {
  ContainerPorts: [{ Name: "example", ContainerPort: 1 }],
  Servers: [{ Name: "example", IP: "192.0.2.1" }],
  Empty: [1],
};

function render(template: string, data: Value = DATA): string {
  return renderTemplate(template, data, EXAMPLE);
}

describe("renderTemplate()", () => {
  const cases: readonly (readonly [template: string, text: string])[] = [
    ["", ""],
    ["plain\n", "plain\n"],
    ["{{ range .Servers }}{{ .Name }} {{ end }}", "a b & <c> "],
    ["{{ range $s := .Servers }}{{ $s.IP }};{{ end }}", "10.0.0.1;2001:db8::1;"],
    ["{{ range $i, $s := .Servers }}{{ $i }}{{ .IP }};{{ end }}", "010.0.0.1;12001:db8::1;"],
    ["{{ range .ContainerPorts }}{{ .ContainerPort }}{{ end }}", "12"],
    ["{{ range $ports := .ContainerPorts }}{{ $ports.Name }}{{ end }}", "port-1port-2"],
    [
      "{{ range $.ContainerPorts }}{{ range $.Servers }}{{ end }}{{ .Name }}{{ end }}",
      "port-1port-2",
    ],
    [
      "{{ $all := .Servers }}{{ range $p := .ContainerPorts }}{{ range $all }}" +
        "{{ .Name }}:{{ $p.ContainerPort }} {{ end }}{{ end }}",
      "a:1 b & <c>:1 a:2 b & <c>:2 ",
    ],
    [
      "{{ range .ContainerPorts }}{{ $p := .ContainerPort }}{{ range $.Servers }}{{ $p }} {{ end }}{{ end }}",
      "1 1 2 2 ",
    ],
    ["{{ range .Empty }}x{{ else }}none{{ end }}", "none"],
    ["{{ range .Servers }}{{ range $.Empty }}x{{ else }}{{ .Name }}{{ end }}{{ end }}", "ab & <c>"],
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
    ["a \n {{- range .Servers }}.{{ end -}} \n\n c", "a..c"],
    ["a {{if .Servers -}} \n {{- end }} b", "a  b"],
    ["a {{/* note */}} b", "a  b"],
    ["a {{- /* a }} note */ -}} b", "ab"],
    ["a } } }} b", "a } } }} b"],
  ];
  test.each(cases)("renders %j", (template, text) => expect(render(template)).toBe(text));

  const wrong: readonly (readonly [template: string, message: string])[] = [
    ["{{ .Server }}", 'There is no field "Server" here, only ContainerPorts and Servers and Empty'],
    ["{{ range .Servers }}{{ .Ip }}{{ end }}", 'There is no field "Ip" here, only Name and IP'],
    ["{{ .Servers.Name }}", 'There is no field "Name" here'],
    ["{{ .constructor }}", 'There is no field "constructor" here, only'],
    ["{{ .Servers.length }}", 'There is no field "length" here'],
    ["{{ $x }}", 'There is no variable "$x" here'],
    ["{{ range $x := .Servers }}{{ end }}{{ $x }}", 'There is no variable "$x" here'],
    ["{{ range $x := .Servers }}{{ else }}{{ $x }}{{ end }}", 'There is no variable "$x" here'],
    ["{{ if .Servers }}{{ $x := .Servers }}{{ end }}{{ $x }}", 'There is no variable "$x" here'],
    ["{{ .Servers }}", "A list cannot be printed"],
    ["{{ . }}", "A list cannot be printed"],
    ["{{ range . }}{{ end }}", "Only a list can have a range"],
    ["{{ range .Servers }}{{ range .Name }}{{ end }}{{ end }}", "Only a list can have a range"],
    // Also where nothing is rendered today.
    ["{{ range .Empty }}{{ .Name }}{{ end }}", 'There is no field "Name" here'],
    ["{{ if .Empty }}{{ .Name }}{{ end }}", 'There is no field "Name" here'],
    ["{{ range .Servers }}", '"range .Servers" has no {{ end }}'],
    ["{{ if .Servers }}{{ else }}", '"if .Servers" has no {{ end }}'],
    ["{{ end }}", "{{ end }} closes nothing"],
    ["{{ else }}", "{{ else }} closes nothing"],
    ["{{ if .Servers }}{{ else }}{{ else }}{{ end }}", "There is a second {{ else }}"],
    ["{{ .Servers", "An action has {{ without }}"],
    ["{{/* b }}", "A comment does not end"],
    ["{{/* b */ .C }}", "A comment must be alone between {{ and }}"],
    [
      "{{ range $.Servers }}".repeat(9) + "{{ end }}".repeat(9),
      "Actions are nested more than 8 deep",
    ],
  ];
  test.each(wrong)("refuses %j", (template, message) => {
    expect(() => render(`a\n${template}`)).toThrow(
      expect.objectContaining({ line: 2, message: expect.stringContaining(message) }),
    );
  });

  const unknown =
    '|printf .A|.A | len|len .Servers|template "x"|with .A|if eq .A .B|else if .A|$x = .A|range|range .A .B|' +
    'range $a, $b, $c := .A|range $a .A|ranges .A|break|"text"|3|.A.|..|.1|(.A)|.A .B|-.A|.A-';
  test.each(unknown.split(/\|(?! len)/))("refuses {{%s}}", (action) => {
    const message = `Landfall does not understand the action ${JSON.stringify(action)}`;
    const found = expect.objectContaining({ line: 2, message });
    expect(() => render(`a\n{{${action}}}`)).toThrow(found);
  });

  test("knows the line after comments and blanks that are left out", () => {
    const template = "a\nb {{ range .Servers }}\n{{- /* two\nlines */ -}}\n\n{{ end }}{{ .D }}\ne";
    expect(() => render(template)).toThrow(expect.objectContaining({ line: 6 }));
  });

  test("renders what a drawn template says", () => {
    for (let seed = 0; seed < tries(500).numRuns; seed += 1) {
      const [template, text] = draw(new Random(seed));
      expect(render(`{{ $x := . }}${template}`), template).toBe(text);
    }
  });

  test("renders or refuses any actions in any order", () => {
    const part = fc.constantFrom(
      ..."{{ }} {{- -}} range .Servers end if else $x := , . .IP $ /* */ \n text".split(" "),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        try {
          expect(typeof render(parts.join(" "))).toBe("string");
        } catch (error) {
          expect(error).toHaveProperty("name", "TemplateProblem");
        }
      }),
      tries(1000),
    );
  });
});

const FIELDS = { ContainerPorts: ["Name", "ContainerPort"], Servers: ["Name", "IP"] } as const;

/** A template, and what it gives. Written without a look at the renderer. */
type Drawn = readonly [template: string, text: string];

/** @param roots What names all data here */
function draw(random: Random, roots: readonly string[] = ["", "$", "$x"], depth = 3): Drawn {
  const parts = Array.from({ length: random.between(0, 3) }, (): Drawn => {
    if (depth > 0 && random.chance(0.4)) return drawRange(random, roots, depth - 1);
    if (depth > 0 && random.chance(0.4)) return drawIf(random, roots, depth - 1);
    const text = random.pick(["a", " b ", "\n", "{ }", "}}"]);
    return [text, text];
  });
  return [parts.map(([template]) => template).join(""), parts.map(([, text]) => text).join("")];
}

function drawRange(random: Random, roots: readonly string[], depth: number): Drawn {
  const list = random.pick(["ContainerPorts", "Servers"] as const);
  const [index, item] = [random.pick(["$i", "$x"]), random.pick(["$e", "$x"])];
  const names = random.pick([[], [item], [index, item]]);
  const field = random.pick(FIELDS[list]);
  const left = roots.filter((root) => root !== "" && !names.includes(root));
  const [inner, text] = draw(random, left, depth);
  const head = names.length > 0 ? `${names.join(", ")} := ` : "";
  const shown = `{{ $f := ${random.pick(["", ...names.slice(-1)])}.${field} }}${inner}{{$f}}`;
  const isCounted = names.length === 2 && index !== item;
  return [
    `{{range ${head}${random.pick(roots)}.${list}}}${shown}${isCounted ? `{{${index}}}` : ""}{{- end}}`,
    DATA[list].map((one, at) => text + Object(one)[field] + (isCounted ? at : "")).join(""),
  ];
}

function drawIf(random: Random, roots: readonly string[], depth: number): Drawn {
  const list = random.pick(["Empty", "Servers"]);
  const [[first, ifSome], [second, ifNone]] = [
    draw(random, roots, depth),
    draw(random, roots, depth),
  ];
  return [
    `{{ if ${random.pick(roots)}.${list} }}${first}{{ else }}${second}{{ end }}`,
    list === "Empty" ? ifNone : ifSome,
  ];
}
