/**
 * Whether the DaemonSet or the Deployment fits the Nodes of a cluster, for `landfall check`. Pure.
 * @module
 */
import type { ProviderInstall } from "../../cloud/provider_definition.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { toManifest } from "./manifests.ts";
import type { CheckFinding } from "./report.ts";

/** kubeadm, RKE2 and k3s set this label on control planes, where the DaemonSet runs. */
const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";

/** Where Landfall is to run. */
export interface ReplicaPlace {
  /** Absent: the cloud has no manifests, only the chart. */
  readonly install: Pick<ProviderInstall, "folder"> | undefined;
  /** Whether a process leads: then it runs in another way, perhaps outside the cluster. */
  readonly isLed: boolean;
}

/** Says how many replicas the DaemonSet runs on these Nodes. @returns nothing when there are no Nodes */
export function listReplicaFindings(nodes: readonly Node[], place: ReplicaPlace): CheckFinding[] {
  if (nodes.length === 0) return [];
  const planes = nodes.filter(({ metadata }) => CONTROL_PLANE in (metadata.labels ?? {})).length;
  const finding = planes === 0 ? toWithoutPlanes(nodes.length, place) : toWithPlanes(planes);
  const level = planes === 0 && !place.isLed ? "warning" : "ok";
  return [{ level, code: "replicas", ...finding }];
}

function toWithPlanes(planes: number): Pick<CheckFinding, "message"> {
  const message =
    planes === 1
      ? "1 control plane: the DaemonSet runs 1 replica; no replica acts for some seconds during an upgrade"
      : `${planes} control planes: the DaemonSet runs a replica on each; an upgrade replaces one at a time`;
  return { message };
}

function toWithoutPlanes(
  nodes: number,
  { install: manifests }: ReplicaPlace,
): Pick<CheckFinding, "message" | "advice"> {
  const message = `no Node has the label ${CONTROL_PLANE}, so the DaemonSet would run no replica`;
  const file = manifests ? `${toManifest(manifests, "deployment.yaml")}, or ` : "";
  const install = `install the Deployment: ${file}useDaemonSet: false in the chart`;
  const single = "; on 1 Node with 1 replica, as a second one would stay Pending";
  return { message, advice: nodes === 1 ? `${install}${single}` : install };
}
