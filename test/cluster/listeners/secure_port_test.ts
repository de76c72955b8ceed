/**
 * The HTTPS port on a real API server: who may look, and certificates that change under load.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeSelfSigned } from "../../../lib/http/certificate/self_signed.ts";
import type { KeyPair } from "../../../lib/http/sockets/server.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  RIGHTS,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { askHttps, readCertificate, runHttpsLoad } from "../../support/net/https_client.ts";
import { PROGRAM, runLandfall } from "../../support/process/landfall_process.ts";
import { SecretMount } from "../../support/process/secret_mount.ts";
import { findFreePort } from "../../support/process/server_process.ts";

const run = promisify(execFile);
const NAMESPACE = "default";
const ROLE = "metrics-reader";
/** How long answers about a token are good for. */
const CACHE_MS = 10_000;
const ROTATIONS = 2;

function toFiles({ cert, key }: KeyPair): Record<string, string> {
  return { "tls.crt": cert, "tls.key": key };
}

describe.skipIf(skipsCluster())(`the HTTPS port of Landfall as ${PROGRAM.name}`, () => {
  let started: ClusterRig | undefined;
  let controller: Controller | undefined;
  let port = 0;
  let mount: SecretMount | undefined;
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
    const mounted = new SecretMount(toFiles(makeSelfSigned(["localhost"], Date.now())));
    mount = mounted;
    [controller, port] = await start(rig, [
      `--tls-cert-file=${mounted.path("tls.crt")}`,
      `--tls-private-key-file=${mounted.path("tls.key")}`,
    ]);
  }, 120_000);
  afterAll(async () => {
    await controller?.landfall.stop();
    await started?.stop();
    mount?.[Symbol.dispose]();
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
      expect([
        path,
        (await askHttps(port, path, token === undefined ? {} : { token })).status,
      ]).toEqual([path, status]);
    }
    const { text } = await askHttps(port, "/metrics", { token: tokens.reader });
    expect(text).toContain('apiserver_delegated_authn_request_total{code="201"}');
    expect(use().landfall.log).not.toContain(tokens.reader);
  });

  test("shows the flags at /configz to who may see them, and takes a right away within seconds", async () => {
    const { rig } = use();
    await setPaths(rig, ["/configz", "/metrics"]);
    const seen = await waitUntil("the right to /configz", async () => {
      const answer = await askHttps(port, "/configz", { token: tokens.reader });
      return answer.status === 200 ? answer.text : undefined;
    });
    const config: unknown = JSON.parse(seen);
    expect(config).toMatchObject({
      "cloudcontrollermanager.config.k8s.io": { flags: { "secure-port": `${port}` } },
    });
    await setPaths(rig, ["/metrics"]);
    await waitUntil("the right to be gone", async () => {
      const { status } = await askHttps(port, "/configz", { token: tokens.reader });
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
      expect((await askHttps(port, "/metrics", { token: tokens.reader })).status).toBe(200);
      await away(rig);
      try {
        await Bun.sleep(CACHE_MS);
        const startMs = performance.now();
        expect((await askHttps(port, "/metrics", { token: tokens.reader })).status).toBe(503);
        expect(performance.now() - startMs).toBeLessThan(7_000);
        expect((await askHttps(port, "/metrics", { token: tokens.other })).status).toBe(503);
        expect((await askHttps(port, "/metrics")).status).toBe(401);
        expect((await askHttps(port, "/healthz")).status).toBe(200);
        expect((await askHttps(port, "/livez")).status).toBe(200);
      } finally {
        await back(rig);
      }
      await waitUntil("metrics again", async () => {
        const { status } = await askHttps(port, "/metrics", { token: tokens.reader });
        return status === 200 ? true : undefined;
      });
    },
    120_000,
  );

  test("takes new certificates under load, without one request that fails", async () => {
    const { landfall } = use();
    const stop = new AbortController();
    const load = runHttpsLoad(port, tokens.reader, stop.signal);
    let last = makeSelfSigned(["localhost"], Date.now());
    for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
      const fresh = makeSelfSigned(["localhost"], Date.now());
      const countWarnings = (): number => landfall.log.split("still using the old one").length;
      const before = countWarnings();
      // First the new certificate with the old key, as if the mount were caught in between.
      mount?.update(toFiles({ cert: fresh.cert, key: last.key }));
      await waitUntil("a warning", () => {
        return Promise.resolve(countWarnings() > before ? true : undefined);
      });
      mount?.update(toFiles(fresh));
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
      expect((await askHttps(otherPort, "/metrics")).status).toBe(200);
      expect((await askHttps(otherPort, "/metrics", { host: "::1" })).status).toBe(200);
      expect((await askHttps(otherPort, "/debug/nodes", { host: "::1" })).status).toBe(401);
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
      expect((await askHttps(otherPort, "/metrics", { token: tokens.reader })).status).toBe(503);
      expect((await askHttps(otherPort, "/healthz")).status).toBe(200);
      expect(other.landfall.log).toContain("Access review failed");
      expect(other.landfall.log).toContain("tokenreviews");
    } finally {
      await other.landfall.stop();
      await rig.allow(RIGHTS);
    }
  });

  test("ends with 1 when its port is taken, which passes, and with 2 without its certificate", async () => {
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
      "--debug-address=",
    ];
    const taken = await runLandfall(PROGRAM, base);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toContain(`--secure-port: Cannot listen at 127.0.0.1:${port}`);
    const files = ["--tls-cert-file=/no/tls.crt", "--tls-private-key-file=/no/tls.key"];
    const missing = await runLandfall(PROGRAM, [...base, ...files]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("--tls-cert-file: /no/tls.crt: there is no such file");
    expect(missing.stderr).toContain("--tls-private-key-file: /no/tls.key: there is no such file");
  });
});

async function start(
  rig: ClusterRig,
  args: readonly string[],
): Promise<[controller: Controller, port: number]> {
  const port = await findFreePort();
  const all = ["--bind-address=127.0.0.1", `--secure-port=${port}`, ...args];
  return [await rig.startController(PROGRAM, { args: all }), port];
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
  await rig.cluster.patch(`${RBAC}/clusterroles/${ROLE}`, {
    rules: [{ nonResourceURLs: paths, verbs: ["get"] }],
  });
}
