/**
 * From the Go controller to Landfall and back, as docs/guides/migrate.md tells it: one acts, and no Node changes.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { type AuditedRequest, skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  LEASE,
  UNINITIALIZED,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { OtherHolder } from "../../support/kube/election/other_holder.ts";

const LEASE_S = 3;
const RETRY_MS = 500;
const ELECTION = [
  "--leader-elect=true",
  `--leader-elect-resource-name=${LEASE.name}`,
  `--leader-elect-lease-duration=${LEASE_S}s`,
  "--leader-elect-renew-deadline=2s",
  `--leader-elect-retry-period=${RETRY_MS}ms`,
];
/** A retry comes after 1 to 2.2 periods. The rest is for a busy machine. */
const RETRY_MS_MAX = 2.2 * RETRY_MS + 1_500;
const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);
const ZONES = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"] as const;
const REGIONS = [
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/region",
] as const;
const TYPES = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"] as const;

const isSkipped = skipsCluster();

describe.skipIf(isSkipped)("a cluster of the Go controller", () => {
  let started: ClusterRig | undefined;
  let other: OtherHolder | undefined;
  let controller: Controller | undefined;
  let before: ReadonlyMap<string, string> = new Map();
  const useRig = (): ClusterRig => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };
  const useOther = (): OtherHolder => {
    if (other === undefined) throw new Error("Cannot test: nobody holds the Lease");
    return other;
  };

  beforeAll(async () => {
    started = await ClusterRig.start();
    await registerGoNodes(started);
    before = await readIdentities(started);
    expect(before.size).toBe(5);
  }, 120_000);
  afterAll(() => started?.stop());

  beforeEach(async () => {
    other = new OtherHolder(useRig().cluster, { ...LEASE, seconds: LEASE_S });
    expect(await other.acquire()).toBe(true);
  });
  afterEach(async () => {
    await controller?.landfall.stop();
    controller = undefined;
    await other?.fallSilent();
    await useRig().deleteLease();
  });

  const startLandfall = async (): Promise<Controller> => {
    return await useRig().startController(PROGRAM, { args: ELECTION });
  };

  test.each([
    ["falls silent", LEASE_S * 1_000 + RETRY_MS_MAX],
    ["gives the Lease back", RETRY_MS_MAX],
  ])(
    "Landfall only watches until the other %s, then acts, and no old Node changes",
    async (how, msMax) => {
      const rig = useRig();
      const name = how.replaceAll(" ", "-").toLowerCase();
      const asked = (await rig.cluster.listRequests()).length;
      controller = await startLandfall();
      rig.addVm(name);
      await rig.register(name);
      // Longer than the Lease lasts: only that it is renewed keeps Landfall from acting.
      await Bun.sleep(LEASE_S * 1_000 + RETRY_MS_MAX);
      const whileWaiting = (await rig.cluster.listRequests()).slice(asked);
      expect(whileWaiting.length).toBeGreaterThan(2);
      expect(whileWaiting.filter(isWrite)).toEqual([]);
      expect((await rig.readNode(name)).spec?.taints).toEqual([UNINITIALIZED]);

      const leftAt =
        how === "falls silent" ? await useOther().fallSilent() : await useOther().release();
      const taken = await waitUntil("Landfall to lead", async () => {
        const lease = await useOther().read();
        const holder = lease?.holderIdentity ?? "";
        return holder !== "" && holder !== useOther().identity ? lease : undefined;
      });
      expect(performance.now() - leftAt).toBeLessThan(msMax);
      expect(taken.leaseDurationSeconds).toBe(LEASE_S);

      await rig.waitForNode(name);
      await waitForReconciles(controller, before.keys());
      expect(Object.fromEntries(await readIdentities(rig))).toEqual(Object.fromEntries(before));
      const writes = (await rig.cluster.listRequests()).slice(asked).filter(isWrite);
      const first = writes.find(({ resource }) => resource.startsWith("nodes"));
      expect(first?.at.localeCompare(taken.acquireTime ?? "")).toBe(1);
      expect(
        writes.filter((one) => before.has(one.name ?? "") && one.resource === "nodes"),
      ).toEqual([]);
      await removeNode(rig, name);
    },
    60_000,
  );

  test("rolling back gives the Lease to the other at once, and no Node changes", async () => {
    const rig = useRig();
    await useOther().release();
    controller = await startLandfall();
    await waitUntil("Landfall to lead", async () =>
      (await useOther().read())?.holderIdentity ? true : undefined,
    );
    await waitForReconciles(controller, before.keys());
    const { landfall } = controller;
    const { code } = await landfall.stop();
    expect(code).toBe(0);
    expect(await useOther().read()).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    expect(await useOther().acquire()).toBe(true);
    const asked = (await rig.cluster.listRequests()).length;
    controller = await startLandfall();
    await Bun.sleep(LEASE_S * 1_000 + RETRY_MS_MAX);
    expect((await rig.cluster.listRequests()).slice(asked).filter(isWrite)).toEqual([]);
    expect(Object.fromEntries(await readIdentities(rig))).toEqual(Object.fromEntries(before));
    expect((await useOther().read())?.holderIdentity).toBe(useOther().identity);
  }, 60_000);
});

/** As the Go controller leaves them: one plain, one that moved, one halted, one not shown, one of another cloud. */
async function registerGoNodes(rig: ClusterRig): Promise<void> {
  const { poolId, hostId } = rig;
  const host = { id: hostId, name: "xcp-par-1" };
  const vm = (name: string, options: Parameters<ClusterRig["addVm"]>[1] = {}): string =>
    rig.addVm(name, {
      cpus: 4,
      memoryBytes: 8 * 1024 ** 3,
      addresses: { "0/ipv4/0": toIp(name) },
      ...options,
    });
  const register = async (name: string, labels: Record<string, string>): Promise<void> => {
    await rig.register(name, {
      taints: [],
      providerID: `xenorchestra://${poolId}/${toUuid(`vm/${name}`)}`,
      labels: { "example.com/team": "a", ...labels },
      status: { addresses: toAddresses(name), conditions: [{ type: "Ready", status: "True" }] },
    });
  };
  vm("go-plain");
  await register("go-plain", toGoLabels("go-plain", poolId, host));
  vm("go-moved");
  await register("go-moved", {
    ...toGoLabels("go-moved", poolId, host),
    "topology.k8s.xenorchestra/original_host_id": toUuid("host/elsewhere"),
  });
  rig.cloud.state.addVm({
    name: "go-halted",
    poolId,
    power: "Halted",
    cpus: 4,
    memoryBytes: 8 * 1024 ** 3,
  });
  // What the Go controller makes of a VM that is on no host.
  await register("go-halted", toGoLabels("go-halted", poolId, { id: poolId, name: "unknown" }));
  // Its VM is not shown: nothing is known, so nothing is touched.
  await register("go-lost", toGoLabels("go-lost", poolId, host));
  await rig.register("go-foreign", { taints: [], providerID: "aws:///eu-west-3a/i-0123456789" });
}

function toGoLabels(
  name: string,
  poolId: string,
  host: { readonly id: string; readonly name: string },
): Record<string, string> {
  const all = (keys: readonly string[], value: string): [string, string][] =>
    keys.map((key) => [key, value]);
  return {
    ...Object.fromEntries([
      ...all(TYPES, "4vCPU-8GB"),
      ...all(REGIONS, poolId),
      ...all(ZONES, host.id),
    ]),
    "vm.k8s.xenorchestra/name_label": name,
    "topology.k8s.xenorchestra/pool_id": poolId,
    "topology.k8s.xenorchestra/pool_name_label": "paris",
    "topology.k8s.xenorchestra/host_id": host.id,
    "topology.k8s.xenorchestra/host_name_label": host.name,
  };
}

function toIp(name: string): string {
  return `10.12.0.${["go-plain", "go-moved", "go-halted", "go-lost"].indexOf(name) + 1}`;
}

/** As the Go controller publishes them: the main address once more, as an external one. */
function toAddresses(name: string): readonly object[] {
  return [
    { type: "InternalIP", address: toIp(name) },
    { type: "ExternalIP", address: toIp(name) },
    { type: "Hostname", address: name },
  ];
}

/** Labels and provider ID of all Nodes of the Go controller, as bytes, in the order the API server gives them. */
async function readIdentities(rig: ClusterRig): Promise<Map<string, string>> {
  const items = await rig.cluster.list<Node>("/api/v1/nodes");
  const ours = items.filter(({ metadata }) => metadata.name?.startsWith("go-"));
  return new Map(
    ours.map(({ metadata, spec }) => [
      metadata.name ?? "",
      JSON.stringify([spec?.providerID, metadata.labels]),
    ]),
  );
}

/** Waits until the controller has looked at these Nodes. */
async function waitForReconciles({ debugUrl }: Controller, names: Iterable<string>): Promise<void> {
  for (const name of names) {
    await waitUntil(`a reconcile of ${name}`, async () => {
      const text = await (await fetch(`${debugUrl}/debug/nodes/${name}`)).text();
      return /"outcome":\s*"ok"/.test(text) ? true : undefined;
    });
  }
}

async function removeNode(rig: ClusterRig, name: string): Promise<void> {
  await rig.cluster.remove(`/api/v1/nodes/${name}`);
}

function isWrite({ verb, resource }: AuditedRequest): boolean {
  return WRITES.has(verb) && !resource.endsWith("reviews");
}
