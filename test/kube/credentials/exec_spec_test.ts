/**
 * The `exec` part of a kubeconfig user.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { type ExecSpec, toCommandError, toExecSpec } from "../../../lib/kube/credentials/exec.ts";
import { Section } from "../../../lib/kube/credentials/setting.ts";

const API_VERSION = "client.authentication.k8s.io/v1";

function read(exec: object, cluster: object = {}): ExecSpec {
  return toExecSpec(
    new Section({ apiVersion: API_VERSION, command: "x", ...exec }, "/d/config", "exec"),
    {
      cluster: new Section(cluster, "/d/config", "cluster"),
      server: "https://a",
      ca: "PEM",
    },
  );
}

describe("toExecSpec()", () => {
  test("reads command, arguments and environment", () => {
    const env = [
      { name: "A", value: "1" },
      { name: "B", value: "" },
    ];
    expect(read({ args: ["a"], env, installHint: "h", interactiveMode: "Never" })).toEqual({
      apiVersion: API_VERSION,
      command: "x",
      args: ["a"],
      env: { A: "1", B: "" },
      installHint: "h",
      place: { source: "/d/config", path: "exec" },
    });
  });

  test.each([
    ["name", "name"],
    ["./bin/x", "/d/bin/x"],
    ["../x", "/x"],
    ["/abs/x", "/abs/x"],
  ])("finds the command %s at %s", (command, expected) => {
    expect(read({ command }).command).toBe(expected);
  });

  test("reports the cluster only when asked to", () => {
    const extensions = [
      { name: "client.authentication.k8s.io/exec", extension: { audience: "x" } },
    ];
    const cluster = { "tls-server-name": "n", "proxy-url": "http://p", extensions };
    expect(read({}, cluster).cluster).toBeUndefined();
    expect(read({ provideClusterInfo: true }, cluster).cluster).toEqual({
      server: "https://a",
      "tls-server-name": "n",
      "certificate-authority-data": Buffer.from("PEM").toString("base64"),
      "proxy-url": "http://p",
      config: { audience: "x" },
    });
  });

  const REFUSED: [object, string][] = [
    [
      { apiVersion: "client.authentication.k8s.io/v1alpha1" },
      "exec.apiVersion: must be client.authentication.k8s.io/v1 or",
    ],
    [{ apiVersion: "" }, "exec.apiVersion: is missing"],
    [{ command: "" }, "exec.command: is missing"],
    [
      { interactiveMode: "Always" },
      "exec.interactiveMode: the plugin needs a terminal, but Landfall has none",
    ],
    [{ interactiveMode: "never" }, "exec.interactiveMode: must be Never, IfAvailable or Always"],
    [{ env: [{ value: "x" }] }, "exec.env.0.name: is missing"],
    [{ args: "a b" }, "exec.args: must be a list"],
  ];
  test.each([
    ["aws", '"aws"'],
    ["/usr/bin/kubectl-oidc_login", '"/usr/bin/kubectl-oidc_login"'],
    ["aws --token geheim", '"aws …"'],
    ["https://host/?token=geheim", "(not shown here)"],
    ["user:geheim@host", "(not shown here)"],
    ["geheim".repeat(6), "(not shown here)"],
    [`${"geheim".repeat(6)} x`, "(not shown here)"],
  ])("names the command %p as %s, for it may be a secret", (command, shown) => {
    const { message } = toCommandError({ command }, { source: "/d/config" }, "does not exist");
    expect(message).toBe(`/d/config: command ${shown} does not exist`);
  });

  test.each(REFUSED)("refuses what cannot be run, case %#", (exec, message) => {
    expect(() => read(exec)).toThrow(`/d/config: ${message}`);
  });
});
