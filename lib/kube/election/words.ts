/**
 * Words of leader election in a cluster. Frozen: they must not change.
 * @module
 */

/** `source.component` of the Events; contract of `k8s.io/cloud-provider`. */
export const LEADER_COMPONENT = "cloud-controller-manager";

/** The Events, written on the Lease. The first is that of client-go's `leaderelection` package. */
export const LEADER_EVENTS = {
  changed: {
    reason: "LeaderElection",
    type: "Normal",
    meaning: "A process became leader or stopped leading. The message names the process.",
  },
  failed: {
    reason: "LeaderElectionFailed",
    type: "Warning",
    meaning: "The API server refuses reads or writes of the Lease. The message says why.",
  },
} as const;
