/**
 * Flags of the out-of-service controller; the Go controller has the same.
 * @module
 */
import type { NumberFlag } from "../definition.ts";

/** How often the controller checks Nodes. */
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
