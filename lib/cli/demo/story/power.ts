/**
 * A part of the demo's story: a machine stops and starts again.
 * @module
 */
import { isReady } from "../../../controllers/identity.ts";
import { hasShutdownTaint } from "../printer.ts";
import { requireMachine, type Step, waitForNodes } from "./stage.ts";

const NODE = "worker-4";

/** The steps, in order. */
export const POWER_STEPS: readonly Step[] = [
  {
    title: `${NODE} is halted: its Node is NotReady, gets the shutdown taint and keeps its labels`,
    play: async (stage, signal) => {
      const { cloud, kubelets } = stage;
      stage.tell(`  >  ${cloud.halt(requireMachine(cloud, NODE))}, and its kubelet stops`);
      kubelets.silence(NODE);
      return await waitForNodes(
        stage,
        [NODE],
        signal,
        (node) => !isReady(node) && hasShutdownTaint(node) && cloud.isPlaced(node),
      );
    },
  },
  {
    title: `${NODE} starts again: its Node is Ready, and the taint is removed`,
    play: async (stage, signal) => {
      const { cloud, kubelets } = stage;
      stage.tell(`  >  ${cloud.start(requireMachine(cloud, NODE))}`);
      kubelets.reboot(NODE);
      return await waitForNodes(
        stage,
        [NODE],
        signal,
        (node) => isReady(node) && !hasShutdownTaint(node) && cloud.isPlaced(node),
      );
    },
  },
];
