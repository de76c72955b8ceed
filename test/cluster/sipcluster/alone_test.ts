/**
 * The manifests of deploy/manifests/sipcluster on a real API server: a process with their service account and their
 * arguments, without a cloud, its flags or credentials of one, first without the kinds, then with them.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckReport } from "../../../lib/cli/check/report.ts";
import type { ProcessView } from "../../../lib/http/views.ts";
import type { Lease } from "../../../lib/kube/kinds/lease.ts";
import { type Manifest, readManifests } from "../../support/deploy/deploy_tools.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { isOfApiServer } from "../../support/kube/election/lease_history.ts";
import { until } from "../../support/nodes/rig.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import {
  type LandfallProcess,
  PROGRAM,
  startLandfall,
} from "../../support/process/landfall_process.ts";
import { findFreePort } from "../../support/process/server_process.ts";
import { readBareMetalHostCrd } from "../../support/metal3/bare_metal_host_crd.ts";
import { ROOT } from "../../support/sources.ts";

const ACCOUNT = { namespace: "kube-system", name: "landfall-sipcluster" } as const;
const FOLDER = join(ROOT, "deploy/manifests/sipcluster");
const RBAC_PATH = "/apis/rbac.authorization.k8s.io/v1";
const IN_NAMESPACE = `namespaces/${ACCOUNT.namespace}`;
const PATHS: Readonly<Record<string, string>> = {
  ServiceAccount: `/api/v1/${IN_NAMESPACE}/serviceaccounts`,
  Service: `/api/v1/${IN_NAMESPACE}/services`,
  Deployment: `/apis/apps/v1/${IN_NAMESPACE}/deployments`,
  ClusterRole: `${RBAC_PATH}/clusterroles`,
  ClusterRoleBinding: `${RBAC_PATH}/clusterrolebindings`,
  Role: `${RBAC_PATH}/${IN_NAMESPACE}/roles`,
  RoleBinding: `${RBAC_PATH}/${IN_NAMESPACE}/rolebindings`,
};
/** A kind that is missing is looked for every few seconds at first. */
const FOUND_MS = 30_000;

describe.skipIf(skipsCluster())(`sipcluster alone (${PROGRAM.name})`, () => {
  let cluster: Cluster;
  let landfall: LandfallProcess;
  let kubeconfig: string;
  let url: string;

  beforeAll(async () => {
    cluster = await startCluster();
    const deployment = await install();
    const { template } = Object(deployment?.spec);
    const args: string[] = template.spec.containers[0].args;
    kubeconfig = await cluster.writeTokenKubeconfig(
      await cluster.createServiceAccountToken(ACCOUNT, 3_600),
    );
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    landfall = startLandfall(PROGRAM, [
      ...args.filter((arg) => !/^--(secure-port|debug-address)=/.test(arg)),
      `--kubeconfig=${kubeconfig}`,
      `--debug-address=127.0.0.1:${port}`,
      "--secure-port=0",
      "--logging-format=json",
    ]);
    await landfall.waitForRecord(({ message }) => message === "Became leader");
  }, 120_000);
  afterAll(async () => {
    await landfall?.stop();
    await cluster?.stop();
  });

  /** Applies the manifest. Returns its Deployment. */
  async function install(): Promise<Manifest | undefined> {
    const text = await readFile(join(FOLDER, "deployment.yaml"), "utf8");
    const objects = readManifests(text);
    for (const object of objects) await cluster.create(PATHS[object.kind] ?? "", object);
    return objects.find(({ kind }) => kind === "Deployment");
  }

  const read = async (path: string): Promise<string> => await (await fetch(url + path)).text();
  const listKinds = async (): Promise<ProcessView["kinds"]> =>
    (JSON.parse(await read("/debug/process")) as ProcessView).kinds;
  const check = async (): Promise<CheckReport> => {
    const flags = ["--controllers=sipcluster", `--kubeconfig=${kubeconfig}`, "--output=json"];
    const { stdout } = await startLandfall(PROGRAM, ["check", ...flags]).ended;
    return JSON.parse(stdout);
  };

  test("is ready while its kinds are missing, and says which it waits for", async () => {
    const missing = ["sipclusters.airship.airshipit.org/v1", "baremetalhosts.metal3.io/v1alpha1"];
    const listMissing = async (): Promise<string[]> =>
      (await listKinds()).filter(({ state }) => state === "missing").map(({ kind }) => kind);
    await until("both are missed", async () => (await listMissing()).length === 2, FOUND_MS);
    expect(await listMissing()).toEqual(missing);
    let ready = "";
    const isReady = async (): Promise<boolean> => {
      ready = await read("/readyz?verbose");
      return ready.endsWith("readyz check passed\n");
    };
    // The kinds that are there are listed first.
    await until("it is ready", isReady, FOUND_MS);
    for (const kind of missing) {
      expect(ready).toContain(`ok: waiting for CustomResourceDefinition ${kind}\n`);
    }
    const { kubernetes } = await check();
    expect(kubernetes.findings.filter(({ code }) => code === "missingKind")).toHaveLength(2);
    const logged = landfall.log.split("\n").filter((line) => line.includes('"crd":'));
    expect(logged).toHaveLength(2);
  }, 60_000);

  test("finds its kinds once they are installed, with the rights of its manifest", async () => {
    const crd = await readFile(join(FOLDER, "crd.yaml"), "utf8");
    for (const one of [...readManifests(crd), await readBareMetalHostCrd()]) {
      await cluster.create(CRDS_PATH, one);
    }
    const isSynced = async (): Promise<boolean> =>
      (await listKinds()).every(({ state }) => state === "synced");
    await until("all kinds are read", isSynced, FOUND_MS);
    expect(await read("/readyz?verbose")).not.toContain("waiting");
    const report = await check();
    expect(report.permissions.findings).toMatchObject([
      { code: "noTenants" },
      { code: "lease", message: expect.stringContaining("/landfall-sipcluster: held by ") },
    ]);
    expect(report.permissions.permissions.filter(({ level }) => level !== "ok")).toEqual([]);
    expect(report.kubernetes.findings.filter(({ level }) => level !== "ok")).toEqual([]);
    expect([report.settings.status, report.cloud.status]).toEqual(["ok", "skipped"]);
  }, 60_000);

  test("holds the Lease of its kind and no other, and asks for no Node", async () => {
    expect((await landfall.stop()).code).toBe(0);
    expect(landfall.log).not.toMatch(/forbidden/i);
    const path = `/apis/coordination.k8s.io/v1/${IN_NAMESPACE}/leases`;
    const items = await cluster.list<Lease>(path);
    const others = items.filter((lease) => !isOfApiServer(lease));
    expect(others.map(({ metadata: { name }, spec }) => [name, spec?.holderIdentity])).toEqual([
      ["landfall-sipcluster", ""],
    ]);
    const asked = (await cluster.listRequests()).map(({ resource }) => resource);
    expect(asked).toContain("sipclusters");
    expect(asked.filter((resource) => resource.startsWith("nodes"))).toEqual([]);
  });
});
