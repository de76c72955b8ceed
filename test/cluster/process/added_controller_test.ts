/**
 * A controller that was added by one line to a registry, on a real API server, with the rights that the registry asks
 * for and no others.
 * @module
 */
import { describe } from "bun:test";
import { listRights, needAll, toPolicy } from "../../../lib/app/rights.ts";
import { GALLERIES } from "../../support/galleries/gallery.ts";
import { galleryController } from "../../support/galleries/definition.ts";
import { describeGalleries } from "../../support/galleries/scenario.ts";
import { CRDS_PATH, toCrd } from "../../support/kube/crd.ts";
import { skipsCluster, startCluster } from "../../support/process/cluster.ts";

const ACCOUNT = { namespace: "kube-system", name: "landfall" } as const;
/** As the flags have it that are not given. */
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;
const TOKEN_SECONDS = 3_600;

describe.skipIf(skipsCluster())("added by one line", () => {
  describeGalleries("a real API server", async () => {
    const cluster = await startCluster();
    const token = await cluster.createServiceAccountToken(ACCOUNT, TOKEN_SECONDS);
    await cluster.applyRbac(ACCOUNT, toPolicy(listRights(needAll(LEASE, [galleryController]))));
    return {
      kubeconfig: await cluster.writeTokenKubeconfig(token),
      fetch: (path, init) => cluster.adminFetch(path, init),
      install: () => cluster.create(CRDS_PATH, toCrd(GALLERIES)),
      stop: () => cluster.stop(),
    };
  });
});
