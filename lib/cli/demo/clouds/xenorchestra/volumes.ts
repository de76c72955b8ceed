/**
 * A VM of Xen Orchestra dies while a volume is attached, and starts again.
 * @module
 */
import { findRecord, isOutOfServiceByUs } from "../../../../controllers/fleet/out_of_service.ts";
import { isReady } from "../../../../controllers/identity.ts";
import type { DemoHostName } from "../../../../simulator/xenorchestra/mod.ts";
import {
  requireMachine,
  type Stage,
  type Step,
  waitForNodes,
  waitUntil,
} from "../../story/stage.ts";
import type { XenOrchestraSite } from "./site.ts";

const NODE = "worker-1";
/** The host on which it runs after the live migration. */
const HOST: DemoHostName = "xcp-par-3";
const VOLUME = "csi-volume-of-the-database";

/** The steps, in order. */
export function toVolumeSteps({ simulator, world }: XenOrchestraSite): readonly Step[] {
  const { state } = simulator;
  return [
    {
      title: `${NODE} dies while a volume is attached: Landfall proves that it is off, and the volume is free`,
      play: (stage, signal) =>
        loseMachine(
          stage,
          () => state.setPower(requireMachine(stage.cloud, NODE).vmId, "Halted"),
          signal,
        ),
    },
    {
      title: `${NODE} starts again: its kubelet reports a new boot, and Landfall removes the taint`,
      play: async (stage, signal) => {
        stage.tell(`  >  Xen Orchestra starts ${NODE} on the same host`);
        const { vmId } = requireMachine(stage.cloud, NODE);
        state.setPower(vmId, "Running", world.hostIds[HOST]);
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
}

async function loseMachine(
  stage: Stage,
  turnOff: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  const { kubelets, kubernetes, clock } = stage;
  kubernetes.objects.create("volumeattachments", {
    metadata: { name: VOLUME },
    spec: { attacher: "csi.example.org", nodeName: NODE, source: {} },
  });
  stage.tell(`  >  ${NODE} dies; the volume of a database is attached to it`);
  turnOff();
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
