/**
 * Words that the controller of Services reads and writes. Frozen: they must not change.
 * @module
 */
import { OWN_PREFIX } from "../../core/text/label.ts";
import type { EventWord } from "../../kube/events/words.ts";

/** Name in flags, logs and metrics: that of the Go controller. */
export const NAME = "service";

/** `source.component` of the Events: that of the Go controller. */
export const COMPONENT = "service-controller";

/** Annotation with what a cloud must know about a load balancer after a restart. */
export const RECORD: string = `${OWN_PREFIX}load-balancer`;

/** Annotation with the source ranges of a Service that has none in its spec. Contract of `k8s.io/cloud-provider`. */
export const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";

/** Label of a Node that no load balancer may send traffic to. Contract of `k8s.io/cloud-provider`. */
export const EXCLUDED_NODE = "node.kubernetes.io/exclude-from-external-load-balancers";

/** Taint of a Node that the cluster autoscaler is about to remove. Contract of `k8s.io/cloud-provider`. */
export const TO_BE_DELETED_TAINT = "ToBeDeletedByClusterAutoscaler";

type EventName =
  | "ensuring"
  | "ensured"
  | "updated"
  | "deleting"
  | "deleted"
  | "noNodes"
  | "absentNodes"
  | "syncFailed"
  | "updateFailed"
  | "deleteFailed"
  | "overwritten"
  | "classChanged";

/** The Events. Reasons and texts are those of the Go controller, except the last two and `absentNodes`. */
export const EVENT_WORDS: Readonly<Record<EventName, EventWord>> = {
  ensuring: {
    reason: "EnsuringLoadBalancer",
    type: "Normal",
    meaning:
      "Landfall begins to create or change the load balancer. It is not written if there is nothing to do.",
  },
  ensured: {
    reason: "EnsuredLoadBalancer",
    type: "Normal",
    meaning:
      "The load balancer is as the Service asks. The message names Nodes that a label excludes.",
  },
  updated: {
    reason: "UpdatedLoadBalancer",
    type: "Normal",
    meaning:
      "The load balancer has the Nodes that the cluster has now. The message names Nodes that a label excludes.",
  },
  deleting: {
    reason: "DeletingLoadBalancer",
    type: "Normal",
    meaning: "Landfall begins to remove the load balancer.",
  },
  deleted: {
    reason: "DeletedLoadBalancer",
    type: "Normal",
    meaning: "Nothing of the load balancer is left.",
  },
  noNodes: {
    reason: "UnAvailableLoadBalancer",
    type: "Warning",
    meaning:
      "No Node may get traffic. The message names the label or the annotation that excludes the last one.",
  },
  absentNodes: {
    reason: "NodesNotInLoadBalancer",
    type: "Warning",
    meaning:
      "The cloud has not shown the machines of some Ready Nodes for a minute, or shows others: the load balancer " +
      "cannot use these Nodes. The message names them, with the reason and what to do. It is written once for each " +
      "load balancer, until something about these Nodes changes.",
  },
  syncFailed: {
    reason: "SyncLoadBalancerFailed",
    type: "Warning",
    meaning:
      "The load balancer could not be created, changed or removed, or a field of the Service cannot be used. The " +
      "message says why. The status keeps what it shows, and Landfall tries again.",
  },
  updateFailed: {
    reason: "UpdateLoadBalancerFailed",
    type: "Warning",
    meaning:
      "The load balancer could not get the Nodes that the cluster has now. Landfall tries again.",
  },
  deleteFailed: {
    reason: "DeleteLoadBalancerFailed",
    type: "Warning",
    meaning:
      "The load balancer of a Service that is gone could not be removed. Landfall tries again.",
  },
  overwritten: {
    reason: "LoadBalancerStatusOverwritten",
    type: "Warning",
    meaning:
      "Another program wrote its own address into the status twice. Landfall keeps the load balancer, and writes no " +
      "more into this status until that program empties it or the Service is changed.",
  },
  classChanged: {
    reason: "LoadBalancerClassNotServed",
    type: "Warning",
    meaning:
      "The Service has a load balancer of Landfall, and Landfall does not serve its class, or Services without one. " +
      "Nothing is changed or removed.",
  },
};
