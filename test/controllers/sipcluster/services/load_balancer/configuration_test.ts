import { describe, expect, test } from "bun:test";
import {
  formatConfig,
  formatHealthFrontend,
} from "../../../../../lib/controllers/sipcluster/services/load_balancer/haproxy_config.ts";
import {
  type Configuration,
  type ConfigurationInput,
  configure,
} from "../../../../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import { LOAD_BALANCERS } from "../../../../../lib/controllers/sipcluster/services/load_balancer/words.ts";

const KEY = "loadBalancerControlPlane.cfg";

function make(fields: Partial<ConfigurationInput> = {}): Configuration {
  const [words] = LOAD_BALANCERS;
  if (words === undefined) throw new Error("there are no words");
  const ports = [{ name: "http", port: 6443 }];
  const servers = [{ name: "a", address: "10.0.0.1" }];
  return configure({ words, ports, servers, healthPort: 8404, template: undefined, ...fields });
}

describe("configure()", () => {
  test("makes Landfall's own configuration without a template", () => {
    const own = formatConfig({
      kind: "loadBalancerControlPlane",
      ports: [{ name: "http", port: 6443 }],
      servers: [{ name: "a", address: "10.0.0.1" }],
    });
    expect(make().config).toBe(own + formatHealthFrontend(8404));
  });

  test("renders a template, and ends it in a line feed before the frontend for probes", () => {
    const template = {
      [KEY]:
        "{{ range .Servers }}{{ .Name }} {{ .IP }}:{{ range $.ContainerPorts }}{{ .ContainerPort }}{{ end }}{{ end }}",
    };
    expect(make({ template }).config).toBe(`a 10.0.0.1:6443\n${formatHealthFrontend(8404)}`);
  });

  const wrong: readonly (readonly [template: Record<string, string>, message: string])[] = [
    [{}, `key ${KEY} has no text`],
    [{ "haproxy.cfg": "x" }, `key ${KEY} has no text`],
    [{ [KEY]: " \n" }, `key ${KEY} has no text`],
    [
      { [KEY]: "global\n{{ range .Servers }}\n{{ .Nmae }}{{ end }}" },
      `${KEY}, line 3: There is no field "Nmae" here, only Name and IP`,
    ],
    [
      { [KEY]: "{{ len .Servers }}" },
      `${KEY}, line 1: Landfall does not understand the action "len .Servers"`,
    ],
  ];
  for (const [template, message] of wrong) {
    test(`refuses the template ${JSON.stringify(template)}, with and without servers`, () => {
      const problem = {
        reason: "InfraServiceFailure",
        message: `ConfigMap loadbalancercontrolplane: ${message}`,
      };
      expect(make({ template })).toEqual({ problem });
      expect(make({ template, servers: [] })).toEqual({ problem });
    });
  }

  const nest = (text: string): string =>
    `${"{{ range $.ContainerPorts }}\n".repeat(8)}${text}${"{{ end }}".repeat(8)}`;
  const variables = Array.from({ length: 90 }, (_, at) => `{{ $${at} := . }}`).join("");
  test.each<[string, string, number, string]>([
    ["many actions", `a\n${"{{ $a := . }}\n".repeat(40_000)}`, 13_159, "250000 steps"],
    ["ranges inside ranges", nest(""), 8, "250000 steps"],
    ["variables in ranges", variables + nest(""), 8, "250000 steps"],
    ["a long result", nest("x".repeat(500)), 8, "1000000 characters"],
    ["a long action", `\n{{ ${".a".repeat(200_000)} }}`, 2, "250000 steps"],
    ["long blanks", `{{ range ${" ".repeat(400_000)} }}`, 1, "250000 steps"],
  ])("says that a template with %s is too large, and where", (_what, text, line, limit) => {
    const ports = Array.from({ length: 256 }, (_, at) => ({ name: `p${at}`, port: 30000 + at }));
    const { problem } = make({ template: { [KEY]: text }, ports });
    const [place, rest = ""] = problem?.message.split(`${KEY}, line `) ?? [];
    expect([problem?.reason, place]).toEqual([
      "TemplateTooLarge",
      "ConfigMap loadbalancercontrolplane: ",
    ]);
    expect(Number.parseInt(rest, 10)).toBe(line);
    expect(rest).toContain(limit);
  });

  test("renders the longest configuration over many servers and ports", () => {
    const row = "  server {{ .Name }} {{ .IP }}:{{ $port }} check\n";
    const head = "{{ range .ContainerPorts }}{{ $port := .ContainerPort }}{{ range $.Servers }}";
    const text = `${head}${row}{{ end }}{{ end }}`;
    const ports = Array.from({ length: 256 }, (_, at) => ({ name: `p${at}`, port: 30000 + at }));
    const servers = Array.from({ length: 110 }, (_, at) => ({
      name: `w${at}`,
      address: `10.0.0.${at}`,
    }));
    const { config = "" } = make({ template: { [KEY]: text }, ports, servers });
    expect(config.length).toBeGreaterThan(950_000);
  });

  test("refuses what does not fit into a Secret, and says how much it is", () => {
    const ports = Array.from({ length: 300 }, (_, at) => ({ name: `p${at}`, port: 30000 + at }));
    const servers = Array.from({ length: 200 }, (_, at) => ({
      name: `n${at}`,
      address: `10.0.0.${at}`,
    }));
    expect(make({ ports, servers }).problem?.message).toMatch(
      /^The configuration of HAProxy for 300 ports and 200 servers has \d+ bytes, and may have 1000000$/,
    );
    expect(make({ ports, servers: servers.slice(0, 50) }).problem).toBeUndefined();
  });
});
