/**
 * Words that the out-of-service controller writes into a cluster. Frozen: they must not change.
 * @module
 */
import type { EventWord } from "../../kube/events/words.ts";

/** Name in flags, logs and metrics: that of the Go controller. */
export const NAME = "cloud-node-out-of-service";

/** `source.component` of the Events. */
export const COMPONENT = "cloud-node-out-of-service-controller";

/** The first Kubernetes that detaches volumes by the taint without a feature gate. */
export const LEAST_KUBERNETES = "1.26";

type EventName = "taintSet" | "taintRemoved" | "taintWithdrawn" | "blocked" | "foreign";

/** The Events. */
export const EVENT_WORDS: Readonly<Record<EventName, EventWord>> = {
  taintSet: {
    reason: "OutOfServiceTaintSet",
    type: "Normal",
    meaning:
      "The machine is proven off or gone, so the Node has the out-of-service taint: Kubernetes detaches its volumes.",
  },
  taintRemoved: {
    reason: "OutOfServiceTaintRemoved",
    type: "Normal",
    meaning: "The machine runs again and its volumes were detached, so the taint was removed.",
  },
  taintWithdrawn: {
    reason: "OutOfServiceTaintWithdrawn",
    type: "Warning",
    meaning:
      "The kubelet reports and was never restarted, so the machine ran all the time; the taint was removed at once.",
  },
  blocked: {
    reason: "OutOfServiceTaintBlocked",
    type: "Warning",
    meaning: "The machine is shown as off or gone, but the taint is not set; the message says why.",
  },
  foreign: {
    reason: "OutOfServiceTaintForeign",
    type: "Warning",
    meaning:
      "The Node is Ready and has an out-of-service taint that Landfall did not set and does not remove.",
  },
};
