/**
 * Plugins that print credentials: real commands, run for real.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Credential, Credentials } from "../../../lib/kube/credentials/credentials.ts";
import { type CredentialsSource, loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { MemoryDisk } from "../../support/memory_disk.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const COMMAND = fileURLToPath(new URL("../../fixtures/exec_plugin.sh", import.meta.url));
const V1 = "client.authentication.k8s.io/v1";
const V1BETA1 = "client.authentication.k8s.io/v1beta1";
const PATH = Bun.env["PATH"];
const signal = new AbortController().signal;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "exec-plugin-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Config {
  readonly exec?: object;
  readonly cluster?: object;
}

/** Loads the credentials of a user with a plugin. The plugin runs with the first request. */
function load(
  { exec, cluster }: Config,
  source: Partial<CredentialsSource> = {},
): Promise<Credentials> {
  const config = JSON.stringify({
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://a", ...cluster } }],
    users: [{ name: "u", user: { exec: { apiVersion: V1, command: COMMAND, ...exec } } }],
  });
  const { readFile } = new MemoryDisk({ "/d/config": config });
  const env = { PATH, RUNS: join(folder, "runs"), ANSWER: join(folder, "answer") };
  const found = { kubeconfig: "/d/config", env, clock: new ManualClock(), readFile };
  return loadCredentials({ ...found, ...source });
}

/** What the first request carries. */
async function run(
  what: string,
  config: Config = {},
  source: Partial<CredentialsSource> = {},
): Promise<Credential> {
  const env = [{ name: "DO", value: what }];
  const credentials = await load({ ...config, exec: { env, ...config.exec } }, source);
  return await credentials.current(signal);
}

function setAnswer(status: object): void {
  const answer = { kind: "ExecCredential", apiVersion: V1, status };
  writeFileSync(join(folder, "answer"), JSON.stringify(answer));
}

function countRuns(): number {
  return readFileSync(join(folder, "runs"), "utf8").trim().split("\n").length;
}

describe("a plugin", () => {
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }];
  const ca = Buffer.from(readTls("ca.crt")).toString("base64");
  const cluster = {
    "tls-server-name": "n",
    "certificate-authority-data": ca,
    "proxy-url": "http://p",
    extensions,
  };
  test.each([
    [V1, {}, {}],
    [
      V1BETA1,
      { provideClusterInfo: true },
      {
        cluster: {
          server: "https://a",
          "tls-server-name": "n",
          "certificate-authority-data": ca,
          "proxy-url": "http://p",
          config: { audience: "x" },
        },
      },
    ],
  ])("learns what is wanted, and of the cluster what it asks for: %s", async (...row) => {
    const [apiVersion, asked, told] = row;
    const env = [
      { name: "DO", value: "info" },
      { name: "VERSION", value: apiVersion },
    ];
    const exec = { apiVersion, args: ["a b"], env, ...asked };
    const { headers } = await run("info", { exec, cluster });
    const token = String(headers["authorization"]).replace("Bearer ", "");
    const [argument, info] = Buffer.from(token, "base64").toString().split("|");
    expect(argument).toBe("a b");
    expect(JSON.parse(info ?? "")).toEqual({
      kind: "ExecCredential",
      apiVersion,
      spec: { interactive: false, ...told },
    });
  });

  test("gives a client certificate", async () => {
    const [cert, key] = [readTls("client.crt"), readTls("client.key")];
    setAnswer({ clientCertificateData: cert, clientKeyData: key });
    expect(await run("print")).toMatchObject({ headers: {}, tls: { cert, key } });
  });

  test("runs again when its answer ends, or when the server refused it, and not before", async () => {
    const clock = new ManualClock();
    const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
    setAnswer({ token: "abc", expirationTimestamp });
    const env = [{ name: "DO", value: "print" }];
    const credentials = await load({ exec: { env } }, { clock });
    const used = await credentials.current(signal);
    await clock.advance(59_999);
    await credentials.current(signal);
    expect(countRuns()).toBe(1);
    credentials.invalidate(await credentials.current(signal));
    await credentials.current(signal);
    expect(countRuns()).toBe(2);
    await clock.advance(1);
    await credentials.current(signal);
    expect(countRuns()).toBe(3);
    expect(used.headers).toEqual({ authorization: "Bearer abc" });
  });

  const ANSWERS: [string, object, string][] = [
    ["nothing", {}, "printed neither a token nor a client certificate"],
    ["a certificate alone", { clientCertificateData: "x" }, "only one of certificate and key"],
    [
      "a key of another certificate",
      { clientCertificateData: readTls("client.crt"), clientKeyData: readTls("server.key") },
      "the private key does not belong to the client certificate",
    ],
  ];
  test.each(ANSWERS)("must not answer with %s", async (_title, status, message) => {
    setAnswer(status);
    const running = run("print");
    await expect(running).rejects.toThrow(message);
    await expect(running).rejects.toThrow("/d/config: users.u.user.exec");
  });

  test("that failed is told of, but nothing of what it printed", async () => {
    const failed = await run("fail", { exec: { installHint: "run login" } }).catch(String);
    expect(failed).toContain("ended with code 3; run it by hand to see why");
    expect(failed).toEndWith("(run login)");
    expect(failed).not.toMatch(/geheim|abcdef/);
  });

  test("that hangs is killed", async () => {
    const running = run("hang", {}, { pluginMs: 200 });
    await expect(running).rejects.toThrow("did not end within 0.2 s");
  });
});

describe("the command of a plugin", () => {
  beforeEach(() => {
    writeFileSync(join(folder, "good"), "", { mode: 0o755 });
    writeFileSync(join(folder, "plain"), "", { mode: 0o644 });
    mkdirSync(join(folder, "sub"));
  });

  test("is found by its path, or on PATH, which the plugin may set, too", async () => {
    const command = "good";
    const inPlugin = { command, env: [{ name: "PATH", value: folder }] };
    await load({ exec: { command: join(folder, "good") } }, { env: {} });
    await load({ exec: { command } }, { env: { PATH: `/nowhere:${folder}` } });
    await load({ exec: inPlugin }, { env: { PATH: "/nowhere" } });
    // Nobody can know.
    await load({ exec: { command: "unknown" } }, { env: {} });
  });

  test.each([
    ["/no/such", '"/no/such" does not exist (npm i it)'],
    ["./bin/x", '"/d/bin/x" does not exist (npm i it)'],
    ["../x", '"/x" does not exist (npm i it)'],
    ["SUB", 'sub" does not exist (npm i it)'],
    ["plain", '"plain" is not executable (npm i it)'],
    ["none", '"none" does not exist in any folder of PATH (npm i it)'],
    // It may be a secret.
    ["aws --token geheim", '"aws …" does not exist in any folder of PATH (npm i it)'],
    ["https://host/?token=geheim", "(not shown here) does not exist (npm i it)"],
    ["user:geheim@host", "(not shown here) does not exist in any folder of PATH (npm i it)"],
    ["geheim".repeat(6), "(not shown here) does not exist in any folder of PATH (npm i it)"],
    [`${"geheim".repeat(6)} x`, "(not shown here) does not exist in any folder of PATH (npm i it)"],
  ])("%p is refused at the start", async (given, message) => {
    const command = given === "SUB" ? join(folder, "sub") : given;
    const loading = load(
      { exec: { command, installHint: "npm i it\n" } },
      { env: { PATH: folder } },
    );
    const error = await loading.catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "ConfigError" });
    expect(String(error)).toStartWith(
      "ConfigError: /d/config: users.u.user.exec.command: command ",
    );
    expect(String(error)).toEndWith(message);
  });

  test("may go away later", async () => {
    const exec = { command: "good", installHint: "npm i it" };
    const credentials = await load({ exec }, { env: { PATH: folder } });
    rmSync(join(folder, "good"));
    await expect(credentials.current(signal)).rejects.toThrow(
      'command "good" does not exist (npm i it)',
    );
  });

  test.each<[object, string]>([
    [
      { apiVersion: "client.authentication.k8s.io/v1alpha1" },
      "apiVersion: must be client.authentication.k8s.io/v1 or",
    ],
    [{ apiVersion: "" }, "apiVersion: is missing"],
    [{ command: "" }, "command: is missing"],
    [
      { interactiveMode: "Always" },
      "interactiveMode: the plugin needs a terminal, but Landfall has none",
    ],
    [{ interactiveMode: "never" }, "interactiveMode: must be Never, IfAvailable or Always"],
    [{ env: [{ value: "x" }] }, "env.0.name: is missing"],
    [{ args: "a b" }, "args: must be a list"],
  ])("must be one that can be run, case %#", async (exec, message) => {
    await expect(load({ exec })).rejects.toThrow(`/d/config: users.u.user.exec.${message}`);
  });
});
