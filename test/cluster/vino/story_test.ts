/**
 * The life of a Vino and of a cluster on its machines, as their owner sees it through kubectl, with a real API server,
 * a real kube-controller-manager, a simulated Xen Orchestra, and the real program with exactly the rights that its
 * manifests and the role of its guide give it.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { runPods, skipsRunningPods } from "../../support/process/control_plane/running_pods.ts";
import { METAL } from "../../support/sipcluster/sip_cluster_rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";
import { VINO, VinoStoryRig } from "../../support/vino/story_rig.ts";

const kubectl = (await skipsRunningPods()) ? undefined : await findKubectl();
const TIMEOUT_MS = 60_000;
const READY = "True ReconciliationSucceeded";
const CLUSTER = "tenant";

describe.skipIf(kubectl === undefined)("a Vino and a cluster on its machines", () => {
  let rig: VinoStoryRig;
  let manager: AsyncDisposable;
  /** What was in the cloud before Landfall. */
  let foreign: readonly string[];

  beforeAll(async () => {
    rig = await VinoStoryRig.start(kubectl ?? "");
    foreign = rig.listObjects();
    manager = runPods(rig.sip.cluster);
    await Promise.all([rig.startVino(), rig.sip.startController()]);
  }, 120_000);
  afterAll(async () => {
    await manager?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
  });

  test(
    "the sample becomes machines, and each of them a host with labels and addresses",
    async () => {
      await rig.applySample();
      await rig.untilCondition("Ready", READY);
      expect(rig.listVms()).toEqual(toRunning(3, 6));
      const shown = (await rig.sip.run("get", "vino", VINO, "-n", METAL)).trim().split("\n");
      expect(shown[1]).toMatch(/^wordpress +True +ReconciliationSucceeded +9\/9 +9 +\d+s$/);
      const hosts = await rig.listHosts();
      expect([...hosts.keys()].toSorted()).toEqual(toHostNames(3, 6));
      const found = await rig.readHosts();
      for (const [name, { host, rack, address }] of found) {
        const vm = rig.findMachine(name);
        expect([name, host]).toEqual([name, String(vm["$container"])]);
        expect(rack).toBe(rig.rackOf(host));
        expect(address).toMatch(/^203\.0\.113\.[2-9]\d$/);
      }
      expect(new Set([...found.values()].map(({ address }) => address)).size).toBe(9);
      expect(await rig.listAddresses()).toHaveLength(9);
    },
    TIMEOUT_MS,
  );

  test(
    "a SIPCluster takes hosts by their labels",
    async () => {
      await rig.sip.applyCluster(
        CLUSTER,
        toRackSpec({ controlPlanes: 3, workers: 2, nodePort: 30_101 }),
      );
      await rig.sip.untilCondition(CLUSTER, "Ready", READY);
      const taken = await rig.sip.listHosts(CLUSTER);
      expect(taken.slice(0, 3)).toEqual(
        [0, 1, 2].map((at) => `${VINO}-control-plane-${at} ControlPlane`),
      );
      expect(taken.slice(3)).toEqual([
        expect.stringMatching(/^wordpress-worker-\d Worker$/),
        expect.stringMatching(/^wordpress-worker-\d Worker$/),
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "nothing is left of both once they are deleted, and what is others' is untouched",
    async () => {
      await rig.sip.run("delete", "sip", CLUSTER, "-n", CLUSTER, "--timeout=20s");
      expect((await rig.listHosts()).size).toBe(9);
      await rig.sip.run("delete", "vino", VINO, "-n", METAL, "--timeout=40s");
      expect(rig.listObjects()).toEqual([...foreign]);
      // Those of the sample.
      expect(await rig.sip.listAll(METAL)).toEqual(["secret/bmc", "secret/user-data"]);
      expect(await rig.listAddresses()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

function toNames(controlPlanes: number, workers: number): string[] {
  const toMany = (role: string, count: number): string[] =>
    Array.from({ length: count }, (_, at) => `${role}-${at}`);
  return [...toMany("control-plane", controlPlanes), ...toMany("worker", workers)];
}

function toRunning(controlPlanes: number, workers: number): string[] {
  return toNames(controlPlanes, workers).map((name) => `${name} Running`);
}

function toHostNames(controlPlanes: number, workers: number): string[] {
  return toNames(controlPlanes, workers).map((name) => `${VINO}-${name}`);
}
