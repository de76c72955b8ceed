/**
 * First part of the demo's story: Nodes find their machines.
 * @module
 */
import { isUninitialized } from "../../controllers/identity.ts";
import { VM_NAME_LABEL } from "../../providers/xenorchestra/model/labels.ts";
import { type Expectation, type Step, waitForNodes, waitUntil } from "./stage.ts";

const isInitialised: Expectation = (node) => !isUninitialized(node);

/** The steps, in order. */
export const JOIN_STEPS: readonly Step[] = [
  {
    title: "Eight kubelets register their Nodes, each with the taint that waits for the cloud",
    play: (stage, signal) => {
      const { world, kubelets } = stage;
      for (const machine of world.machines.values()) kubelets.register(machine);
      return waitForNodes(stage, world.machines.keys(), signal, isInitialised);
    },
  },
  {
    title: "Every Node has the provider ID of its VM",
    play: (stage, signal) =>
      waitForNodes(
        stage,
        stage.world.machines.keys(),
        signal,
        (node, { vmId }) => node.spec?.providerID?.endsWith(`/${vmId}`) === true,
      ),
  },
  {
    title:
      "worker-uefi matches its VM, although its firmware reports the UUID in reversed byte order",
    play: (stage, signal) =>
      waitForNodes(
        stage,
        ["worker-uefi"],
        signal,
        (node, { vmId }) => node.status?.nodeInfo?.systemUUID !== vmId && !isUninitialized(node),
      ),
  },
  {
    title: 'The VM "nœud-1" has a name that no label can hold, and its Node joins anyway',
    play: (stage, signal) =>
      waitForNodes(
        stage,
        ["noeud-1"],
        signal,
        (node) => node.metadata.labels?.[VM_NAME_LABEL] === "n-ud-1" && !isUninitialized(node),
      ),
  },
  {
    title: "worker-late registers before Xen Orchestra lists its VM, and an Event says so",
    play: async (stage, signal) => {
      const { world, kubelets, view } = stage;
      kubelets.register(world.late.machine);
      const find = () => view.findEvent("worker-late", "NodeInitializationFailed");
      const isTold = await waitUntil(stage, signal, () => find() !== undefined);
      const node = view.nodes.get("worker-late");
      return isTold && node !== undefined && isUninitialized(node);
    },
  },
  {
    title: "The VM appears, and Landfall initialises the Node",
    play: (stage, signal) => {
      stage.cloud.state.addVm(stage.world.late.options);
      return waitForNodes(
        stage,
        ["worker-late"],
        signal,
        (node, { vmId }) =>
          !isUninitialized(node) && node.spec?.providerID?.endsWith(`/${vmId}`) === true,
      );
    },
  },
];
