/**
 * Finding credentials and keeping them fresh.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadCredentials, SERVICE_ACCOUNT_FOLDER } from "../../../lib/kube/credentials/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { MemoryDisk } from "../../support/memory_disk.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const POD = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
const TOKEN = `${SERVICE_ACCOUNT_FOLDER}/token`;
const CA = `${SERVICE_ACCOUNT_FOLDER}/ca.crt`;
const EXEC_V1 = "client.authentication.k8s.io/v1";
const signal = new AbortController().signal;

function createPod(): { clock: ManualClock; disk: MemoryDisk } {
  const disk = new MemoryDisk({ [TOKEN]: "one\n", [CA]: readTls("ca.crt") });
  return { clock: new ManualClock(), disk };
}

function toYaml(server: string, user: object): string {
  return JSON.stringify({
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user }],
  });
}

describe("loadCredentials()", () => {
  test("takes the pod's service account, with the token trimmed", async () => {
    const { clock, disk } = createPod();
    const found = await loadCredentials({ env: POD, clock, readFile: disk.readFile });
    expect(found.server).toBe("https://10.0.0.1:443");
    const { headers, tls } = await found.current(signal);
    expect(headers).toEqual({ authorization: "Bearer one" });
    expect(tls).toEqual({ ca: readTls("ca.crt") });
  });

  test("finds the API server of the pod by an IPv6 address, too", async () => {
    const { clock, disk } = createPod();
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    const found = await loadCredentials({ env, clock, readFile: disk.readFile });
    expect(found.server).toBe("https://[fd00::1]:6443");
  });

  test.each([
    [{ [TOKEN]: "abc" }, `${CA}: cannot read the file: there is no such file`],
    [{ [TOKEN]: "abc", [CA]: "" }, `${CA}: contains no certificate in PEM`],
    [{ [TOKEN]: " ", [CA]: readTls("ca.crt") }, `${TOKEN}: the token is empty`],
  ])("says which file of the pod is wrong, case %#", async (files, message) => {
    const { readFile } = new MemoryDisk(files);
    const loading = loadCredentials({ env: POD, clock: new ManualClock(), readFile });
    await expect(loading).rejects.toThrow(message);
  });

  test("reads the pod's token again after 30 s, not before, and keeps the connection", async () => {
    const { clock, disk } = createPod();
    const found = await loadCredentials({ env: POD, clock, readFile: disk.readFile });
    const first = await found.current(signal);
    disk.files.set(TOKEN, "two");
    await clock.advance(29_999);
    expect((await found.current(signal)).headers["authorization"]).toBe("Bearer one");
    await clock.advance(1);
    const second = await found.current(signal);
    expect(second.headers["authorization"]).toBe("Bearer two");
    expect(second.version).toBe(first.version);
  });

  test("prefers --kubeconfig to KUBECONFIG, and KUBECONFIG to the pod", async () => {
    const { clock, disk } = createPod();
    disk.files.set("/a", toYaml("https://a", { token: "ta" }));
    disk.files.set("/b", toYaml("https://b", { token: "tb" }));
    const { readFile } = disk;
    const env = { ...POD, KUBECONFIG: "/b" };
    const flag = await loadCredentials({ kubeconfig: "/a", env, clock, readFile });
    const variable = await loadCredentials({ env, clock, readFile });
    expect([flag.server, variable.server]).toEqual(["https://a", "https://b"]);
  });

  test("says that a list of files is for the variable, not for the flag", async () => {
    const { readFile, files } = new MemoryDisk({ "/a": toYaml("https://a", { token: "ta" }) });
    const clock = new ManualClock();
    const refused = loadCredentials({ kubeconfig: "/a:/b", env: {}, clock, readFile });
    await expect(refused).rejects.toThrow(
      '--kubeconfig: must be one file, but is "/a:/b"; the variable KUBECONFIG takes a list',
    );
    const { server } = await loadCredentials({ env: { KUBECONFIG: "/a:/b" }, clock, readFile });
    expect(server).toBe("https://a");
    // A file may be called so.
    files.set("/a:/b", toYaml("https://c", { token: "ta" }));
    const named = await loadCredentials({ kubeconfig: "/a:/b", env: {}, clock, readFile });
    expect(named.server).toBe("https://c");
  });

  test("lets --master replace the address and nothing else", async () => {
    const { clock, disk } = createPod();
    disk.files.set("/a", toYaml("https://a", { token: "ta" }));
    const { readFile } = disk;
    const master = "https://127.0.0.1:6443/";
    const found = await loadCredentials({ kubeconfig: "/a", master, env: {}, clock, readFile });
    expect(found.server).toBe("https://127.0.0.1:6443");
    expect((await found.current(signal)).headers["authorization"]).toBe("Bearer ta");
  });

  test("goes without credentials when --master is all there is", async () => {
    const master = "http://127.0.0.1:8080";
    const found = await loadCredentials({ master, env: {}, clock: new ManualClock() });
    expect(await found.current(signal)).toEqual({ headers: {}, tls: {}, version: 1 });
  });

  test("runs a plugin once until the server refuses its answer, and adds it to the cluster's settings", async () => {
    const folder = mkdtempSync(join(tmpdir(), "load-credentials-"));
    const answer = { kind: "ExecCredential", apiVersion: EXEC_V1, status: { token: "abc" } };
    writeFileSync(join(folder, "answer"), JSON.stringify(answer));
    const { clock, disk } = createPod();
    const exec = {
      apiVersion: EXEC_V1,
      command: fileURLToPath(new URL("../../fixtures/exec_plugin.sh", import.meta.url)),
      interactiveMode: "Never",
      env: [
        { name: "DO", value: "print" },
        { name: "RUNS", value: join(folder, "runs") },
        { name: "ANSWER", value: join(folder, "answer") },
      ],
    };
    disk.files.set("/a", toYaml("https://a", { exec, as: "jane" }));
    const env = { PATH: Bun.env["PATH"] };
    const { readFile } = disk;
    const found = await loadCredentials({ kubeconfig: "/a", env, clock, readFile });
    const countRuns = (): number =>
      readFileSync(join(folder, "runs"), "utf8").split("\n").length - 1;
    await found.current(signal);
    await clock.advance(30_000);
    const used = await found.current(signal);
    expect(used.headers).toEqual({
      authorization: "Bearer abc",
      "impersonate-user": "jane",
    });
    expect(countRuns()).toBe(1);
    found.invalidate(used);
    await found.current(signal);
    expect(countRuns()).toBe(2);
    rmSync(folder, { recursive: true });
  });

  test("says at the start that the command of a plugin is not there", async () => {
    const { clock, disk } = createPod();
    const exec = { apiVersion: EXEC_V1, command: "/no/plugin", installHint: "npm i it" };
    disk.files.set("/a", toYaml("https://a", { exec }));
    const { readFile } = disk;
    const loading = loadCredentials({ kubeconfig: "/a", env: {}, clock, readFile });
    await expect(loading).rejects.toMatchObject({
      name: "ConfigError",
      message: '/a: users.u.user.exec.command: command "/no/plugin" does not exist (npm i it)',
    });
  });

  const REFUSALS: [string, Parameters<typeof loadCredentials>[0]["env"], string, string][] = [
    [
      "there are none at all",
      { KUBERNETES_SERVICE_HOST: "10.0.0.1" },
      "",
      "Kubernetes credentials: none found: set --kubeconfig",
    ],
    [
      "the kubeconfig is missing",
      {},
      "/none",
      "/none: cannot read the file: there is no such file",
    ],
    [
      "no file of KUBECONFIG exists",
      { KUBECONFIG: "/x:y" },
      "",
      `KUBECONFIG: none of the files exists: /x, ${process.cwd()}/y`,
    ],
    ["the pod has no token", POD, "", `${TOKEN}: cannot read the file: there is no such file`],
  ];
  test.each(REFUSALS)("says what is wrong when %s", async (_title, env, kubeconfig, message) => {
    const { readFile } = new MemoryDisk();
    const loading = loadCredentials({ kubeconfig, env, clock: new ManualClock(), readFile });
    await expect(loading).rejects.toMatchObject({
      name: "ConfigError",
      message: expect.stringContaining(message),
      issues: { length: 1 },
    });
  });
});
