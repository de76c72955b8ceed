/**
 * Third part of the demo: a VM dies while a volume is attached, and starts again.
 * @module
 */
import { findRecord, isOutOfServiceByUs } from "../../controllers/fleet/out_of_service.ts";
import { isReady } from "../../controllers/identity.ts";
import type { DemoHostName } from "../../simulator/xenorchestra/mod.ts";
import { findMachine, type Stage, type Step, waitForNodes, waitUntil } from "./stage.ts";

const NODE = "worker-1";
/** The host on which it runs after the live migration. */
const HOST: DemoHostName = "xcp-par-3";
const VOLUME = "csi-volume-of-the-database";

/** The steps, in order. */
export const VOLUME_STEPS: readonly Step[] = [
  {
    title: `${NODE} dies while a volume is attached: Landfall proves that it is off, and the volume is free`,
    play: loseMachine,
  },
  {
    title: `${NODE} starts again: its kubelet reports a new boot, and Landfall removes the taint`,
    play: async (stage, signal) => {
      stage.tell(`  >  Xen Orchestra starts ${NODE} on the same host`);
      stage.cloud.state.setPower(findVmId(stage), "Running", stage.world.hostIds[HOST]);
      stage.kubelets.reboot(NODE);
      return await waitForNodes(
        stage,
        [NODE],
        signal,
        (node) => isReady(node) && !isOutOfServiceByUs(node) && findRecord(node) === undefined,
      );
    },
  },
];

async function loseMachine(stage: Stage, signal: AbortSignal): Promise<boolean> {
  const { cloud, kubelets, kubernetes, clock } = stage;
  kubernetes.objects.create("volumeattachments", {
    metadata: { name: VOLUME },
    spec: { attacher: "csi.example.org", nodeName: NODE, source: {} },
  });
  stage.tell(`  >  ${NODE} dies; the volume of a database is attached to it`);
  cloud.state.setPower(findVmId(stage), "Halted");
  kubelets.silence(NODE);
  const isSilent = await waitForNodes(stage, [NODE], signal, (node) => !isReady(node));
  const startMs = clock.monotonic();
  const isTainted =
    isSilent && (await waitForNodes(stage, [NODE], signal, (node) => isOutOfServiceByUs(node)));
  if (!isTainted) return false;
  stage.tell("  >  Kubernetes sees the taint and detaches the volume");
  kubernetes.objects.delete("volumeattachments", { name: VOLUME });
  const seconds = ((clock.monotonic() - startMs) / 1_000).toFixed(1);
  stage.tell(
    `  >  that was ${seconds} s after ${NODE} became NotReady; without the taint, Kubernetes waits 6 minutes`,
  );
  return await waitUntil(
    stage,
    signal,
    () => kubernetes.objects.get("volumeattachments", { name: VOLUME }) === undefined,
  );
}

function findVmId(stage: Stage): string {
  return findMachine(stage, NODE)?.vmId ?? NODE;
}
