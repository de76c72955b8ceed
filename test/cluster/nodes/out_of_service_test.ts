/**
 * The out-of-service controller on a real API server with a real kube-controller-manager, which deletes Pods and
 * detaches volumes because of the taint. Kubelets and the storage system are played.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listFurtherRights, needAll } from "../../../lib/app/rights.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import {
  ClusterRig,
  type Controller,
  LEASE,
  NOT_READY,
  READY,
  RIGHTS,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import {
  startControllerManager,
  skipsRunningPods,
  detach,
  hasPod,
  installStorage,
  runPodWithVolume,
  untilDetachAsked,
} from "../../support/process/kube_controllers.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import type { ServerProcess } from "../../support/process/server_process.ts";

const NAME = "cloud-node-out-of-service";
const ARGS = [
  `--controllers=*,${NAME}`,
  "--node-monitor-period=500ms",
  "--node-out-of-service-sync-period=1s",
];
const SETTINGS = [
  "deletion: {confirmations: 1, holdOff: 0s, fleetShare: 1}",
  "outOfService: {graceDuration: 1s, confirmations: 2}",
];
const RECORD = "landfall.dev/out-of-service";
const TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};
/** All of its controllers. The kubelets report once, and are silent then: that alone makes no Node NotReady. */
/** What it misses of claims and volumes at its start it sees at the next sync. */
const MANAGER = [
  ["*"],
  ["--node-monitor-grace-period=30m", "--pvclaimbinder-sync-period=2s"],
] as const;

function isTainted({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === TAINT.key) ?? false;
}

describe.skipIf(await skipsRunningPods())(`${NAME} by ${PROGRAM.name}`, () => {
  let rig: ClusterRig;
  let manager: ServerProcess;
  let controller: Controller;
  let haltedVmId = "";

  const boot = (name: string, bootID: string): Promise<void> =>
    rig.setStatus(name, { conditions: [READY], nodeInfo: { bootID } });
  const untilPodIsGone = (name: string): Promise<true> =>
    waitUntil(`the end of the Pod on ${name}`, async () =>
      (await hasPod(rig.cluster, name)) ? undefined : true,
    );

  beforeAll(async () => {
    rig = await ClusterRig.start();
    await rig.configure(SETTINGS);
    await rig.allow([...RIGHTS, ...listFurtherRights(needAll(LEASE), NAME)]);
    await installStorage(rig.cluster);
    manager = startControllerManager(rig.cluster, ...MANAGER);
    const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
    for (const name of ["halted", "gone"]) {
      const vmId = rig.addVm(name);
      if (name === "halted") haltedVmId = vmId;
      await rig.register(name, { annotations });
      await boot(name, "boot-1");
    }
    const first = await rig.startController(PROGRAM, { args: ARGS });
    for (const name of ["halted", "gone"]) {
      await rig.waitForNode(name);
      await runPodWithVolume(rig.cluster, name);
    }
    await first.landfall.stop();
    // The limit of the fleet is a share of the initialised Nodes that a process finds when it starts.
    controller = await rig.startController(PROGRAM, { args: ARGS });
  }, 120_000);
  afterAll(async () => {
    await controller?.landfall.stop();
    await manager?.stop("SIGKILL");
    await rig?.stop();
  });

  test("has Kubernetes free the volumes of a machine that is off, and ends that when it is back", async () => {
    rig.cloud.state.setPower(haltedVmId, "Halted");
    await rig.setCondition("halted", NOT_READY);
    const off = await rig.waitForNode("halted", isTainted);
    expect(off.spec?.taints).toContainEqual(expect.objectContaining(TAINT));
    expect(off.metadata.annotations?.[RECORD]).toEndWith(" boot-1");
    await rig.waitForEvent("halted", "OutOfServiceTaintSet");
    await untilPodIsGone("halted");
    // The Node says that it uses the volume: without the taint, Kubernetes would wait for 6 minutes.
    await untilDetachAsked(rig.cluster, "halted");
    // The machine starts before the volume is detached.
    rig.cloud.state.setPower(haltedVmId, "Running", rig.hostId);
    await boot("halted", "boot-2");
    await Bun.sleep(4_000);
    expect(isTainted(await rig.readNode("halted"))).toBe(true);
    await detach(rig.cluster, "halted");
    const back = await rig.waitForNode("halted", (node) => !isTainted(node));
    expect(back.metadata.annotations?.[RECORD]).toBeUndefined();
  }, 90_000);

  test("has it free the volumes of a machine that is gone, and only then is the Node deleted", async () => {
    await rig.loseMachine("gone");
    await rig.waitForNode("gone", isTainted);
    await untilPodIsGone("gone");
    await untilDetachAsked(rig.cluster, "gone");
    await Bun.sleep(3_000);
    expect((await rig.readNode("gone")).metadata.name).toBe("gone");
    await detach(rig.cluster, "gone");
    await waitUntil("the deletion of the Node", async () => {
      const response = await rig.cluster.adminFetch("/api/v1/nodes/gone");
      return response.status === 404 ? true : undefined;
    });
  }, 90_000);
});
