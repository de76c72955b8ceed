/**
 * Plugins that print credentials: real commands, run for real.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ExecPlugin, type ExecSpec } from "../../../lib/kube/credentials/exec.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const COMMAND = fileURLToPath(new URL("../../fixtures/exec_plugin.sh", import.meta.url));
const V1 = "client.authentication.k8s.io/v1";
const V1BETA1 = "client.authentication.k8s.io/v1beta1";
const PATH = Bun.env["PATH"];

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "exec-plugin-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface PluginOptions {
  do: string;
  spec?: Partial<ExecSpec>;
  timeoutMs?: number;
}

function createPlugin({ do: what, spec = {}, timeoutMs = 10_000 }: PluginOptions): {
  plugin: { read(fresh: boolean): ReturnType<ExecPlugin["read"]> };
  clock: ManualClock;
} {
  const clock = new ManualClock();
  const env = { PATH, RUNS: join(folder, "runs"), ANSWER: join(folder, "answer") };
  const plugin = new ExecPlugin({ env, clock, timeoutMs });
  const whole: ExecSpec = {
    apiVersion: V1,
    command: COMMAND,
    args: [],
    env: { DO: what },
    place: { source: "/config", path: "users.u.user.exec" },
    ...spec,
  };
  return { plugin: { read: (fresh) => plugin.read(whole, fresh) }, clock };
}

function setAnswer(status: object, apiVersion: string = V1): void {
  const answer = { kind: "ExecCredential", apiVersion, status };
  writeFileSync(join(folder, "answer"), JSON.stringify(answer));
}

function countRuns(): number {
  return readFileSync(join(folder, "runs"), "utf8").trim().split("\n").length;
}

describe("ExecPlugin", () => {
  test.each([V1, V1BETA1])(
    "tells the plugin what is wanted, and passes arguments: %s",
    async (apiVersion) => {
      const cluster = { server: "https://a" };
      const spec = { apiVersion, cluster, args: ["a b"], env: { DO: "info", VERSION: apiVersion } };
      const { plugin } = createPlugin({ do: "info", spec });
      const { headers } = await plugin.read(false);
      const token = (headers["authorization"] ?? "").replace("Bearer ", "");
      const [argument, info] = Buffer.from(token, "base64").toString().split("|");
      expect(argument).toBe("a b");
      expect(JSON.parse(info ?? "")).toEqual({
        kind: "ExecCredential",
        apiVersion,
        spec: { interactive: false, cluster },
      });
    },
  );

  test("gives a client certificate", async () => {
    const [cert, key] = [readTls("client.crt"), readTls("client.key")];
    setAnswer({ clientCertificateData: cert, clientKeyData: key });
    const { plugin } = createPlugin({ do: "print" });
    expect(await plugin.read(false)).toEqual({ headers: {}, tls: { cert, key } });
  });

  test("keeps an answer until it ends, or until it must be fresh", async () => {
    const { plugin, clock } = createPlugin({ do: "print" });
    const expirationTimestamp = new Date(clock.now() + 5000).toISOString();
    setAnswer({ token: "abc", expirationTimestamp });
    expect(await plugin.read(false)).toMatchObject({ expiresAtMs: clock.now() + 5000 });
    await clock.advance(4999);
    await plugin.read(false);
    expect(countRuns()).toBe(1);
    await plugin.read(true);
    expect(countRuns()).toBe(2);
    await clock.advance(1);
    await plugin.read(false);
    expect(countRuns()).toBe(3);
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
  test.each(ANSWERS)("refuses an answer with %s", async (_title, status, message) => {
    setAnswer(status);
    const reading = createPlugin({ do: "print" }).plugin.read(false);
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toThrow("/config: users.u.user.exec");
  });

  test("shows nothing of what a failed plugin printed", async () => {
    const { plugin } = createPlugin({ do: "fail", spec: { installHint: "run login" } });
    const error = await plugin.read(false).catch((error: unknown) => error);
    expect(String(error)).toContain("ended with code 3; run it by hand to see why");
    expect(String(error)).toEndWith("(run login)");
    expect(String(error)).not.toMatch(/geheim|abcdef/);
  });

  test("says that a command is not there, and how to get it", async () => {
    const spec = { command: "no-such-command", installHint: "npm i it" };
    const reading = createPlugin({ do: "", spec }).plugin.read(false);
    await expect(reading).rejects.toThrow('command "no-such-command" does not exist (npm i it)');
  });

  test("kills a plugin that hangs", async () => {
    const reading = createPlugin({ do: "hang", timeoutMs: 200 }).plugin.read(false);
    await expect(reading).rejects.toThrow("did not end within 0.2 s");
  });
});
