/**
 * First part of the demo's story: Nodes find their machines.
 * @module
 */
import { isUninitialized } from "../../../controllers/identity.ts";
import type { DemoCloud } from "../cloud.ts";
import { type Expectation, type Step, waitForNodes, waitUntil } from "./stage.ts";

const isInitialised: Expectation = (node) => !isUninitialized(node);
const isIdentified: Expectation = (node, { vmId }) =>
  node.spec?.providerID?.endsWith(`/${vmId}`) === true;

/**
 * The steps, in order.
 *
 * @param own Those that only this cloud has
 */
export function toJoinSteps(
  { title, late }: Pick<DemoCloud, "title" | "late">,
  own: readonly Step[],
): readonly Step[] {
  return [
    {
      title: "Eight kubelets register their Nodes, each with the taint that waits for the cloud",
      play: (stage, signal) => {
        const { cloud, kubelets } = stage;
        for (const machine of cloud.machines.values()) kubelets.register(machine);
        return waitForNodes(stage, cloud.machines.keys(), signal, isInitialised);
      },
    },
    {
      title: "Every Node has the provider ID of its VM",
      play: (stage, signal) =>
        waitForNodes(stage, stage.cloud.machines.keys(), signal, isIdentified),
    },
    ...own,
    {
      title: `${late.nodeName} registers before ${title} lists its VM, and an Event says so`,
      play: async (stage, signal) => {
        const { kubelets, view } = stage;
        kubelets.register(late);
        const find = () => view.findEvent(late.nodeName, "NodeInitializationFailed");
        const isTold = await waitUntil(stage, signal, () => find() !== undefined);
        const node = view.nodes.get(late.nodeName);
        return isTold && node !== undefined && isUninitialized(node);
      },
    },
    {
      title: "The VM appears, and Landfall initialises the Node",
      play: (stage, signal) => {
        stage.cloud.addLate();
        return waitForNodes(
          stage,
          [late.nodeName],
          signal,
          (node, machine) => isInitialised(node, machine) && isIdentified(node, machine),
        );
      },
    },
  ];
}
