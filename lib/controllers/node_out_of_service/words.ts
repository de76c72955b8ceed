/**
 * Words of the out-of-service controller in a cluster and in flags. Frozen: they must not change.
 * @module
 */
import type { EventWord } from "../../kube/events/words.ts";
import type { NumberFlag } from "../definition.ts";

/** Name in flags, logs and metrics: that of the Go controller. */
export const NAME = "cloud-node-out-of-service";

/** `source.component` of the Events. */
export const COMPONENT = "cloud-node-out-of-service-controller";

type EventName = "taintSet" | "taintRemoved" | "taintWithdrawn" | "blocked" | "foreign";

/** The Events. */
export const EVENT_WORDS: Readonly<Record<EventName, EventWord>> = {
  taintSet: {
    reason: "OutOfServiceTaintSet",
    type: "Normal",
    meaning:
      "The machine is proven off or gone. Landfall set the out-of-service taint, so Kubernetes detaches the volumes.",
  },
  taintRemoved: {
    reason: "OutOfServiceTaintRemoved",
    type: "Normal",
    meaning: "The machine runs again and its volumes are detached. Landfall removed the taint.",
  },
  taintWithdrawn: {
    reason: "OutOfServiceTaintWithdrawn",
    type: "Warning",
    meaning:
      "The kubelet reports the same boot ID as before, so the machine was never off. Landfall removed the taint " +
      "at once.",
  },
  blocked: {
    reason: "OutOfServiceTaintBlocked",
    type: "Warning",
    meaning:
      "The cloud shows the machine as off or gone, but Landfall does not set the taint. The message says why.",
  },
  foreign: {
    reason: "OutOfServiceTaintForeign",
    type: "Warning",
    meaning:
      "The Node is Ready and has an out-of-service taint that Landfall did not set and does not remove.",
  },
};

/** How often the controller checks Nodes. The Go controller has both flags. */
export const SYNC_FLAG: NumberFlag = {
  name: "node-out-of-service-sync-period",
  type: "duration",
  default: "10s",
  help: "How often cloud-node-out-of-service checks Nodes that are not Ready",
  range: [1_000, 3_600_000],
};

/** How long a machine must be off. */
export const GRACE_FLAG: NumberFlag = {
  name: "node-out-of-service-grace-period",
  type: "duration",
  default: "0s",
  help: "How long a machine must be off before cloud-node-out-of-service acts, if outOfService.graceDuration is less",
  range: [0, 24 * 3_600_000],
};
