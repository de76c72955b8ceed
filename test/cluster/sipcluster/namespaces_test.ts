/**
 * SIPClusters with the rights and the admission policy of the default installation, on a real API server: in the
 * namespaces that the administrator named everything works; elsewhere the SIPCluster says which right is missing, and
 * stops no other one.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { DEPLOYMENTS } from "../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { Account } from "../../support/process/account.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { METAL, SipClusterRig, USERNAME } from "../../support/sipcluster/sip_cluster_rig.ts";
import { ROOT } from "../../support/sources.ts";

const kubectl = skipsCluster() ? undefined : await findKubectl();
const TIMEOUT_MS = 60_000;
const FORBIDDEN = 403;

describe.skipIf(kubectl === undefined)("SIPClusters in some namespaces", () => {
  let rig: SipClusterRig;
  let account: Account;
  beforeAll(async () => {
    const admissionPlugins = ["OwnerReferencesPermissionEnforcement"];
    rig = await SipClusterRig.start(kubectl ?? "", { admissionPlugins });
    await rig.allow([]);
    const { cluster } = rig;
    account = await Account.install({ cluster, kubectl: kubectl ?? "", controller: "sipcluster" });
    await rig.installKinds();
    await rig.run("apply", "-f", join(ROOT, "deploy/manifests/sipcluster/dex_crds.yaml"));
    await rig.addHosts([{ name: "r1", flavors: { "control-plane": 4, worker: 4 } }]);
    await rig.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "named" } });
    await account.bind("named", "tenant");
    await account.bind(METAL, "hosts");
    await rig.startController();
  }, 120_000);
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test(
    "where nothing is bound, the condition names the right, and other SIPClusters go on",
    async () => {
      await rig.applyWhole("unnamed");
      const said = await rig.untilCondition("unnamed", "ServicesReady", "False Forbidden");
      expect(said).toMatch(/cannot \w+ resource .* in the namespace "unnamed"/);
      expect(said).toContain("To let Landfall work in namespace unnamed, bind its ClusterRole");
      await rig.applyWhole("named");
      const path = "/apis/apps/v1/namespaces/named/deployments/dex-named";
      await rig.untilTrue("the last service", async () => (await rig.cluster.adminFetch(path)).ok);
      const requests = await rig.cluster.listRequests();
      const refused = requests.filter(({ username, code, namespace }) => {
        return username === USERNAME && code === FORBIDDEN && namespace !== "unnamed";
      });
      expect(refused).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test("the Pods meet the Pod Security Standard that the guide asks for", async () => {
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await rig.cluster.patch("/api/v1/namespaces/named", { metadata: { labels } });
    const made = await rig.list(DEPLOYMENTS, "named");
    expect(made.length).toBeGreaterThan(2);
    for (const { metadata, spec } of made) {
      const pod = { metadata: { name: metadata.name }, spec: spec?.template.spec };
      await rig.cluster.create("/api/v1/namespaces/named/pods?dryRun=All", pod);
    }
  });

  test(
    "a binding that comes later is enough, without a restart",
    async () => {
      await account.bind("unnamed", "tenant");
      const path = "/apis/apps/v1/namespaces/unnamed/deployments/dex-unnamed";
      await rig.untilTrue("the services", async () => (await rig.cluster.adminFetch(path)).ok);
      for (const name of ["named", "unnamed"]) {
        await rig.run("delete", "sip", name, "-n", name, "--wait=false");
        await rig.untilTrue("the last deletion", async () => {
          const requests = await rig.cluster.listRequests();
          return requests.some(({ verb, resource, namespace, code }) => {
            return verb === "delete" && resource === "secrets" && namespace === name && code < 300;
          });
        });
      }
    },
    TIMEOUT_MS * 2,
  );
});
