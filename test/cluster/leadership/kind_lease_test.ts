/**
 * A controller with a Lease of its own in two processes, on a real API server, with the rights that the registry asks
 * for and no others.
 * @module
 */
import { describe } from "bun:test";
import { listRights, type Needs, toPolicy } from "../../../lib/app/rights.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { GALLERIES } from "../../support/galleries/gallery.ts";
import { TWIN_NAME, twinController } from "../../support/galleries/definition.ts";
import { describeTakeover } from "../../support/galleries/scenario.ts";
import { CRDS_PATH, toCrd } from "../../support/kube/crd.ts";
import { skipsCluster, startCluster } from "../../support/process/cluster.ts";

const ACCOUNT = { namespace: "kube-system", name: "landfall" } as const;
const NEEDS: Needs = {
  registry: [...CONTROLLERS, twinController],
  controllers: new Set(["cloud-node", TWIN_NAME]),
  // As the flags have it that are not given.
  lease: { namespace: "kube-system", name: "cloud-controller-manager" },
  hasSecurePort: false,
};
const TOKEN_SECONDS = 3_600;

describe.skipIf(skipsCluster())("a Lease for a kind", () => {
  describeTakeover("a real API server", async () => {
    const cluster = await startCluster();
    const token = await cluster.createServiceAccountToken(ACCOUNT, TOKEN_SECONDS);
    await cluster.applyRbac(ACCOUNT, toPolicy(listRights(NEEDS)));
    return {
      kubeconfig: await cluster.writeTokenKubeconfig(token),
      fetch: (path, init) => cluster.adminFetch(path, init),
      install: () => cluster.create(CRDS_PATH, toCrd(GALLERIES)),
      stop: () => cluster.stop(),
    };
  });
});
