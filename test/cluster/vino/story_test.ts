/**
 * The life of a Vino and of a cluster on its machines, as their owner sees it through kubectl, with a real API server,
 * a real kube-controller-manager, a simulated Xen Orchestra, and the real program with exactly the rights that its
 * manifests and the role of its guide give it.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { runPods, skipsRunningPods } from "../../support/process/kube_controllers.ts";
import { METAL } from "../../support/sipcluster/sip_cluster_rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";
import { type StoryCloud, toShortName } from "../../support/vino/story/cloud.ts";
import { VINO, VinoStoryRig } from "../../support/vino/story/rig.ts";

const kubectl = (await skipsRunningPods()) ? undefined : await findKubectl();
const TIMEOUT_MS = 110_000;
const READY = "True ReconciliationSucceeded";
const CLUSTER = "tenant";

describe.skipIf(kubectl === undefined)("a Vino and a cluster on its machines", () => {
  let rig: VinoStoryRig;
  let manager: AsyncDisposable;
  /** What was in the cloud before Landfall. */
  let foreign: ReturnType<StoryCloud["readObjects"]>;

  beforeAll(async () => {
    rig = await VinoStoryRig.start(kubectl ?? "");
    foreign = rig.cloud.readObjects();
    manager = runPods(rig.sip.cluster);
    await Promise.all([rig.startVino(), rig.sip.startController()]);
  }, 120_000);
  afterAll(async () => {
    await manager?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
  });

  /** The Vino as `kubectl get` shows it. */
  async function show(): Promise<string> {
    const [, line = ""] = (await rig.sip.run("get", "vino", VINO, "-n", METAL)).trim().split("\n");
    return line;
  }

  test(
    "the sample becomes machines, and each of them a host with labels and addresses",
    async () => {
      await rig.applySample();
      await rig.untilCondition("Ready", READY);
      expect(rig.cloud.listVms()).toEqual(toRunning(3, 6));
      expect(await show()).toMatch(/^wordpress +True +ReconciliationSucceeded +9\/9 +0 +9 +\d+s$/);
      const hosts = await rig.listHosts();
      expect([...hosts.keys()].toSorted()).toEqual(toHostNames(3, 6));
      const found = await rig.readHosts();
      for (const [name, { host, rack, address }] of found) {
        const vm = rig.cloud.findMachine(name);
        expect([name, host]).toEqual([name, String(vm["$container"])]);
        expect(rack).toBe(rig.cloud.rackOf(host));
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
        toRackSpec({ controlPlanes: 3, workers: 2, nodePort: 30_011 }),
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
    "labels follow a machine that moves, and the cluster keeps its host",
    async () => {
      const name = "control-plane-0";
      const to = rig.cloud.move(name);
      await rig.untilTrue("the labels", async () => {
        return (await rig.readHosts()).get(name)?.host === to;
      });
      expect((await rig.readHosts()).get(name)?.rack).toBe(rig.cloud.rackOf(to));
      expect(await rig.sip.listHosts(CLUSTER)).toHaveLength(5);
      await rig.untilCondition("Ready", READY);
      expect(rig.cloud.listVms()).toEqual(toRunning(3, 6));
    },
    TIMEOUT_MS,
  );

  test(
    "more machines come, each of them once, although leaders are killed while they are made",
    async () => {
      await Promise.all([rig.startVino(), rig.startVino()]);
      await rig.killLeaderDuring("VM.clone", () => rig.scale(3, 3));
      await rig.untilCondition("Ready", READY);
      expect(rig.cloud.listVms()).toEqual(toRunning(3, 9));
      await rig.killLeaderDuring("VM.start", () => rig.scale(3, 4));
      await rig.untilCondition("Ready", READY);
      expect(rig.cloud.listVms()).toEqual(toRunning(3, 12));
      expect(rig.cloud.listLeftovers()).toEqual([]);
    },
    1.5 * TIMEOUT_MS,
  );

  test(
    "and although xo-server restarts meanwhile",
    async () => {
      await rig.cloud.restartDuring("VM.provision", () => rig.scale(3, 5));
      await rig.untilCondition("Ready", READY);
      expect(rig.cloud.listVms()).toEqual(toRunning(3, 15));
      expect(rig.cloud.listLeftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "machines go that nobody uses, and one whose host is in use stays",
    async () => {
      await rig.scale(2, 4);
      const message = await rig.untilCondition("ContractionBlocked", "True HostsInUse");
      expect(message).toContain(`${VINO}-control-plane-`);
      await rig.untilTrue("the end of workers", () => rig.cloud.listVms().length === 15);
      expect(await rig.sip.listHosts(CLUSTER)).toHaveLength(5);
      await rig.scale(3, 4);
      await rig.untilCondition("ContractionBlocked", "False NothingBlocked");
      await rig.untilCondition("Ready", READY);
    },
    TIMEOUT_MS,
  );

  test(
    "a machine that a person deletes comes back unless its host is in use",
    async () => {
      const used = await rig.sip.listHosts(CLUSTER);
      const workers = rig.cloud
        .listMachines()
        .map(toShortName)
        .filter((name) => name.startsWith("worker"));
      const free = workers.find((name) => !used.includes(`${VINO}-${name} Worker`)) ?? "";
      const lost = rig.cloud.findMachine(free).id;
      for (const name of [free, "control-plane-1"]) rig.cloud.deleteByHand(name);
      await rig.untilTrue("a new machine", () => {
        const found = rig.cloud.listMachines().find((vm) => toShortName(vm) === free);
        return found !== undefined && found.id !== lost;
      });
      const message = await rig.untilCondition("Ready", "False DecisionNeeded");
      expect(message).toContain(`BareMetalHost ${VINO}-control-plane-1 belongs to SIPCluster`);
      expect(rig.cloud.listVms()).not.toContain("control-plane-1 Running");
      // The removal of a machine whose creation was interrupted may wait for a while.
      await rig.untilTrue("the new machine is complete", async () => / 14\/15 /.test(await show()));
    },
    TIMEOUT_MS,
  );

  test(
    "an edit that would remove many machines waits for a person",
    async () => {
      await rig.scale(3, 0);
      const message = await rig.untilCondition("ContractionBlocked", "True FleetLimit");
      expect(rig.cloud.listVms()).toHaveLength(14);
      // One of the control planes is still lost.
      expect(await show()).toMatch(/^wordpress +False +DecisionNeeded +2\/3 +12 +15 +\w+$/);
      const [, command = ""] = /kubectl (annotate .*)$/.exec(message) ?? [];
      await rig.sip.run(...command.split(" "));
      const blocked = await rig.untilCondition("ContractionBlocked", "True HostsInUse");
      expect(blocked.match(/wordpress-worker-\d+/g)).toHaveLength(2);
      await rig.untilTrue("the end of workers", () => rig.cloud.listVms().length === 4);
      expect(await rig.sip.listHosts(CLUSTER)).toHaveLength(5);
      await rig.untilTrue("two workers are left", async () => / 2\/3 +2 +5 /.test(await show()));
    },
    TIMEOUT_MS,
  );

  test(
    "what a cluster gives back is free for the Vino",
    async () => {
      await rig.sip.run("delete", "sip", CLUSTER, "-n", CLUSTER, "--timeout=20s");
      await rig.untilCondition("Ready", READY);
      expect(rig.cloud.listVms()).toEqual(toRunning(3, 0));
      expect(rig.cloud.listLeftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "nothing is left of a Vino that is deleted, and what is others' is untouched",
    async () => {
      await rig.deleteVino();
      expect(rig.cloud.readObjects()).toEqual(foreign);
      // Those of the sample, and the right to work there.
      expect(await rig.sip.listAll(METAL)).toEqual([
        "rolebinding.rbac.authorization.k8s.io/landfall-vino-tenant",
        "secret/bmc",
        "secret/user-data",
      ]);
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
  return toNames(controlPlanes, workers)
    .map((name) => `${name} Running`)
    .toSorted();
}

function toHostNames(controlPlanes: number, workers: number): string[] {
  return toNames(controlPlanes, workers)
    .map((name) => `${VINO}-${name}`)
    .toSorted();
}
