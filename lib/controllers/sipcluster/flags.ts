/**
 * Flags of the SIPCluster controller.
 * @module
 */
import type { NumberFlag } from "../definition.ts";

/** How often network data is read again. */
export const NETWORK_DATA_FLAG: NumberFlag = {
  name: "sip-network-data-period",
  type: "duration",
  default: "10m0s",
  help:
    "How often Landfall reads the network data of the hosts of SIPClusters again; 100 clusters of 10 hosts make 1.7 " +
    "requests per second",
  range: [60_000, 24 * 3_600_000],
};
