/**
 * The store of Dex on a simulated API server: who may run in a namespace, and when.
 * @module
 */
import { expect, test } from "bun:test";
import type { Auth } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  DEX_GROUP,
  DEX_KINDS,
} from "../../../../../lib/controllers/sipcluster/services/auth/words.ts";
import { toSecretData } from "../../../../../lib/kube/kinds/secret.ts";
import { until } from "../../../../support/nodes/rig.ts";
import { createProviderPems } from "../../../../support/sipcluster/auth_facts.ts";
import { SipStage, TENANT } from "../../../../support/sipcluster/stage.ts";

const PEMS = await createProviderPems("DNS:dex.example.com");
const READY = "True ReconciliationSucceeded";
const FAILED = "False InfraServiceFailure";

function toAuth(nodePort: number): Auth {
  const issuerURL = `https://dex.example.com:${nodePort}`;
  return { nodePort, issuerURL, configSecret: "dex-config", tlsSecret: "dex-tls" };
}

/** A namespace with what providers need, in which Dex can keep its state. */
async function startStage(kinds = Object.entries(DEX_KINDS)): Promise<SipStage> {
  const stage = await startStageWithoutKinds();
  for (const [plural, kind] of kinds)
    stage.kubernetes.installKind({ apiVersion: `${DEX_GROUP}/v1`, kind, plural, namespaced: true });
  return stage;
}

async function startStageWithoutKinds(): Promise<SipStage> {
  const stage = await SipStage.start([]);
  const { objects } = stage.kubernetes;
  const create = (name: string, texts: Readonly<Record<string, string>>): void => {
    objects.create("secrets", { metadata: { namespace: TENANT, name }, data: toSecretData(texts) });
  };
  create("dex-config", { "config.yaml": "issuer: x" });
  create("dex-tls", { "tls.crt": PEMS.crt, "tls.key": PEMS.key });
  return stage;
}

function listDeployments(stage: SipStage): readonly string[] {
  return stage.listOwned("deployments").map(({ metadata }) => metadata.name);
}

test("of two SIPClusters in a namespace only one gets a provider, and the other says which has it", async () => {
  await using stage = await startStage();
  stage.create("b", { services: { auth: [toAuth(30_001)] } });
  await stage.untilCondition("b", "Ready", READY);
  stage.create("a", { services: { auth: [toAuth(30_002)] } });
  const says = await stage.untilCondition("a", "ServicesReady", FAILED);
  expect(says).toContain(
    "one store in each namespace, and here it belongs to dex-b of SIPCluster b",
  );
  await stage.untilQuiet();
  expect(listDeployments(stage)).toEqual(["dex-b"]);
  expect(stage.listOwned("serviceaccounts").map(({ metadata }) => metadata.name)).toEqual([
    "landfall-dex-b",
  ]);
});

test("where the kinds of Dex are missing, the status says how to apply them", async () => {
  await using stage = await startStageWithoutKinds();
  stage.create("a", { services: { auth: [toAuth(30_001)] } });
  expect(await stage.untilCondition("a", "ServicesReady", FAILED)).toContain(
    "the API server does not know the kinds of dex.coreos.com. Apply dex_crds.yaml",
  );
  expect(listDeployments(stage)).toEqual([]);
});

test("a provider runs with the kinds of an older Dex, which has fewer", async () => {
  await using stage = await startStage(Object.entries(DEX_KINDS).slice(0, -2));
  stage.create("a", { services: { auth: [toAuth(30_001)] } });
  await stage.untilCondition("a", "Ready", READY);
  expect(listDeployments(stage)).toEqual(["dex-a"]);
});

test("of two entries of a SIPCluster only the first gets a provider", async () => {
  await using stage = await startStage();
  stage.create("a", { services: { auth: [toAuth(30_001), toAuth(30_002)] } });
  const says = await stage.untilCondition("a", "ServicesReady", FAILED);
  expect(says).toContain("auth[1]: Dex has one store in each namespace");
  await stage.untilQuiet();
  expect(listDeployments(stage)).toEqual(["dex-a"]);
});

test("a second provider that an earlier version made ends, and the first one goes on", async () => {
  await using stage = await startStage();
  const { objects } = stage.kubernetes;
  stage.create("b", { services: { auth: [toAuth(30_001)] } });
  await stage.untilCondition("b", "Ready", READY);
  stage.create("a", { services: {} });
  await stage.untilCondition("a", "Ready", READY);
  const { uid = "" } = stage.read("a")?.metadata ?? {};
  const labels = {
    "app.kubernetes.io/component": "dex",
    "app.kubernetes.io/part-of": "sip",
    "landfall.dev/sip-cluster": "a",
  };
  const owner = { apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster", name: "a", uid };
  const metadata = { namespace: TENANT, name: "dex-a", labels };
  const { spec } = Object(objects.get("deployments", { namespace: TENANT, name: "dex-b" }));
  await stage.clock.sleep(1_000, AbortSignal.timeout(10_000));
  objects.create("deployments", {
    metadata: { ...metadata, ownerReferences: [{ ...owner, controller: true }] },
    spec,
  });
  stage.change("a", { services: { auth: [toAuth(30_002)] } });
  await until("it is gone", () => listDeployments(stage).join() === "dex-b");
  await stage.untilCondition("a", "ServicesReady", FAILED);
  await stage.untilCondition("b", "Ready", READY);
});

test("a provider starts only when what another Dex left is gone, and then comes back without a question", async () => {
  await using stage = await startStage();
  const { objects } = stage.kubernetes;
  const token = { namespace: TENANT, name: "t" };
  objects.create("refreshtokens", { metadata: token });
  objects.create("signingkeies", { metadata: token });
  stage.create("a", { services: { auth: [toAuth(30_001)] } });
  const says = await stage.untilCondition("a", "ServicesReady", FAILED);
  expect(says).toContain(`kubectl -n ${TENANT} delete refreshtokens.dex.coreos.com --all`);
  expect(listDeployments(stage)).toEqual([]);
  objects.delete("refreshtokens", token);
  stage.change("a", { services: { auth: [toAuth(30_002)] } });
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  objects.create("refreshtokens", { metadata: token });
  objects.delete("deployments", { namespace: TENANT, name: "dex-a" });
  await until("it is there again", () => listDeployments(stage).join() === "dex-a");
});

test("a missing right to the store is a problem of the provider alone", async () => {
  await using stage = await startStage();
  stage.kubernetes.faults.deny({ verb: "list", resource: "refreshtokens" });
  stage.create("a", { services: { auth: [toAuth(30_001)] } });
  const says = await stage.untilCondition("a", "ServicesReady", FAILED);
  expect(says).toContain("auth: Landfall must know whether another Dex left logins: ");
});
