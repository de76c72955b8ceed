/**
 * Words of the lifecycle controller in a cluster and in flags. Frozen: they must not change.
 * @module
 */
import type { EventWord } from "../../kube/events/words.ts";
import type { NumberFlag } from "../definition.ts";

/** Taint of a Node whose machine is off; only key and effect count. Contract of `k8s.io/cloud-provider`. */
export const SHUTDOWN_TAINT = {
  key: "node.cloudprovider.kubernetes.io/shutdown",
  effect: "NoSchedule",
} as const;

/** Name in flags, logs and metrics. */
export const NAME = "cloud-node-lifecycle";

/** `source.component` of the Events. */
export const COMPONENT = "cloud-node-lifecycle-controller";

type EventName =
  | "deleting"
  | "deletingFailed"
  | "deletionBlocked"
  | "taintSet"
  | "taintRemoved"
  | "taintContested";

/** The Events. The first two have the names of `k8s.io/cloud-provider`, which has no Events for the taint. */
export const EVENT_WORDS: Readonly<Record<EventName, EventWord>> = {
  deleting: {
    reason: "DeletingNode",
    type: "Normal",
    meaning: "The machine is proven gone. Landfall deletes the Node.",
  },
  deletingFailed: {
    reason: "DeletingNodeFailed",
    type: "Warning",
    meaning: "Kubernetes refused the deletion. Landfall tries again.",
  },
  deletionBlocked: {
    reason: "NodeDeletionBlocked",
    type: "Warning",
    meaning:
      "The cloud does not show the machine of a Node that is not Ready. Landfall keeps the Node; the message says why.",
  },
  taintSet: {
    reason: "ShutdownTaintSet",
    type: "Normal",
    meaning: "The machine is off and the Node is not Ready. Landfall added the shutdown taint.",
  },
  taintRemoved: {
    reason: "ShutdownTaintRemoved",
    type: "Normal",
    meaning: "The Node is Ready again. Landfall removed the shutdown taint.",
  },
  taintContested: {
    reason: "ShutdownTaintContested",
    type: "Warning",
    meaning:
      "Another program keeps changing the shutdown taint. Landfall corrects it a few times a minute at most.",
  },
};

/** How often Landfall checks the lifecycle of every Node. */
export const MONITOR_FLAG: NumberFlag = {
  name: "node-monitor-period",
  type: "duration",
  default: "5s",
  help: "How often Landfall checks whether the machines of Nodes that are not Ready are off or gone",
  // A pass reads only memory, but without a pause the process would do nothing else.
  range: [100, 3_600_000],
};
