/**
 * Nodes of Xen Orchestra whose VMs are hard to find.
 * @module
 */
import { isUninitialized } from "../../../../controllers/identity.ts";
import { VM_NAME_LABEL } from "../../../../providers/xenorchestra/labels.ts";
import { type Step, waitForNodes } from "../../story/stage.ts";

/** The steps, in order. */
export const JOIN_STEPS: readonly Step[] = [
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
];
