/**
 * Flags of the controller of Services. The first is one of the Go controller.
 * @module
 */
import { isLabelKey } from "../../core/text/label.ts";
import type { NumberFlag, TextFlag } from "../definition.ts";

/** How many Services are worked on at once. */
export const SYNCS_FLAG: NumberFlag = {
  name: "concurrent-service-syncs",
  type: "int",
  default: "5",
  help: "How many Services are worked on at once; those that wait for the cloud do not count",
  range: [1, 1_000],
};

/** How often every load balancer is compared with what it must be. */
export const SYNC_PERIOD_FLAG: NumberFlag = {
  name: "service-sync-period",
  type: "duration",
  default: "10m0s",
  help: "How often Landfall compares every load balancer with its Service, even without a change",
  range: [10_000, 24 * 3_600_000],
};

/** The class of Services that Landfall serves besides those without one. */
export const CLASS_FLAG: TextFlag = {
  name: "load-balancer-class",
  type: "string",
  default: "",
  help: "Also serve Services with this spec.loadBalancerClass; empty: only those without a class",
  findProblem: (text) =>
    text === "" || isLabelKey(text) ? undefined : "a class such as example.com/name",
};
