/**
 * A process that starts before the kinds are installed, on a real API server, and the rights of its manifest: enough
 * for every service that a SIPCluster may ask for, and none too many.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { NeededRight } from "../../../lib/app/rights.ts";
import { DEX_GROUP } from "../../../lib/controllers/sipcluster/services/auth/words.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { type Controller, formatAccess } from "../../support/process/cluster_rig.ts";
import { RIGHTS, SipClusterRig, USERNAME } from "../../support/sipcluster/sip_cluster_rig.ts";
import { ROOT } from "../../support/sources.ts";

const kubectl = skipsCluster() ? undefined : await findKubectl();
const TIMEOUT_MS = 60_000;
const DEX_CRDS = join(ROOT, "deploy/manifests/sipcluster/dex_crds.yaml");
const FORBIDDEN = 403;
const OWN = RIGHTS.filter(({ controllers }) => controllers !== undefined);
/** What no request of the process asks for: the API server checks these in addition when it writes an object. */
const IMPLIED = OWN.filter(({ access: { verb, group, resource, subresource } }) => {
  const isApplied = verb === "create" && !["secrets", "leases"].includes(resource);
  return group === DEX_GROUP || subresource === "finalizers" || isApplied;
});
/** Those that Dex gets from a Role: that every single one is needed for it, this one shows. */
const DEX_EXAMPLE = "update authcodes";

describe.skipIf(kubectl === undefined)("a process with the rights of its manifest", () => {
  let rig: SipClusterRig;
  let controller: Controller;
  beforeAll(async () => {
    const admissionPlugins = ["OwnerReferencesPermissionEnforcement"];
    rig = await SipClusterRig.start(kubectl ?? "", { admissionPlugins });
  }, 120_000);
  afterAll(() => rig?.[Symbol.asyncDispose]());

  const listOwnRequests = async () => {
    const requests = await rig.cluster.listRequests();
    return requests.filter(({ username }) => username === USERNAME);
  };
  const listUsed = async (): Promise<Set<string>> => {
    const done = (await listOwnRequests()).filter(({ code }) => code !== FORBIDDEN);
    return new Set(done.map(({ verb, resource }) => `${verb} ${resource}`));
  };

  test(
    "says which kinds it waits for, in the log only once, and finds them when they are installed",
    async () => {
      controller = await rig.startController();
      const kinds = ["sipclusters.airship.airshipit.org/v1", "baremetalhosts.metal3.io/v1alpha1"];
      const ask = async (): Promise<string> =>
        await (await fetch(`${controller.debugUrl}/readyz?verbose`)).text();
      await rig.untilTrue("both notes", async () => {
        const text = await ask();
        return kinds.every((kind) => text.includes(`CustomResourceDefinition ${kind}`));
      });
      await rig.installKinds();
      await rig.run("apply", "-f", DEX_CRDS);
      await rig.untilTrue("no note", async () => {
        const text = await ask();
        return text.includes("readyz check passed") && !text.includes("waiting for Custom");
      });
      const log = controller.landfall.log;
      expect(log.split("CustomResourceDefinition is missing")).toHaveLength(kinds.length + 1);
      expect(log.split("CustomResourceDefinition was found")).toHaveLength(kinds.length + 1);
    },
    TIMEOUT_MS,
  );

  test(
    "is refused nothing, and uses each right",
    async () => {
      await rig.addHosts([{ name: "r1", flavors: { "control-plane": 1, worker: 2 } }]);
      await rig.applyWhole("all");
      const path = "/apis/apps/v1/namespaces/all/deployments/dex-all";
      await rig.untilTrue("the last service", async () => (await rig.cluster.adminFetch(path)).ok);
      const patch = '--patch={"spec":{"nodes":{"Worker":{"count":{"active":0}}}}}';
      await rig.run("patch", "sip", "all", "-n", "all", "--type=merge", patch);
      await rig.untilTrue("a host less", async () => (await rig.listHosts("all")).length === 1);
      await rig.run("delete", "sip", "all", "-n", "all", "--wait=false");
      await rig.untilTrue("the last deletion", async () => {
        return (await listUsed()).has("delete secrets");
      });
      // The audit log has a watch when it ends.
      await controller.landfall.stop();
      await rig.untilTrue("each right", async () => {
        const used = await listUsed();
        return listExplicit().every((right) => used.has(right));
      });
      const refused = (await listOwnRequests()).filter(({ code }) => code === FORBIDDEN);
      expect(refused).toEqual([]);
      controller = await rig.startController();
    },
    TIMEOUT_MS,
  );

  const singles = IMPLIED.filter(({ access }) => {
    return access.group !== DEX_GROUP || formatAccess(access) === DEX_EXAMPLE;
  });
  test.each(singles.map((right) => [formatAccess(right.access), right] as const))(
    "says what is refused without %s",
    async (text, right) => {
      await rig.allow(RIGHTS.filter((one: NeededRight) => one !== right));
      const name = `without-${text.replaceAll(/\W+/g, "-")}`;
      await rig.applyWhole(name);
      const message = await rig.untilCondition(name, "ServicesReady", "False Forbidden");
      expect(message).toMatch(/forbidden/i);
      await rig.run("delete", "sip", name, "-n", name, "--wait=false");
    },
    TIMEOUT_MS,
  );
});

/** Rights that the process asks for itself, as the audit log has them. */
function listExplicit(): string[] {
  return OWN.filter((right) => !IMPLIED.includes(right)).map(({ access }) => formatAccess(access));
}
