/**
 * Specs of SIPClusters for hosts in racks.
 * @module
 */
import type { SipClusterSpec } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { HOST_LABELS, OAM_NETWORK } from "../../../lib/simulator/metal3/hosts.ts";

/** A cluster with a load balancer of its control plane, and one of its workers at the next node port. */
export function toRackSpec(wanted: {
  readonly controlPlanes: number;
  readonly workers: number;
  readonly nodePort: number;
}): SipClusterSpec {
  const { controlPlanes, workers, nodePort } = wanted;
  const toNodes = (flavor: string, active: number) => ({
    labelSelector: { matchLabels: { [HOST_LABELS.flavor]: flavor } },
    count: { active, standby: 0 },
  });
  const next = nodePort + 1;
  return {
    nodes: {
      ControlPlane: toNodes("control-plane", controlPlanes),
      Worker: toNodes("worker", workers),
    },
    services: {
      loadBalancerControlPlane: [{ nodeInterfaceId: OAM_NETWORK, nodePort }],
      loadBalancerWorker: [
        { nodeInterfaceId: OAM_NETWORK, nodePortRange: { start: next, end: next } },
      ],
    },
  };
}
