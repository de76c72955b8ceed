/**
 * Third part of the demo's story: a machine dies with a volume attached, and comes back.
 * @module
 */
import { findRecord, isOutOfServiceByUs } from "../../controllers/fleet/out_of_service.ts";
import { isReady } from "../../controllers/identity.ts";
import type { DemoHostName } from "../../simulator/xenorchestra/mod.ts";
import { findMachine, type Stage, type Step, waitForNodes, waitUntil } from "./stage.ts";

const NODE = "worker-1";
/** Where it runs by now. */
const HOST: DemoHostName = "xcp-par-3";
const VOLUME = "csi-volume-of-the-database";

/** The steps, in order. */
export const VOLUME_STEPS: readonly Step[] = [
  {
    title: `${NODE} dies with a volume attached: once it is proven off, the volume is free`,
    play: loseMachine,
  },
  {
    title: `${NODE} is started again: its kubelet reports a new boot, and the taint is gone`,
    play: async (stage, signal) => {
      stage.tell(`  >  Xen Orchestra starts ${NODE} where it was`);
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
  stage.tell(`  >  the volume of a database is attached to ${NODE}, which dies`);
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
    `  >  that took ${seconds} s since ${NODE} was NotReady; without the taint: six minutes`,
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
