import { describe, expect, test } from "bun:test";
import { type CheckSteps, toReport, toSkipped } from "../../../lib/cli/check/report.ts";
import { formatReport } from "../../../lib/cli/check/text.ts";

const FINE = { status: "ok", findings: [] } as const;
const STEPS: CheckSteps = {
  settings: { ...FINE, provider: "static" },
  cloud: { ...FINE, endpoint: "xo:443", parts: [] },
  kubernetes: { ...FINE, server: "https://k:6443" },
  permissions: { ...FINE, permissions: [] },
  nodes: { ...FINE, nodes: [] },
};

function format(steps: Partial<CheckSteps>): string {
  return formatReport(toReport("1", { ...STEPS, ...steps }));
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
    expect(text).toEndWith("\nAll is well.\n");
  });

  test("marks findings, gives their place, and says what to do", () => {
    const settings = {
      status: "failure",
      provider: "static",
      findings: [
        {
          level: "failure",
          code: "settings",
          message: "wanted an address",
          source: "/c.yaml",
          path: "url",
          line: 3,
          column: 2,
        },
        { level: "warning", code: "x", message: "odd", advice: "mend it" },
      ],
    } as const;
    const text = format({ settings, cloud: toSkipped("the settings cannot be used") });
    expect(text).toContain("  FAIL  /c.yaml:3:2: url: wanted an address\n");
    expect(text).toContain("  WARN  odd\n        -> mend it\n");
    expect(text).toContain("Cloud\n  skipped: the settings cannot be used\n");
    expect(text).toEndWith("\n1 thing is wrong, 1 warning.\n");
  });

  test("names hosts, but not again the parts that have a finding", () => {
    const parts = [
      { kind: "pool", id: "p", name: "paris", complete: true },
      { kind: "host", id: "h1", name: "one" },
      { kind: "host", id: "h2" },
    ];
    const text = format({ cloud: { ...FINE, parts } });
    expect(text).toContain("  ok    2 hosts are seen: one, h2\n");
    expect(text).not.toContain("paris");
    const one = format({ cloud: { ...FINE, parts: parts.slice(0, 2) } });
    expect(one).toContain("  ok    1 host is seen: one\n");
  });

  test("shows rights as a table with what to do", () => {
    const right = { group: "", resource: "nodes", purpose: "to p", mandatory: true } as const;
    const lease = { group: "coordination.k8s.io", resource: "leases", namespace: "kube-system" };
    const text = format({
      permissions: {
        status: "failure",
        findings: [],
        advice: "grant it",
        permissions: [
          { ...right, subresource: "status", verb: "patch", allowed: "yes", level: "ok" },
          { ...right, verb: "delete", allowed: "no", level: "failure" },
          {
            ...right,
            ...lease,
            verb: "get",
            allowed: "unknown",
            reason: "it said 403",
            level: "warning",
          },
        ],
      },
    });
    expect(text).toMatch(/^ {2}ok +yes +patch +nodes\/status +- +to p$/m);
    expect(text).toMatch(/^ {2}FAIL +no +delete +nodes +- +to p$/m);
    expect(text).toMatch(/^ {2}WARN +unknown +get +leases\.coordination\.k8s\.io +kube-system/m);
    expect(text).toContain("        it said 403\n        -> grant it\n");
  });

  test("shows Nodes as a table, and below it why nothing can be said", () => {
    const text = format({
      nodes: {
        status: "warning",
        findings: [],
        nodes: [
          {
            name: "a",
            level: "ok",
            ready: true,
            presence: "present",
            matchedBy: "systemUuid",
            providerId: "x://1",
            instance: { id: "1", name: "vm", state: "running", providerId: "x://1" },
            changes: [{ what: "addShutdownTaint" }],
            problems: [],
          },
          {
            name: "b",
            level: "warning",
            ready: false,
            presence: "unknown",
            reason: "notFound",
            message: "no such VM",
            changes: [],
            problems: ["it cannot be initialised", "no such VM"],
          },
        ],
      },
    });
    expect(text).toMatch(/^ {2}ok +a +yes +x:\/\/1 +present +vm +systemUuid$/m);
    expect(text).toMatch(/^ {2}WARN +b +no +- +notFound +- +-$/m);
    expect(text).toContain(
      "        a: would get the shutdown taint: its machine does not run\n" +
        "        b: no such VM\n        b: it cannot be initialised\n",
    );
    expect(text).toEndWith("\n1 warning.\n");
  });

  test("lets no name of the cloud steer the terminal", () => {
    const parts = [{ kind: "host", id: "h", name: "a\u001b[2Jb\nc\u202ed" }];
    expect(format({ cloud: { ...FINE, parts } })).toContain("is seen: a?[2Jb c?d\n");
  });
});
