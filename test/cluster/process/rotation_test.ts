/**
 * Secrets, certificates and settings that change under a controller at work, while Nodes are created all the time. The
 * API server and the program are real; Xen Orchestra is simulated, behind TLS.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { skipsCluster } from "../../support/process/cluster.ts";
import { ClusterRig, type Controller, waitUntil } from "../../support/process/cluster_rig.ts";
import { Load } from "../../support/process/load.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { SecretMount } from "../../support/process/secret_mount.ts";
import { createShortCertificate } from "../../support/net/certificates.ts";
import { startTlsFront, type TlsFront } from "../../support/net/tls_front.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";
import { toKubeconfig } from "../../support/process/kubeconfig.ts";

const isSkipped = skipsCluster();
const ACCOUNT = { namespace: "kube-system", name: "landfall" } as const;
const ZONE = "topology.kubernetes.io/zone";
/** How long a certificate is good that ends meanwhile: long enough for a process to begin with it. */
const SHORT_MS = 20_000;

describe.skipIf(isSkipped)(`rotation under load, the controller as ${PROGRAM.name}`, () => {
  let rig: ClusterRig;
  let front: TlsFront;
  /** Everything that the controller is given in files. */
  let mount: SecretMount;
  let controller: Controller | undefined;
  let load: Load | undefined;
  const secrets = new Set<string>();

  beforeEach(async () => {
    rig = await ClusterRig.start();
    front = await startTlsFront(Number(new URL(rig.cloud.url).port));
    mount = new SecretMount({ "ca.crt": readTls("ca.crt"), "xo-token": addToken("canary-xo-1") });
    configure([]);
  }, 120_000);
  afterEach(async () => {
    await load?.stop();
    load = undefined;
    const ended = await controller?.landfall.stop();
    controller = undefined;
    await front.stop();
    await rig.stop();
    mount[Symbol.dispose]();
    for (const secret of secrets) expect(ended?.stderr ?? "").not.toContain(secret);
    secrets.clear();
  });

  /** A token of Xen Orchestra, as secret as any. */
  const addToken = (id: string): string => {
    const [user] = [...rig.cloud.auth.tokens.values()].map(({ user_id }) => user_id);
    rig.cloud.auth.addToken(id, { id: user ?? "", username: "", password: "" }, 90 * 86_400_000);
    secrets.add(id);
    return id;
  };
  const configure = (lines: readonly string[]): void => {
    const base = [
      `url: ${front.url}`,
      `tokenFile: ${mount.path("xo-token")}`,
      `caFile: ${mount.path("ca.crt")}`,
      "refreshInterval: 1s",
    ];
    mount.update({ "config.yaml": [...base, ...lines, ""].join("\n") });
  };
  const start = async (user: object): Promise<void> => {
    const { url: server, caPath } = rig.cluster;
    mount.update({ kubeconfig: toKubeconfig(server, { user, caPath }) });
    controller = await rig.startController(PROGRAM, {
      args: [
        `--kubeconfig=${mount.path("kubeconfig")}`,
        `--cloud-config=${mount.path("config.yaml")}`,
      ],
    });
    load = new Load(rig, (name) => void rig.addVm(name));
  };
  /** A Node that registers now and is served shows that everything works. */
  const expectService = async (name: string): Promise<void> => {
    rig.addVm(name);
    await rig.register(name);
    await rig.waitForNode(name);
  };

  test("service account, token and authority of Xen Orchestra, settings: not one reconcile fails", async () => {
    mount.update({ token: rig.token });
    secrets.add(rig.token);
    await start({ tokenFile: "token" });
    await expectService("at-first");

    // A token whose account is gone is refused once the API server has forgotten that it was good.
    const old = rig.token;
    await rig.revokeTokens();
    await rig.renewToken();
    mount.update({ token: rig.token });
    secrets.add(rig.token);
    await untilRefused(old);
    await expectService("after-account-token");

    mount.update({ "xo-token": addToken("canary-xo-2") });
    await expectService("before-revocation");
    rig.cloud.auth.revoke("canary-xo-1");
    await expectService("after-cloud-token");

    mount.update({ "ca.crt": readTls("other_ca.crt") });
    front.show("other_server");
    await expectService("after-authority");

    configure(["zoneLabelFrom: pool"]);
    await rig.waitForNode("at-first", ({ metadata }) => metadata.labels?.[ZONE] === rig.poolId);
    configure(["zoneLabelFrom: canary-value", "deletion: { enable: false }"]);
    const refused = await waitUntil("the Event about the refused file", async () =>
      (await rig.listOwnEvents()).find(({ reason }) => reason === "ConfigRefused"),
    );
    expect(refused.type).toBe("Warning");
    expect(refused.message).toContain(`${mount.path("config.yaml")}:5:1: zoneLabelFrom: must be`);
    expect(refused.message).toContain(":6:13: deletion.enable: unknown key; did you mean enabled?");
    expect(refused.message).not.toContain("canary");
    secrets.add("canary-value");
    await expectService("after-refusal");
    const { metadata } = await rig.readNode("after-refusal");
    expect(metadata.labels?.[ZONE]).toBe(rig.poolId);
    const reasons = (await rig.listOwnEvents()).map(({ reason }) => reason).sort();
    expect(reasons).toEqual(["ConfigApplied", "ConfigRefused"]);
    await load?.expectNoFailure(controller);
  }, 240_000);

  test("a client certificate that ends is followed by the next one: not one reconcile fails", async () => {
    const authority = {
      certPath: rig.cluster.caPath,
      keyPath: join(rig.cluster.folder, "landfall-test-ca.key"),
    };
    // The user that the rig's rules are bound to, by its certificate instead of a token.
    const subject = `/CN=system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;
    const first = await createShortCertificate(authority, subject, SHORT_MS);
    const endsAt = Date.now() + SHORT_MS;
    mount.update({ "tls.crt": first.cert, "tls.key": first.key });
    await start({ "client-certificate": "tls.crt", "client-key": "tls.key" });
    await expectService("at-first");
    const second = await createShortCertificate(authority, subject, 600_000);
    mount.update({ "tls.crt": second.cert, "tls.key": second.key });
    await Bun.sleep(Math.max(0, endsAt + 1_000 - Date.now()));
    await untilRefused(undefined, { cert: first.cert, key: first.key });
    await expectService("after-the-end");
    await load?.expectNoFailure(controller);
  }, 180_000);

  /** The API server remembers for some seconds that a token was good. */
  const untilRefused = (token: string | undefined, pair: object = {}): Promise<true> =>
    waitUntil("the API server to refuse the old credentials", async () => {
      const tls = { ca: Bun.file(rig.cluster.caPath), ...pair };
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const url = `${rig.cluster.url}/api/v1/nodes?limit=1`;
      const response = await fetch(url, { headers, tls, keepalive: false });
      return response.status === 401 ? true : undefined;
    });
});
