/**
 * A tenant with all rights in one namespace tries to get into the SIPCluster of another one: with a real API server,
 * its rights, and the real program.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
} from "../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { SIP_CLUSTERS } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import { SECRETS } from "../../../lib/kube/kinds/secret.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { toHostStatus } from "../../support/metal3/bare_metal_host_crd.ts";
import { skipsRunningPods } from "../../support/process/kube_controllers.ts";
import { METAL, SipClusterRig } from "../../support/sipcluster/sip_cluster_rig.ts";
import { ROOT } from "../../support/sources.ts";

const SAMPLES = join(ROOT, "deploy/manifests/sipcluster/samples");
const kubectl = (await skipsRunningPods()) ? undefined : await findKubectl();
const VICTIM = "sipcluster-system";
const EVIL = "evil";
const AS_TENANT = ["--as=tenant", `--namespace=${EVIL}`];
const READY = "True ReconciliationSucceeded";
const TIMEOUT_MS = 60_000;

/** A host with the labels of the victim, which something of the tenant uses. */
function toForged(name: string): object {
  const { apiVersion, kind } = BARE_METAL_HOSTS;
  const labels = {
    "sip.airshipit.org/cluster-name": VICTIM,
    "sip.airshipit.org/cluster-namespace": VICTIM,
    "sip.airshipit.org/node-type": "ControlPlane",
  };
  const consumerRef = { apiVersion: "v1", kind: "X", name: "x" };
  const networkData = { name: "n", namespace: EVIL };
  const spec = { online: true, networkData, consumerRef };
  return { apiVersion, kind, metadata: { name, namespace: EVIL, labels }, spec };
}

const NETWORK_DATA = JSON.stringify({
  networks: [{ id: "oam-ipv4", type: "ipv4", ip_address: "203.0.113.66" }],
});

describe.skipIf(kubectl === undefined)("a tenant with rights in one namespace", () => {
  let rig: SipClusterRig;

  beforeAll(async () => {
    rig = await SipClusterRig.startWithPods(kubectl ?? "");
    await rig.startController();
    await rig.run("create", "namespace", EVIL);
    const verbs = ["--verb=*", `--namespace=${EVIL}`];
    const own = "sipclusters.airship.airshipit.org,baremetalhosts.metal3.io";
    const resources = `--resource=${own},secrets,configmaps,services`;
    await rig.run("create", "role", "tenant", ...verbs, resources);
    const binding = ["rolebinding", "tenant", "--role=tenant", "--user=tenant"];
    await rig.run("create", ...binding, `--namespace=${EVIL}`);
  }, 120_000);
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
  });

  /** What serves the victim, and which hosts it has. */
  const describeVictim = async (): Promise<unknown> => {
    const toData = (object: KubeObject): unknown => {
      const { data = null, spec = null } = object as { data?: unknown; spec?: unknown };
      return [object.metadata.name, data, spec];
    };
    const owned = [
      ...(await rig.list(SECRETS, VICTIM)),
      ...(await rig.list(CONFIG_MAPS, VICTIM)),
      ...(await rig.list(DEPLOYMENTS, VICTIM)),
    ];
    const hosts = await rig.list(BARE_METAL_HOSTS, METAL);
    const status = (await rig.read(VICTIM))?.status?.hosts;
    return {
      owned: owned.map(toData),
      labels: hosts.map(({ metadata }) => [metadata.name, metadata.labels]),
      status,
    };
  };

  test(
    "changes nothing of a cluster of others, whatever her hosts say",
    async () => {
      for (const file of ["hosts", "cluster"]) {
        await rig.run("apply", "-f", join(SAMPLES, `${file}.yaml`));
      }
      for (const { metadata } of await rig.list(BARE_METAL_HOSTS, METAL)) {
        await rig.setHostStatus(metadata.name, toHostStatus("available"));
      }
      await rig.untilCondition(VICTIM, "Ready", READY);
      const before = await describeVictim();

      const secret = ["secret", "generic", "n", `--from-literal=networkData=${NETWORK_DATA}`];
      await rig.run("create", ...secret, ...AS_TENANT);
      const names = ["cp-1", "cp-2", "registry.example.org"];
      for (const name of names) {
        const file = join(rig.cluster.folder, `${name}.json`);
        await Bun.write(file, JSON.stringify(toForged(name)));
        await rig.run("create", "-f", file, ...AS_TENANT);
        await rig.setHostStatus(name, toHostStatus("available"), EVIL);
      }
      await rig.untilTrue("the condition names all hosts", async () => {
        const { conditions = [] } = (await rig.read(VICTIM))?.status ?? {};
        const { reason, message = "" } =
          conditions.find(({ type }) => type === "UnknownClaims") ?? {};
        const isNamed = (name: string): boolean =>
          message.includes(`${EVIL}/${name} (its namespace is not allowed)`);
        return reason === "LabelsWithoutRecord" && names.every(isNamed);
      });
      expect(await describeVictim()).toEqual(before);
      const events = await rig.run(
        "get",
        "events",
        "--field-selector=reason=UnknownClaim",
        ...AS_TENANT.slice(1),
      );
      expect(events).toContain("is not in its status.hosts");
    },
    TIMEOUT_MS,
  );

  test.each([VICTIM, EVIL])(
    "may not write the record of hosts in namespace %s",
    async (namespace) => {
      if (namespace === EVIL) {
        await rig.apply({
          apiVersion: SIP_CLUSTERS.apiVersion,
          kind: SIP_CLUSTERS.kind,
          metadata: { name: EVIL, namespace },
          spec: { services: {} },
        });
      }
      const patch = JSON.stringify({ status: { hosts: [] } });
      const place = ["sip", namespace, `--namespace=${namespace}`, "--as=tenant"];
      const words = ["--subresource=status", "--type=merge", `--patch=${patch}`];
      await expect(rig.run("patch", ...place, ...words)).rejects.toThrow(/forbidden/i);
    },
  );
});
