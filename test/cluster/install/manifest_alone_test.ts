/**
 * The manifests of a controller that is installed by itself, on a real API server: they are accepted, and the service
 * account that they make has the rights that the controller needs.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renderStandaloneFiles } from "../../../deploy/standalone.ts";
import type { Lease } from "../../../lib/kube/kinds/lease.ts";
import { type Manifest, readManifests } from "../../support/deploy/deploy_tools.ts";
import { GALLERIES } from "../../support/galleries/gallery.ts";
import { TWIN_LEASE, TWIN_NAME, twinController } from "../../support/galleries/definition.ts";
import { PROGRAM } from "../../support/galleries/scenario.ts";
import { CRDS_PATH, toCrd } from "../../support/kube/crd.ts";
import { isOfApiServer } from "../../support/kube/election/lease_history.ts";
import { listModelProblems } from "../../support/kube/kube_model.ts";
import { until } from "../../support/nodes/rig.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import { startLandfall } from "../../support/process/landfall_process.ts";

const PATHS: Readonly<Record<string, string>> = {
  ServiceAccount: "/api/v1/namespaces/kube-system/serviceaccounts",
  Service: "/api/v1/namespaces/kube-system/services",
  Deployment: "/apis/apps/v1/namespaces/kube-system/deployments",
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
};
const ACCOUNT = { namespace: "kube-system", name: `landfall-${TWIN_NAME}` } as const;
const GALLERY_PATH = "/apis/example.org/v1/namespaces/default/galleries";
const FOUND_MS = 20_000;

describe.skipIf(skipsCluster())("manifests of one controller", () => {
  let cluster: Cluster;
  let objects: readonly Manifest[];
  beforeAll(async () => {
    cluster = await startCluster();
    const [[, deployment] = ["", ""]] = renderStandaloneFiles(twinController);
    objects = readManifests(deployment);
  }, 120_000);
  afterAll(() => cluster?.stop());

  test("are accepted, and have no field that a current API server would not know", async () => {
    expect(objects.flatMap(listModelProblems)).toEqual([]);
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(PATHS).toSorted());
    for (const object of objects) await cluster.create(PATHS[object.kind] ?? "", object);
  });

  test("give their service account what the controller needs, without any Lease but its own", async () => {
    await cluster.create(CRDS_PATH, toCrd(GALLERIES));
    const token = await cluster.createServiceAccountToken(ACCOUNT, 3_600);
    const { template } = Object(objects.find(({ kind }) => kind === "Deployment")?.spec);
    const args: string[] = template.spec.containers[0].args;
    const landfall = startLandfall(PROGRAM, [
      ...args.filter((arg) => !/^--(secure-port|debug-address)=/.test(arg)),
      `--kubeconfig=${await cluster.writeTokenKubeconfig(token)}`,
      "--secure-port=0",
      "--debug-address=",
      "--logging-format=json",
    ]);
    await landfall.waitForRecord(({ message }) => message === "Became leader");
    await until(
      "the kind is served",
      async () => (await cluster.adminFetch(GALLERY_PATH)).ok,
      FOUND_MS,
    );
    const metadata = { name: "a", namespace: "default" };
    await cluster.create(GALLERY_PATH, { apiVersion: "example.org/v1", kind: "Gallery", metadata });
    const catalogue = "/api/v1/namespaces/default/configmaps/a-catalogue";
    const isThere = async (): Promise<boolean> => (await cluster.adminFetch(catalogue)).ok;
    await until("it is catalogued", isThere, FOUND_MS);
    expect((await landfall.stop()).code).toBe(0);
    expect(landfall.log).not.toMatch(/forbidden/i);
    const items = await cluster.list<Lease>(
      "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
    );
    const others = items.filter((lease) => !isOfApiServer(lease));
    expect(others.map(({ metadata: { name }, spec }) => [name, spec?.holderIdentity])).toEqual([
      [TWIN_LEASE, ""],
    ]);
  }, 60_000);
});
