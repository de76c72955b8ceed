import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { AuthSecrets } from "../../../../../lib/controllers/sipcluster/services/auth/secrets.ts";
import { DEX_GROUP } from "../../../../../lib/controllers/sipcluster/services/auth/words.ts";
import type { Auth } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { createProviderPems } from "../../../../support/sipcluster/auth_facts.ts";
import { NAMESPACE, startApplier } from "../../../../support/sipcluster/applier_rig.ts";

const ENTRY: Auth = { nodePort: 1, configSecret: "config", tlsSecret: "tls", caSecret: "ca" };
const PEMS = await createProviderPems("DNS:dex.example.com");
const { ca: CA, crt: CRT, key: KEY } = PEMS;
const DAMAGED = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const DEX_KIND = {
  apiVersion: `${DEX_GROUP}/v1`,
  kind: "SigningKey",
  plural: "signingkeies",
  namespaced: true,
};

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

async function startReader() {
  const rig = await startApplier();
  const reader = new AuthSecrets(rig.client, rig.clock);
  const create = (name: string, texts: Readonly<Record<string, string>>): void => {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, encode(text)]),
    );
    rig.kubernetes.objects.create("secrets", { metadata: { name, namespace: NAMESPACE }, data });
  };
  const read = (entries: readonly Auth[] = [ENTRY]) =>
    reader.read(rig.cluster, entries, rig.signal);
  return { ...rig, reader, create, read, [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose]() };
}

test("AuthSecrets asks nothing for a cluster without a provider, or with one of the old form", async () => {
  await using rig = await startReader();
  rig.takeRequests();
  const facts = await rig.read([{ nodePort: 1, caSecret: "ca" }]);
  expect([facts.againMs, facts.secrets.size, rig.takeRequests()]).toEqual([Infinity, 0, []]);
});

test("AuthSecrets keeps keys of Secrets and certificates, but no content", async () => {
  await using rig = await startReader();
  rig.kubernetes.installKind(DEX_KIND);
  rig.create("config", { "config.yaml": "clientSecret: hush" });
  rig.create("tls", { "tls.crt": CRT, "tls.key": KEY });
  rig.create("ca", { "tls.crt": `${CA}${KEY}${CA}`, "tls.key": KEY });
  const { secrets, hasDexKinds, againMs } = await rig.read();
  expect([hasDexKinds, againMs]).toEqual([true, 600_000]);
  const version = expect.stringMatching(/^[0-9a-f]{64}$/);
  const [keys, certificate] = [["tls.crt", "tls.key"], expect.any(X509Certificate)];
  expect(Object.fromEntries(secrets)).toEqual({
    config: { version, keys: ["config.yaml"], isPair: false },
    tls: { version, keys, certificate, isPair: true },
    ca: { version, keys, certificate, isPair: false, ca: CA + CA },
  });
});

test("AuthSecrets has another version if what Dex reads differs, and not for a label", async () => {
  await using rig = await startReader();
  const { objects } = rig.kubernetes;
  const path = { namespace: NAMESPACE, name: "tls" };
  rig.create("tls", { "tls.crt": CRT, "tls.key": KEY });
  const read = async (): Promise<string | undefined> => {
    rig.reader.forget(`${NAMESPACE}/a`);
    return (await rig.read()).secrets.get("tls")?.version;
  };
  const before = await read();
  objects.patch("secrets", path, { metadata: { labels: { a: "b" } }, data: { other: "" } });
  expect(await read()).toBe(before);
  objects.patch("secrets", path, { data: { "tls.crt": encode(CA) } });
  expect(await read()).not.toBe(before);
});

test.each<[what: string, texts: Record<string, string>, hasCertificate: boolean, damaged?: string]>(
  [
    ["another certificate", { "tls.crt": CA, "tls.key": KEY }, true, ""],
    ["no key", { "tls.crt": CRT, "tls.key": "" }, true, ""],
    ["nothing", { "tls.crt": "", "tls.key": "" }, false, ""],
    ["damage", { "tls.crt": DAMAGED, "tls.key": KEY }, false, ""],
    ["a damaged CA", { "ca.crt": CA + DAMAGED }, false, "certificate 2 of 2"],
  ],
)(
  "AuthSecrets sees %s in the Secret of a provider",
  async (_what, texts, hasCertificate, damaged) => {
    await using rig = await startReader();
    rig.create("tls", texts);
    const { certificate, isPair, damagedCa = "" } = (await rig.read()).secrets.get("tls") ?? {};
    expect([certificate !== undefined, isPair, damagedCa]).toEqual([
      hasCertificate,
      false,
      damaged,
    ]);
  },
);

test("AuthSecrets asks again after a minute if something is missing, else after ten", async () => {
  await using rig = await startReader();
  rig.create("config", { "config.yaml": "x" });
  expect(await rig.read()).toMatchObject({ hasDexKinds: false, againMs: 60_000 });
  rig.takeRequests();
  await rig.clock.advance(59_000);
  expect((await rig.read()).againMs).toBe(1_000);
  expect(rig.takeRequests()).toEqual([]);
  rig.create("tls", {});
  rig.create("ca", {});
  rig.kubernetes.installKind(DEX_KIND);
  await rig.clock.advance(1_000);
  const facts = await rig.read();
  expect([facts.againMs, facts.hasDexKinds, facts.secrets.size]).toEqual([600_000, true, 3]);
});

test("AuthSecrets asks at once for other names, and after the cluster was forgotten", async () => {
  await using rig = await startReader();
  await rig.read();
  rig.takeRequests();
  await rig.read([{ ...ENTRY, tlsSecret: "other" }]);
  expect(rig.takeRequests()).toContain("get secrets/other");
  rig.reader.forget(`${NAMESPACE}/a`);
  await rig.read([{ ...ENTRY, tlsSecret: "other" }]);
  expect(rig.takeRequests()).toContain("get secrets/other");
});

test("AuthSecrets takes only a 404 for a Secret that does not exist", async () => {
  await using rig = await startReader();
  rig.kubernetes.faults.refuse({ verb: "get", resource: "secrets", status: 403 });
  await expect(rig.read()).rejects.toThrow("403");
});
