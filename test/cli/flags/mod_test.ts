/**
 * Flags in all Go forms, with what they come to.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listFlags } from "../../../lib/cli/flags/table.ts";
import { parseFlags as parseFlagsOf } from "../../../lib/cli/flags/mod.ts";
import type { ParsedFlags, Settings } from "../../../lib/cli/flags/mod.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { ConfigError } from "../../../lib/core/errors.ts";
import { NODE_CONTROLLERS } from "../../support/nodes/node_controllers.ts";

const ELECTION = {
  namespace: "kube-system",
  name: "cloud-controller-manager",
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};
const EVERYWHERE = { kind: "tcp", host: "0.0.0.0", port: 10_258 } as const;
const SECURE = { address: EVERYWHERE, alwaysAllowPaths: ["/healthz", "/readyz", "/livez"] };

const DEFAULTS: Settings = {
  cloudProvider: "xenorchestra",
  controllers: new Set(["cloud-node", "cloud-node-lifecycle", "cloud-node-label-sync"]),
  concurrentNodeSyncs: 16,
  flags: { "node-status-update-frequency": 300_000, "node-monitor-period": 5_000 },
  debugAddress: { kind: "tcp", host: "127.0.0.1", port: 10_260 },
  secure: SECURE,
  election: ELECTION,
  loggingFormat: "text",
  logLevel: "info",
  isVersionWanted: false,
  isHelpWanted: false,
};

function parseFlags(argv: readonly string[]): ParsedFlags {
  return parseFlagsOf(argv, NODE_CONTROLLERS);
}

function listIssues(argv: readonly string[]): readonly string[] {
  try {
    parseFlags(argv);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("P-01 parseFlags()", () => {
  test("P-01 parseFlags() gives the defaults when nothing is given", () => {
    expect(parseFlags([])).toMatchObject({ settings: DEFAULTS, warnings: [] });
    expect(parseFlags([]).settings).toEqual(DEFAULTS);
  });

  test("parseFlags() gives the values of all flags that set something for /configz, no password", () => {
    const args = ["--cluster-name=x", "--v=3", "--master=https://me:secret@api:6443"];
    const { configz } = parseFlags(args);
    expect(configz).toMatchObject({ v: "3", "secure-port": "10258", master: "https://api:6443" });
    for (const name of ["cluster-name", "help", "version"])
      expect(Object.keys(configz)).not.toContain(name);
  });

  const forms: readonly [
    readonly string[],
    { readonly [Name in keyof Settings]?: Settings[Name] | undefined },
  ][] = [
    [["--cloud-config=/etc/c.yaml"], { cloudConfig: "/etc/c.yaml" }],
    [["--cloud-config", "/etc/c.yaml"], { cloudConfig: "/etc/c.yaml" }],
    [["-cloud-config=/etc/c.yaml"], { cloudConfig: "/etc/c.yaml" }],
    [["--cloud_config=/etc/c_d.yaml"], { cloudConfig: "/etc/c_d.yaml" }],
    [["--cloud-config=a=b"], { cloudConfig: "a=b" }],
    [["--cloud-config", "-x"], { cloudConfig: "-x" }],
    [["--cloud-config=a\nb"], { cloudConfig: "a\nb" }],
    [["--cloud-config="], {}],
    [["--cloud-config=a", "--cloud-config=b"], { cloudConfig: "b" }],
    [
      ["--kubeconfig=/k", "--master=https://h:6443"],
      { kubeconfig: "/k", master: "https://h:6443" },
    ],
    [["--v=4"], { logLevel: "debug" }],
    [["-v=4"], { logLevel: "debug" }],
    [["-v4"], { logLevel: "debug" }],
    [["-v10"], { logLevel: "debug" }],
    [["-v", "4"], { logLevel: "debug" }],
    [["-v=3"], {}],
    [["--logging-format=json"], { loggingFormat: "json" }],
    [
      ["--node-status-update-frequency=1h30m"],
      { flags: { ...DEFAULTS.flags, "node-status-update-frequency": 5_400_000 } },
    ],
    [["--node-monitor-period=100ms"], { flags: { ...DEFAULTS.flags, "node-monitor-period": 100 } }],
    [
      ["--node-monitor-period", "1h"],
      { flags: { ...DEFAULTS.flags, "node-monitor-period": 3_600_000 } },
    ],
    [["--concurrent-node-syncs", "1"], { concurrentNodeSyncs: 1 }],
    [["--leader-elect=false"], { election: undefined }],
    [["--leader-elect=F"], { election: undefined }],
    [["--leader-elect-resource-name=other"], { election: { ...ELECTION, name: "other" } }],
    [["--leader-elect-lease-duration=1m"], { election: { ...ELECTION, leaseDurationMs: 60_000 } }],
    [["--debug-address=[::1]:0"], { debugAddress: { kind: "tcp", host: "::1", port: 0 } }],
    [["--debug-address=/run/l.sock"], { debugAddress: { kind: "unix", path: "/run/l.sock" } }],
    [["--secure-port=1"], { secure: { ...SECURE, address: { ...EVERYWHERE, port: 1 } } }],
    [["--secure-port=0"], { secure: undefined }],
    [["--bind-address=::1"], { secure: { ...SECURE, address: { ...EVERYWHERE, host: "::1" } } }],
    [["--bind-address="], {}],
    [
      ["--tls-cert-file=/c", "--tls-private-key-file=/k"],
      { secure: { ...SECURE, certFile: "/c", keyFile: "/k" } },
    ],
    [
      ["--authorization-always-allow-paths=/healthz,/metrics"],
      { secure: { ...SECURE, alwaysAllowPaths: ["/healthz", "/metrics"] } },
    ],
    [["--version"], { isVersionWanted: true }],
    [["-h"], { isHelpWanted: true }],
    [["--help", "--nonsense", "positional"], { isHelpWanted: true }],
    [["--cloud-provider=static"], { cloudProvider: "static" }],
  ];
  test.each(forms)("P-01 parseFlags() reads %j", (argv, changed) => {
    const { settings, warnings } = parseFlags(argv);
    expect<unknown>(settings).toEqual({ ...DEFAULTS, ...changed });
    expect(warnings).toEqual([]);
  });

  test("P-01 parseFlags() turns the debug pages off with an empty --debug-address", () => {
    expect(parseFlags(["--debug-address="]).settings).not.toHaveProperty("debugAddress");
  });

  const accepted = listFlags(NODE_CONTROLLERS).filter(({ effect }) => effect !== "removed");
  test.each(accepted)("P-01 parseFlags() accepts --$name with its own default", (spec) => {
    expect(listIssues([`--${spec.name}=${spec.default}`])).toEqual([]);
  });

  const refused: readonly [readonly string[], readonly string[]][] = [
    [
      ["--cloud-provider="],
      ["--cloud-provider: must be the name of a cloud provider, but is empty"],
    ],
    [["--cloud-confg=x"], ["--cloud-confg: unknown flag; did you mean --cloud-config?"]],
    [["--kube_config=x"], ["--kube_config: unknown flag; did you mean --kubeconfig?"]],
    [["--zzzzzz"], ["--zzzzzz: unknown flag; see --help"]],
    [["---v=1"], ["---v: unknown flag; did you mean --v?"]],
    [["-x"], ["-x: unknown flag; see --help"]],
    [["--h"], ["--h: unknown flag; see --help"]],
    [["--zzzzzz", "secret"], ["--zzzzzz: unknown flag; see --help"]],
    [["-"], ['unexpected argument "-"; the command takes only flags']],
    [["--json"], ["--json: unknown flag; did you mean --logging-format=json?"]],
    [["run"], ['unexpected argument "run"; the command takes only flags']],
    [["--", "run"], ['unexpected argument "run"; the command takes only flags']],
    [
      ["--leader-elect", "false"],
      ['--leader-elect: "false" comes after a space; write --leader-elect=false'],
    ],
    [["--profiling", "TRUE"], ['--profiling: "TRUE" comes after a space; write --profiling=true']],
    [
      ["--leader-elect-lease-duration=10s"],
      [
        "--leader-elect-renew-deadline: must be less than --leader-elect-lease-duration (10s), but is 10s",
      ],
    ],
    [
      ["--leader-elect-renew-deadline=2.4s"],
      [
        "--leader-elect-retry-period: must be less than --leader-elect-renew-deadline (2.4s) " +
          "divided by 1.2, but is 2s",
      ],
    ],
    [
      ["--leader-elect-resource-name=A_b"],
      [
        "--leader-elect-resource-name: must be a Kubernetes name " +
          '(lower-case letters, digits, "-" and "."), but is "A_b"',
      ],
    ],
    [["--tls-cert-file=/c"], ["--tls-private-key-file: required together with --tls-cert-file"]],
    [
      ["--tls-private-key-file=/k"],
      ["--tls-cert-file: required together with --tls-private-key-file"],
    ],
    [
      ["--authorization-always-allow-paths=/healthz,metrics"],
      [
        '--authorization-always-allow-paths: must be paths that begin with "/", but one of them is ' +
          '"metrics"',
      ],
    ],
    [
      ["--authorization-always-allow-paths=/*,/met*,/me*rics,/debug/**"],
      [
        '--authorization-always-allow-paths: must be paths with "*" only at the end, but one of them is "/me*rics"',
        '--authorization-always-allow-paths: must be paths with "*" only at the end, but one of them is "/debug/**"',
      ],
    ],
    [["--leader-elect=maybe"], ['--leader-elect: must be true or false, but is "maybe"']],
    [["--concurrent-node-syncs=0"], ["--concurrent-node-syncs: must be from 1 to 1000, but is 0"]],
    [
      ["--concurrent-node-syncs=two"],
      ['--concurrent-node-syncs: must be a whole number, but is "two"'],
    ],
    [
      ["--node-status-update-frequency=0"],
      ["--node-status-update-frequency: must be from 1s to 24h0m0s, but is 0s"],
    ],
    [
      ["--node-status-update-frequency=24h1s"],
      ["--node-status-update-frequency: must be from 1s to 24h0m0s, but is 24h0m1s"],
    ],
    [
      ["--node-monitor-period=0"],
      ["--node-monitor-period: must be from 100ms to 1h0m0s, but is 0s"],
    ],
    [
      ["--node-monitor-period=-5s"],
      ["--node-monitor-period: must be from 100ms to 1h0m0s, but is -5s"],
    ],
    [
      ["--node-monitor-period=99ms"],
      ["--node-monitor-period: must be from 100ms to 1h0m0s, but is 99ms"],
    ],
    [
      ["--node-monitor-period=1h1s"],
      ["--node-monitor-period: must be from 100ms to 1h0m0s, but is 1h0m1s"],
    ],
    [
      ["--node-monitor-period=5"],
      ['--node-monitor-period: must be a duration, for example "30s" or "5m0s", but is "5"'],
    ],
    [
      ["--concurrent-node-status-updates=-1"],
      ['--concurrent-node-status-updates: must be a whole number from 0, but is "-1"'],
    ],
    [
      ["--node-status-update-frequency=5"],
      [
        '--node-status-update-frequency: must be a duration, for example "30s" or "5m0s", but is "5"',
      ],
    ],
    [
      ["--logging-format=jsn"],
      ['--logging-format: must be text or json, but is "jsn"; did you mean json?'],
    ],
    [["--logging-format=xml"], ['--logging-format: must be text or json, but is "xml"']],
    [
      ["--leader-elect-resource-lock=endpoints"],
      ['--leader-elect-resource-lock: must be leases, but is "endpoints"'],
    ],
    [["--kube-api-qps=fast"], ['--kube-api-qps: must be a number, but is "fast"']],
    [
      ["--cloud-config"],
      ["--cloud-config: needs a value, but nothing follows; write --cloud-config=VALUE"],
    ],
    [
      ["--cloud-config", "--v=1"],
      ['--cloud-config: needs a value, but "--v=1" follows; write --cloud-config=VALUE'],
    ],
    [["--port=0"], ["--port: was removed; use --debug-address=127.0.0.1:10260, or --secure-port"]],
    [
      ["--address=0.0.0.0"],
      [
        "--address: was removed; use --debug-address=127.0.0.1:10260, or --bind-address with --secure-port",
      ],
    ],
    [
      ["--secure-port=1", "--bind-address=garbage"],
      ['--bind-address: must be an IP address, but is "garbage"'],
    ],
    [["--bind-address=10.0.0"], ['--bind-address: must be an IP address, but is "10.0.0"']],
    [["--secure-port=70000"], ["--secure-port: must be from 0 to 65535, but is 70000"]],
    [
      ["--secure-port=10260"],
      ["--secure-port: must be another port than that of --debug-address, but is 10260"],
    ],
    [
      ["--debug-address=0.0.0.0:10260"],
      [
        "--debug-address: must be a loopback address or a unix socket, " +
          'but is "0.0.0.0:10260": the debug listener has no access control',
      ],
    ],
    [
      ["--debug-address=10260"],
      [
        "--debug-address: must be host:port with a port up to 65535, " +
          'or the path of a unix socket, but is "10260"',
      ],
    ],
    [
      ["--nope", "--v=x", "--controllers=foo"],
      [
        "--nope: unknown flag; see --help",
        '--v: must be a whole number, but is "x"',
        '--controllers: unknown controller "foo" (known: cloud-node = cloud-node-controller, ' +
          "cloud-node-lifecycle = cloud-node-lifecycle-controller, service = service-lb-controller, " +
          "route = node-route-controller, cloud-node-label-sync = cloud-node-label-sync-controller)",
      ],
    ],
  ];
  test.each(refused)("P-01 parseFlags() refuses %j with every reason", (argv, issues) => {
    expect(listIssues(argv)).toEqual(issues);
  });
});

describe("parseFlags() warnings", () => {
  test("parseFlags() names all flags without effect in one line, with their reasons", () => {
    const argv = ["--kube-api-qps=50", "--kube_api_burst=100", "--profiling", "--profiling=false"];
    expect(parseFlags(argv).warnings).toEqual([
      "flags without effect: --kube-api-qps --kube-api-burst (requests to the API server are limited " +
        "in parallel, not by rate), --profiling (it tunes the Go runtime and its libraries)",
    ]);
  });

  test("parseFlags() says nothing about flags that do nothing anywhere", () => {
    const argv = [
      "--allow-untagged-cloud",
      "--node-sync-period=1s",
      "--external-cloud-volume-plugin=x",
    ];
    expect(parseFlags(argv).warnings).toEqual([]);
  });
});

describe("P-02 parseFlags()", () => {
  const ALL = ["cloud-node", "cloud-node-lifecycle", "cloud-node-label-sync"];
  const cases: readonly [readonly string[], readonly string[], number][] = [
    [["--controllers=*"], ALL, 0],
    [["--controllers=cloud-node,-cloud-node-lifecycle"], ["cloud-node"], 0],
    [["--controllers=cloud-node-controller"], ["cloud-node"], 0],
    [["--controllers=cloud-node-lifecycle"], ["cloud-node-lifecycle"], 0],
    [["--controllers=cloud-node-lifecycle-controller"], ["cloud-node-lifecycle"], 0],
    [["--controllers=cloud-node-label-sync"], ["cloud-node-label-sync"], 0],
    [["--controllers=cloud-node-label-sync-controller"], ["cloud-node-label-sync"], 0],
    [
      ["--controllers=*,-cloud-node-lifecycle-controller"],
      ["cloud-node", "cloud-node-label-sync"],
      0,
    ],
    [["--controllers=*", "--controllers=-cloud-node"], ALL.slice(1), 0],
    [["--controllers=-cloud-node", "--controllers=*"], ALL.slice(1), 0],
    [["--controllers=-cloud-node,*"], ALL.slice(1), 0],
    [["--controllers=-cloud-node,cloud-node"], [], 1],
    [["--controllers=cloud-node,-cloud-node"], ["cloud-node"], 0],
    [["--controllers=-cloud-node-lifecycle"], [], 1],
    [["--controllers=*,service,route"], ALL, 2],
    [["--controllers=*,-service,-route"], ALL, 0],
    [["--controllers="], [], 1],
    [
      ["--controllers", "cloud-node, cloud-node-label-sync"],
      ["cloud-node", "cloud-node-label-sync"],
      0,
    ],
  ];
  test.each(cases)("P-02 parseFlags() runs for %j just %j", (argv, names, warned) => {
    const { settings, warnings } = parseFlags(argv);
    expect([...settings.controllers]).toEqual([...names]);
    expect(warnings).toHaveLength(warned);
  });
});

test("parseFlags() takes the text of a controller's flag, and says what is wrong with it", () => {
  const read = (text: string): unknown =>
    parseFlagsOf([`--load-balancer-class=${text}`], CONTROLLERS).settings.flags[
      "load-balancer-class"
    ];
  expect([read(""), read("example.com/mine")]).toEqual(["", "example.com/mine"]);
  expect(() => read("two words")).toThrow(
    '--load-balancer-class: must be a class such as example.com/name, but is "two words"',
  );
});
