import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkKubernetes } from "../../../lib/cli/check/kubernetes.ts";
import type { KubernetesStep } from "../../../lib/cli/check/report.ts";
import { readTls, tlsPath } from "../../support/net/tls_fixtures.ts";

const signal = new AbortController().signal;
const SECRET = "s3cr3t-t0ken";
const EXEC_V1 = "client.authentication.k8s.io/v1";

let folder: string;
let answer: () => Response;
const urls = new Map<string, string>();
const servers: Bun.Server<undefined>[] = [];

function serve(name: string, tls?: { cert: string; key: string }): void {
  const fetch = (): Response => answer();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, ...(tls && { tls }) });
  servers.push(server);
  urls.set(name, `${tls ? "https" : "http"}://127.0.0.1:${server.port}`);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-check-"));
  serve("plain");
  serve("named", { cert: readTls("named_server.crt"), key: readTls("named_server.key") });
  serve("expired", { cert: readTls("expired_server.crt"), key: readTls("expired_server.key") });
  serve("known", { cert: readTls("server.crt"), key: readTls("server.key") });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop(true)));
  await rm(folder, { recursive: true });
});

/** Checks by a kubeconfig with a token. */
async function check(
  server: string,
  authority = "ca.crt",
  env: Readonly<Record<string, string>> = {},
): Promise<KubernetesStep> {
  const kubeconfig = join(folder, "kubeconfig");
  const path = tlsPath(authority === "ca.crt" ? "ca.crt" : "other_ca.crt");
  const cluster = { server, "certificate-authority": path };
  const config = {
    clusters: [{ name: "c", cluster: server.startsWith("https") ? cluster : { server } }],
    users: [{ name: "u", user: { token: SECRET } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const { step, client } = await checkKubernetes({ kubeconfig }, env, signal);
  expect(client !== undefined).toBe(step.status !== "failure");
  client?.close();
  expect(JSON.stringify(step)).not.toContain(SECRET);
  return step;
}

describe("checkKubernetes()", () => {
  test("shows the server's version", async () => {
    answer = () => Response.json({ gitVersion: "v1.35.0" });
    const server = urls.get("known") ?? "";
    expect(await check(server)).toMatchObject({ status: "ok", server, version: "v1.35.0" });
  });

  test.each([
    ["v1.27.0", "ok", []],
    ["v1.31.4+k3s1", "ok", []],
    ["v1.26.15", "warning", ["Landfall supports Kubernetes 1.27 or newer, found v1.26.15"]],
    ["not a version", "ok", []],
  ])(
    "warns below the version that the chart and the docs name: %s",
    async (version, status, said) => {
      answer = () => Response.json({ gitVersion: version });
      const step = await check(urls.get("known") ?? "");
      expect(step).toMatchObject({ status, version });
      const [first, ...warnings] = step.findings;
      expect(first).toMatchObject({ level: "ok", code: "answers" });
      expect(warnings.map(({ message }) => message)).toEqual([...said]);
    },
  );

  test.each([
    ["a name without an address", "https://k8s.nowhere.invalid:6443", "dns"],
    ["a port where nothing listens", "https://127.0.0.1:1", "refused"],
    ["a certificate for another name", "named", "tlsName"],
    ["a port that does not speak TLS", "untls", "notTls"],
  ])("tells %s", async (_what, where, code) => {
    const plain = (urls.get("plain") ?? "").replace("http:", "https:");
    const step = await check(where === "untls" ? plain : (urls.get(where) ?? where));
    expect(step.findings).toMatchObject([{ level: "failure", code }]);
    expect(step.findings[0]?.advice).toBeTruthy();
  });

  test("names the proxy of the environment beside a failure, unless the server is on our own machine", async () => {
    const env = { HTTPS_PROXY: "http://proxy.invalid:3128" };
    const there = await check("https://k8s.nowhere.invalid:6443", "ca.crt", env);
    expect(there.findings[0]?.advice).toContain("HTTPS_PROXY is set");
    const here = await check("https://127.0.0.1:1", "ca.crt", env);
    expect(here.findings[0]?.advice).not.toContain("HTTPS_PROXY");
  });

  test("tells the date that a certificate is beyond", async () => {
    const { findings } = await check(urls.get("expired") ?? "");
    expect(findings).toMatchObject([{ level: "failure", code: "tlsExpired" }]);
    expect(findings[0]?.message).toContain("it has expired: valid until 2024-02-01T00:00:00Z");
  });

  test("tells a certificate of another authority", async () => {
    const step = await check(urls.get("known") ?? "", "other_ca.crt");
    expect(step.findings).toMatchObject([{ level: "failure", code: "tlsAuthority" }]);
  });

  const status = (code: number, reason: string): Response =>
    Response.json({ kind: "Status", code, reason, message: "m" }, { status: code });
  const html = { "content-type": "text/html" };
  const replies: readonly (readonly [string, () => Response, string])[] = [
    ["401", () => status(401, "Unauthorized"), "unauthorized"],
    ["403", () => status(403, "Forbidden"), "forbidden"],
    ["500", () => status(500, "InternalError"), "serverError"],
    ["a page", () => new Response("<html>", { headers: html }), "wrongService"],
    ["a 404 page", () => new Response("no", { status: 404, headers: html }), "wrongService"],
    ["a redirect", () => Response.redirect("https://sso.example", 302), "wrongService"],
    ["other JSON", () => Response.json({ version: 1 }), "wrongService"],
  ];
  test.each(replies)("tells %s", async (_what, reply, code) => {
    answer = reply;
    const step = await check(urls.get("plain") ?? "");
    expect(step.findings).toMatchObject([{ level: "failure", code }]);
    expect(step.findings[0]?.advice).toBeTruthy();
  });

  test("says what is wrong with the kubeconfig, or that there is none", async () => {
    const kubeconfig = join(folder, "nowhere");
    const { step } = await checkKubernetes({ kubeconfig }, {}, signal);
    expect(step).toMatchObject({ status: "failure", findings: [{ source: kubeconfig }] });
    const none = await checkKubernetes({}, {}, signal);
    expect(none.step.findings[0]?.message).toContain("--kubeconfig");
  });

  test.each([
    ["/nowhere/config", "set --kubeconfig or KUBECONFIG to the kubeconfig of the cluster"],
    ["/tmp/landfall-demo-Ab12/kubeconfig", "the demo of this terminal has ended: start it again"],
  ])("says what to do about %s, which does not exist", async (file, advice) => {
    for (const list of [file, `${file}:/nowhere/too`]) {
      const { step } = await checkKubernetes({}, { KUBECONFIG: list }, signal);
      expect(step.findings[0]?.advice).toStartWith(advice);
    }
    const { step } = await checkKubernetes({ kubeconfig: file }, {}, signal);
    expect(step.findings[0]?.advice).toStartWith(advice);
  });

  test("uses ~/.kube/config when nothing else is named, as kubectl does", async () => {
    const home = await mkdtemp(join(folder, "home-"));
    await mkdir(join(home, ".kube"));
    await check(urls.get("plain") ?? "");
    await copyFile(join(folder, "kubeconfig"), join(home, ".kube/config"));
    const used = async (env: Readonly<Record<string, string>>): Promise<string | undefined> => {
      const { step, client } = await checkKubernetes({}, { HOME: home, ...env }, signal);
      client?.close();
      return step.server ?? step.findings[0]?.source;
    };
    expect(await used({})).toBe(urls.get("plain"));
    expect(await used({ KUBECONFIG: "/nowhere/config" })).toBe("/nowhere/config");
    const pod = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    expect(await used(pod)).toStartWith("/var/run/secrets/");
  });

  test("names the plugin that gives no credentials, and shows nothing that it printed", async () => {
    const command = fileURLToPath(new URL("../../fixtures/exec_plugin.sh", import.meta.url));
    const kubeconfig = join(folder, "kubeconfig");
    const config = {
      clusters: [{ name: "c", cluster: { server: urls.get("plain") } }],
      users: [{ name: "u", user: { exec: { apiVersion: EXEC_V1, command } } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const env = { ...Bun.env, DO: "fail", RUNS: "/dev/null" };
    const { step } = await checkKubernetes({ kubeconfig }, env, signal);
    expect(step.findings).toMatchObject([{ level: "failure", code: "credentials" }]);
    const [{ message = "", advice = "" } = {}] = step.findings;
    expect(message).toContain(`${JSON.stringify(command)} ended with code 3; run it by hand`);
    expect(message).not.toMatch(/geheim|abcdef/);
    expect(advice).toContain("by hand");
    expect(advice).not.toContain("renew");
  });

  test("rejects with the reason of a signal that aborts", async () => {
    const master = urls.get("plain") ?? "";
    const aborted = AbortSignal.abort(new Error("stop"));
    await expect(checkKubernetes({ master }, {}, aborted)).rejects.toThrow("stop");
  });
});
