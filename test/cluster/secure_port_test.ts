/**
 * The HTTPS port on a real API server: who may look, and certificates that change under load.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { makeSelfSigned } from "../../lib/http/self_signed.ts";
import { skipsCluster } from "../support/cluster.ts";
import { ClusterRig, type Controller, RIGHTS, waitUntil } from "../support/cluster_rig.ts";
import { listPrograms, runLandfall } from "../support/landfall_process.ts";
import { findFreePort } from "../support/server_process.ts";

const run = promisify(execFile);
const program = listPrograms().at(-1);
const NAMESPACE = "default";
const ROLE = "metrics-reader";
/** How long answers about a token are good for. */
const CACHE_MS = 10_000;
const ROTATIONS = 3;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Asks on a connection of its own, unless an agent keeps them. */
function ask(
  port: number,
  path: string,
  { token, host = "127.0.0.1", agent }: { token?: string; host?: string; agent?: Agent } = {},
): Promise<Answer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const asked = request(
      { host, port, path, headers, agent: agent ?? false, rejectUnauthorized: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    asked.setTimeout(20_000, () => asked.destroy(new Error("no answer in 20 s")));
    asked.on("error", reject);
    asked.end();
  });
}

/** The certificate that a new connection is shown. */
function readCertificate(port: number, host = "127.0.0.1"): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

describe.skipIf(skipsCluster())(`the HTTPS port of Landfall as ${program?.name}`, () => {
  let started: ClusterRig | undefined;
  let controller: Controller | undefined;
  let port = 0;
  let mount = "";
  const tokens = { reader: "", other: "" };
  const use = (): { rig: ClusterRig; landfall: Controller["landfall"] } => {
    if (started === undefined || controller === undefined) throw new Error("Cannot test: not up");
    return { rig: started, landfall: controller.landfall };
  };

  beforeAll(async () => {
    const rig = await ClusterRig.start();
    started = rig;
    for (const name of ["reader", "other"] as const) {
      const account = { namespace: NAMESPACE, name };
      tokens[name] = await rig.cluster.createServiceAccountToken(account, 3_600);
    }
    await createReaderRole(rig);
    mount = join(rig.cluster.folder, "serving");
    await mkdir(mount);
    await mountPair(mount, 0, makeSelfSigned(["localhost", "127.0.0.1"], Date.now()));
    [controller, port] = await start(rig, [
      `--tls-cert-file=${mount}/tls.crt`,
      `--tls-private-key-file=${mount}/tls.key`,
    ]);
  }, 120_000);
  afterAll(async () => {
    await controller?.landfall.stop();
    await started?.stop();
  });

  test("is open to a kubelet's probes, which check no certificate", async () => {
    for (const path of ["/healthz", "/livez", "/readyz", "/readyz/nodes-synced"]) {
      const url = `https://127.0.0.1:${port}${path}`;
      const args = ["-k", "-sS", "--max-time", "10", "-w", " %{http_code}", url];
      const { stdout } = await run("curl", args);
      expect(stdout).toBe("ok 200");
    }
  });

  test("gives 401 without a good token, 403 without the right, 200 with both, path by path", async () => {
    const tampered = `${tokens.reader.slice(0, -6)}AAAAAA`;
    const table: readonly (readonly [path: string, token: string | undefined, status: number])[] = [
      ["/metrics", undefined, 401],
      ["/metrics", "nonsense", 401],
      ["/metrics", tampered, 401],
      ["/metrics", tokens.other, 403],
      ["/metrics", tokens.reader, 200],
      ["/configz", tokens.reader, 403],
      ["/debug/", tokens.reader, 403],
      ["/debug/nodes", tokens.reader, 403],
      ["/", tokens.reader, 403],
      ["/%6detrics", tokens.reader, 200],
      ["/healthz/../configz", undefined, 401],
    ];
    for (const [path, token, status] of table) {
      expect([path, (await ask(port, path, token === undefined ? {} : { token })).status]).toEqual([
        path,
        status,
      ]);
    }
    const { text } = await ask(port, "/metrics", { token: tokens.reader });
    expect(text).toContain('apiserver_delegated_authn_request_total{code="201"}');
    expect(use().landfall.log).not.toContain(tokens.reader);
  });

  test("shows the flags at /configz to who may see them, and takes a right away within seconds", async () => {
    const { rig } = use();
    await setPaths(rig, ["/configz", "/metrics"]);
    const seen = await waitUntil("the right to /configz", async () => {
      const answer = await ask(port, "/configz", { token: tokens.reader });
      return answer.status === 200 ? answer.text : undefined;
    });
    const config: unknown = JSON.parse(seen);
    expect(config).toMatchObject({
      "cloudcontrollermanager.config.k8s.io": { flags: { "secure-port": `${port}` } },
    });
    await setPaths(rig, ["/metrics"]);
    await waitUntil("the right to be gone", async () => {
      const { status } = await ask(port, "/configz", { token: tokens.reader });
      return status === 403 ? true : undefined;
    });
  });

  test.each<
    [title: string, away: (rig: ClusterRig) => unknown, back: (rig: ClusterRig) => unknown]
  >([
    [
      "stopped",
      ({ cluster }) => cluster.stopApiServer(),
      ({ cluster }) => cluster.startApiServer(),
    ],
    [
      "frozen",
      ({ cluster }) => cluster.pauseApiServer(),
      ({ cluster }) => cluster.resumeApiServer(),
    ],
  ])(
    "is closed but for probes while the API server is %s, and open again after",
    async (_title, away, back) => {
      const { rig } = use();
      expect((await ask(port, "/metrics", { token: tokens.reader })).status).toBe(200);
      await away(rig);
      try {
        await Bun.sleep(CACHE_MS);
        const startMs = performance.now();
        expect((await ask(port, "/metrics", { token: tokens.reader })).status).toBe(503);
        expect(performance.now() - startMs).toBeLessThan(7_000);
        expect((await ask(port, "/metrics", { token: tokens.other })).status).toBe(503);
        expect((await ask(port, "/metrics")).status).toBe(401);
        expect((await ask(port, "/healthz")).status).toBe(200);
        expect((await ask(port, "/livez")).status).toBe(200);
      } finally {
        await back(rig);
      }
      await waitUntil("metrics again", async () => {
        const { status } = await ask(port, "/metrics", { token: tokens.reader });
        return status === 200 ? true : undefined;
      });
    },
    120_000,
  );

  test("takes new certificates under load, without one request that fails", async () => {
    const { landfall } = use();
    const stop = new AbortController();
    const load = runLoad(port, tokens.reader, stop.signal);
    let last = makeSelfSigned(["localhost"], Date.now());
    for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
      const fresh = makeSelfSigned(["localhost"], Date.now());
      const countWarnings = (): number => landfall.log.split("the old one stays").length;
      const before = countWarnings();
      // First the new certificate with the old key, as if the mount were caught in between.
      await mountPair(mount, rotation * 2, { cert: fresh.cert, key: last.key });
      await waitUntil("a warning", () => {
        return Promise.resolve(countWarnings() > before ? true : undefined);
      });
      await mountPair(mount, rotation * 2 + 1, fresh);
      const { serialNumber } = new X509Certificate(fresh.cert);
      await waitUntil("the new certificate to be shown", async () => {
        const shown = await readCertificate(port);
        return shown.serialNumber === serialNumber ? true : undefined;
      });
      last = fresh;
    }
    stop.abort();
    const { done, failures } = await load;
    process.stderr.write(`${done} requests while ${ROTATIONS} certificates were changed\n`);
    expect(failures).toEqual([]);
    expect(done).toBeGreaterThan(500);
  }, 180_000);

  test("without files, on ::, is for this machine's names; with /metrics open it needs no token", async () => {
    const { rig } = use();
    const paths = "/healthz,/livez,/readyz,/metrics";
    const [other, otherPort] = await start(rig, [
      "--bind-address=::",
      `--authorization-always-allow-paths=${paths}`,
    ]);
    try {
      expect((await ask(otherPort, "/metrics")).status).toBe(200);
      expect((await ask(otherPort, "/metrics", { host: "::1" })).status).toBe(200);
      expect((await ask(otherPort, "/debug/nodes", { host: "::1" })).status).toBe(401);
      const certificate = await readCertificate(otherPort, "::1");
      expect(certificate.checkIP("::1")).toBe("::1");
      expect(certificate.checkHost("localhost")).toBe("localhost");
    } finally {
      await other.landfall.stop();
    }
  });

  test("is closed, never open, when the controller may not ask who somebody is", async () => {
    const { rig } = use();
    const isReview = (resource: string): boolean => resource.endsWith("reviews");
    await rig.allow(RIGHTS.filter(({ access }) => !isReview(access.resource)));
    const [other, otherPort] = await start(rig, []);
    try {
      expect((await ask(otherPort, "/metrics", { token: tokens.reader })).status).toBe(503);
      expect((await ask(otherPort, "/healthz")).status).toBe(200);
      expect(other.landfall.log).toContain("cannot be told");
      expect(other.landfall.log).toContain("tokenreviews");
    } finally {
      await other.landfall.stop();
      await rig.allow(RIGHTS);
    }
  });

  test("ends with 2 when its port is taken or its certificate is not there", async () => {
    if (program === undefined) throw new Error("Cannot test: there is no program");
    const { rig } = use();
    const config = join(rig.cluster.folder, "static.yaml");
    await writeFile(config, "instances: []\n");
    const base = [
      "run",
      "--cloud-provider=static",
      `--cloud-config=${config}`,
      `--kubeconfig=${await rig.writeKubeconfig()}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
    ];
    const taken = await runLandfall(program, base);
    expect(taken.code).toBe(2);
    expect(taken.stderr).toContain(`--secure-port: Cannot listen at 127.0.0.1:${port}`);
    const files = ["--tls-cert-file=/no/tls.crt", "--tls-private-key-file=/no/tls.key"];
    const missing = await runLandfall(program, [...base, ...files]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("--tls-cert-file: /no/tls.crt: there is no such file");
    expect(missing.stderr).toContain("--tls-private-key-file: /no/tls.key: there is no such file");
  });
});

async function start(
  rig: ClusterRig,
  args: readonly string[],
): Promise<[controller: Controller, port: number]> {
  if (program === undefined) throw new Error("Cannot test: there is no program");
  const port = await findFreePort();
  const all = ["--bind-address=127.0.0.1", `--secure-port=${port}`, ...args];
  return [await rig.startController(program, { args: all }), port];
}

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

async function createReaderRole(rig: ClusterRig): Promise<void> {
  const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }];
  await rig.cluster.create(`${RBAC}/clusterroles`, { metadata: { name: ROLE }, rules });
  await rig.cluster.create(`${RBAC}/clusterrolebindings`, {
    metadata: { name: ROLE },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: ROLE },
    subjects: [{ kind: "ServiceAccount", namespace: NAMESPACE, name: "reader" }],
  });
}

async function setPaths(rig: ClusterRig, paths: readonly string[]): Promise<void> {
  const response = await rig.cluster.adminFetch(`${RBAC}/clusterroles/${ROLE}`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ rules: [{ nonResourceURLs: paths, verbs: ["get"] }] }),
  });
  if (!response.ok) throw new Error(`Cannot change role: ${await response.text()}`);
}

/** Puts a pair in place as Kubernetes does with a Secret: a link to a folder is switched. */
async function mountPair(
  mount: string,
  version: number,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<void> {
  const folder = `..version-${version}`;
  await mkdir(join(mount, folder));
  await writeFile(join(mount, folder, "tls.crt"), cert);
  await writeFile(join(mount, folder, "tls.key"), key);
  await symlink(folder, join(mount, "..data_tmp"));
  await rename(join(mount, "..data_tmp"), join(mount, "..data"));
  if (version > 0) {
    // The folder before it goes at once, as it does there.
    await rm(join(mount, `..version-${version - 1}`), { recursive: true, force: true });
    return;
  }
  for (const name of ["tls.crt", "tls.key"]) await symlink(`..data/${name}`, join(mount, name));
}

/** Asks without a pause until the signal aborts: two on new connections, two on kept ones. */
async function runLoad(
  port: number,
  token: string,
  signal: AbortSignal,
): Promise<{ readonly done: number; readonly failures: readonly string[] }> {
  const failures: string[] = [];
  let done = 0;
  const askOn = async (path: string, agent?: Agent): Promise<void> => {
    while (!signal.aborted) {
      const options = { ...(path === "/metrics" && { token }), ...(agent && { agent }) };
      const { status } = await ask(port, path, options).catch((error: unknown) => ({
        status: String(error),
      }));
      if (status !== 200) failures.push(`${path}: ${status}`);
      done += 1;
    }
  };
  const agents = [0, 1].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  await Promise.all([
    askOn("/metrics"),
    askOn("/healthz"),
    askOn("/metrics", agents[0]),
    askOn("/healthz", agents[1]),
  ]);
  for (const agent of agents) agent.destroy();
  return { done, failures };
}
