/**
 * A tenant's API server that trusts the OIDC provider of a SIPCluster by what the ConfigMap says. The provider is a
 * double, with the configuration of the guide.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { planAuth } from "../../../lib/controllers/sipcluster/services/auth/providers.ts";
import { CA_FILE } from "../../../lib/controllers/sipcluster/services/auth/words.ts";
import dex from "../../fixtures/judged/dex.json";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import { createAuthority, createCertificate } from "../../support/net/certificates.ts";
import { until } from "../../support/nodes/rig.ts";
import { kubeAssets, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import { findFreePort } from "../../support/process/server_process.ts";
import { toAuthFacts } from "../../support/sipcluster/auth_facts.ts";
import { DexDouble, logIn } from "../../support/sipcluster/dex.ts";
import { readSource } from "../../support/sources.ts";

const GUIDE = await readSource("docs/guides/sipclusters/guide.md");
const CONFIG = listCodeBlocks(GUIDE, "yaml").find((text) => text.includes("staticClients")) ?? "";
const TIMEOUT_MS = 120_000;
const GROUP = "admins";
const EMAIL = dex.login.email;
const SECRETS = "/api/v1/namespaces/default/secrets";
const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";

/** The ConfigMap that Landfall makes for a tenant. */
function planOidc(issuerURL: string, crt: string, ca: string): Readonly<Record<string, string>> {
  const entry = { nodePort: 0, issuerURL, configSecret: "c", tlsSecret: "t" };
  const metadata = { name: "a", namespace: "tenant" };
  const cluster = { metadata, spec: { services: { auth: [entry] } } };
  const facts = toAuthFacts(crt, { config: "c", tls: "t", ca });
  const [plan] = planAuth({ cluster, machines: [], tolerations: [], facts, store: undefined });
  const map = plan?.objects.find(({ body }) => body.kind === "ConfigMap")?.body;
  return Object(map).data;
}

/** Whether an API server reads a file with the configuration, in the version that stays. */
function takesFile(): boolean {
  const said = Bun.spawnSync([join(kubeAssets ?? "", "kube-apiserver"), "--version"]);
  const [, minor] = /v1\.(\d+)/.exec(said.stdout.toString()) ?? [];
  return Number(minor) >= 34;
}

const WAYS = [
  ["flags", false],
  ["file", true],
] as const;

describe.skipIf(skipsCluster())("an API server that trusts an OIDC provider", () => {
  test.each(WAYS.filter(([, isFile]) => !isFile || takesFile()))(
    "by the %s of the ConfigMap lets a person in by group, and no one into groups of Kubernetes",
    async (_way, isFile) => {
      const folder = await mkdtemp(join(tmpdir(), "landfall-oidc-"));
      await using cleanup = new AsyncDisposableStack();
      cleanup.defer(() => rm(folder, { recursive: true, force: true }));
      const authority = await createAuthority(folder, "oidc-ca");
      const subject = "/CN=dex";
      const extensions = ["subjectAltName=IP:127.0.0.1"];
      const own = { folder, name: "dex", subject, extensions };
      const certificate = await createCertificate(authority, own);
      const ca = await readFile(authority.certPath, "utf8");
      const issuer = `https://127.0.0.1:${await findFreePort()}`;
      const config = CONFIG.replace(/^issuer: .*$/m, `issuer: ${issuer}`);
      const data = planOidc(issuer, await readFile(certificate.certPath, "utf8"), ca);
      const provider = await DexDouble.start(config, certificate, {
        email: EMAIL,
        groups: [GROUP],
      });
      cleanup.use(provider);

      const file = join(folder, "authentication.json");
      await writeFile(file, data["authentication-configuration"] ?? "");
      const given = (data["kube-apiserver-flags"] ?? "").trim().split("\n");
      const flags = given.map((flag) => flag.replace(CA_FILE, authority.certPath));
      const cluster = await startCluster({
        flags: isFile ? [`--authentication-config=${file}`] : flags,
      });
      cleanup.defer(() => cluster.stop());
      const role = {
        metadata: { name: "read" },
        rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["list"] }],
      };
      await cluster.create(`${RBAC}/roles`, role);
      await cluster.create(`${RBAC}/rolebindings`, {
        metadata: { name: "read" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "read" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: `oidc:${GROUP}` }],
      });

      const [redirectURI = ""] = parse(CONFIG).staticClients[0].redirectURIs;
      const clientID = data["client-id"] ?? "";
      const serverCa = await readFile(cluster.caPath, "utf8");
      const ask = async (): Promise<{ readonly status: number; readonly text: string }> => {
        const token = await logIn(issuer, { ca, clientID, redirectURI });
        const headers = { authorization: `Bearer ${token}` };
        const answer = await fetch(`${cluster.url}${SECRETS}`, { headers, tls: { ca: serverCa } });
        return { status: answer.status, text: await answer.text() };
      };
      // The API server asks the provider for its keys some time after its start.
      await until(
        "the API server knows its keys",
        async () => (await ask()).status === 200,
        30_000,
      );
      provider.person = { email: EMAIL, groups: ["others", "system:masters"] };
      const { status, text } = await ask();
      expect(status).toBe(403);
      expect(text).toContain(`User \\"${dex.login.kubernetesSays}\\" cannot list resource`);
    },
    TIMEOUT_MS,
  );
});
