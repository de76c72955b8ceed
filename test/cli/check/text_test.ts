import { describe, expect, test } from "bun:test";
import { type CheckSteps, toReport, toSkipped } from "../../../lib/cli/check/report.ts";
import { formatReport, type ReportOptions } from "../../../lib/cli/check/text.ts";

const FINE = { status: "ok", findings: [] } as const;
const STEPS: CheckSteps = {
  settings: { ...FINE, provider: "static" },
  cloud: { ...FINE, endpoint: "xo:443", parts: [] },
  kubernetes: { ...FINE, server: "https://k:6443" },
  permissions: { ...FINE, permissions: [] },
  nodes: { ...FINE, nodes: [] },
};

function format(steps: Partial<CheckSteps>, options: ReportOptions = {}): string {
  return formatReport(toReport("1", { ...STEPS, ...steps }), options);
}

describe("formatReport()", () => {
  test("has a section for each step, and a summary", () => {
    const text = format({});
    for (const title of [
      "Settings of static",
      "Cloud at xo:443",
      "Kubernetes at https://k:6443",
      "Permissions",
      "Nodes",
    ]) {
      expect(text.split("\n")).toContain(title);
    }
    expect(text).toEndWith("\nNo problems, 0 ok\n");
  });

  test("shows each command of an advice in a line that a shell takes, in a narrow terminal, too", () => {
    const command =
      "kubectl create role one --verb=get --resource=services --dry-run=client -o yaml";
    const long = `kubectl apply -f https://example.org/${"x".repeat(80)}.yaml`;
    const advice = `run:\n  ${command}\n  ${long}\nor ask someone`;
    const findings = [{ level: "warning", code: "x", message: "odd", advice }] as const;
    const kubernetes = { ...STEPS.kubernetes, findings };
    expect(format({ kubernetes })).toContain(
      `        -> run:\n           ${command}\n           ${long}\n        -> or ask someone\n`,
    );
    const narrow = format({ kubernetes }, { width: 50 });
    const pasted = narrow.replaceAll(/ \\\n +/g, " ");
    expect(pasted).toContain(`           ${command}\n           ${long}\n`);
    expect(narrow).not.toContain(command);
  });

  test("marks findings, gives their place, and says what to do", () => {
    const settings = {
      status: "failure",
      provider: "static",
      findings: [
        {
          level: "failure",
          code: "settings",
          message: "must be an address",
          source: "/c.yaml",
          path: "url",
          line: 3,
          column: 2,
        },
        { level: "warning", code: "x", message: "odd", advice: "mend it" },
      ],
    } as const;
    const text = format({ settings, cloud: toSkipped("the settings cannot be used") });
    expect(text).toContain("  FAIL  /c.yaml:3:2: url: must be an address\n");
    expect(text).toContain("  WARN  odd\n        -> mend it\n");
    expect(text).toContain("Cloud\n  skipped: the settings cannot be used\n");
    expect(text).toEndWith("\n1 problem, 1 warning, 0 ok, 1 step skipped\n");
  });

  test("names hosts, but not again the parts that have a finding", () => {
    const parts = [
      { kind: "pool", id: "p", name: "paris", complete: true },
      { kind: "host", id: "h1", name: "one" },
      { kind: "host", id: "h2" },
    ];
    const text = format({ cloud: { ...FINE, parts } });
    expect(text).toContain("  ok    2 hosts are visible: one, h2\n");
    expect(text).not.toContain("paris");
    const one = format({ cloud: { ...FINE, parts: parts.slice(0, 2) } });
    expect(one).toContain("  ok    1 host is visible: one\n");
  });

  const right = { group: "", resource: "nodes", purpose: "to p", mandatory: true } as const;
  const lease = { group: "coordination.k8s.io", resource: "leases", namespace: "kube-system" };
  const PERMISSIONS: CheckSteps["permissions"] = {
    status: "failure",
    user: "jane",
    findings: [],
    advice: "grant it",
    permissions: [
      { ...right, subresource: "status", verb: "patch", allowed: "yes", level: "ok" },
      { ...right, verb: "delete", allowed: "no", level: "failure" },
      {
        ...right,
        ...lease,
        name: "l",
        verb: "get",
        allowed: "unknown",
        reason: "it said 403",
        level: "warning",
      },
    ],
  };
  const NODES: CheckSteps["nodes"] = {
    status: "failure",
    findings: [],
    nodes: [
      {
        name: "a",
        level: "ok",
        ready: true,
        uninitialized: false,
        presence: "present",
        matchedBy: "systemUuid",
        providerId: "x://1",
        instance: { id: "1", name: "vm", state: "running", providerId: "x://1" },
        changes: [
          { what: "addShutdownTaint" },
          { what: "labels", labels: { zone: "b", host: "h" }, before: { zone: "a" } },
        ],
        problems: [],
      },
      {
        name: "b",
        level: "failure",
        ready: false,
        uninitialized: true,
        presence: "unknown",
        reason: "notFound",
        message: "no such VM",
        changes: [],
        problems: ["it cannot be initialised", "no such VM"],
      },
      {
        name: "c",
        level: "warning",
        ready: false,
        uninitialized: false,
        presence: "absent",
        message: "404",
        changes: [{ what: "delete" }],
        problems: [],
      },
    ],
  };

  test("shows permissions one by one, and below the last missing one what to do", () => {
    const text = format({ permissions: PERMISSIONS });
    expect(text).toContain(`Permissions of jane
  ok    patch nodes/status
  FAIL  delete nodes: not allowed; needed to p
  WARN  get leases.coordination.k8s.io in kube-system/l: unknown; needed to p
        ! it said 403
        -> grant it
`);
  });

  test("shows each Node, with one line for each problem and each change", () => {
    const text = format({ nodes: NODES });
    expect(text).toContain(`Nodes
  ok    a: machine vm (running), found by system UUID
        + taint node.cloudprovider.kubernetes.io/shutdown: its machine does not run
        ~ zone=a -> b
        + host=h
  FAIL  b: stays uninitialized: no such VM; the Node is not Ready
        ! it cannot be initialised
  WARN  c: the machine is gone: 404; the Node is not Ready
        - the Node itself, after deletion.holdOff and within the fleet limit
`);
    expect(text).toEndWith("\n1 problem, 1 warning, 1 ok; Landfall would change 2 Nodes\n");
  });

  test("leaves out what is ok, and sections without problems", () => {
    const text = format({ permissions: PERMISSIONS, nodes: NODES }, { isProblemsOnly: true });
    expect(text).not.toMatch(/^ {2}ok/m);
    expect(text).not.toContain("Settings");
    expect(text).toStartWith("Permissions of jane\n  FAIL  delete nodes");
    expect(text).toContain("FAIL  b:");
    expect(text).toEndWith("2 problems, 2 warnings, 2 ok; Landfall would change 2 Nodes\n");
    expect(format({}, { isProblemsOnly: true })).toBe("No problems, 0 ok\n");
  });

  test.each([40, 60, 80, 132])("is no wider than a terminal of %d characters", (width) => {
    const cloud = { ...FINE, endpoint: "a".repeat(200), parts: [] };
    const text = format({ cloud, permissions: PERMISSIONS, nodes: NODES }, { width });
    expect(text.split("\n").filter((line) => line.length > width)).toEqual([]);
    expect(text.replaceAll(/\s/g, "")).toBe(
      format({ cloud, permissions: PERMISSIONS, nodes: NODES }).replaceAll(/\s/g, ""),
    );
  });

  test("lets no name of the cloud steer the terminal", () => {
    const parts = [{ kind: "host", id: "h", name: "a\u001b[2Jb\nc\u202ed" }];
    expect(format({ cloud: { ...FINE, parts } })).toContain("is visible: a?[2Jb c?d\n");
  });
});
