/**
 * Whose an object is that has the name of one that is wanted.
 * @module
 */
import type { KubeObject } from "../../../../kube/kinds/resource.ts";
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { PART_OF_SIP, SIP_CLUSTER_LABEL } from "../../words.ts";
import { toClusterLabel } from "../names.ts";

/** Whether Landfall may write an object, and whether the original operator made it; else why not. */
type Ownership =
  | { readonly isOurs: true; readonly isOriginal: boolean }
  | { readonly isOurs: false; readonly why: string };

/**
 * Judges an object. It is the cluster's if the cluster owns it. It becomes the cluster's if it has no owner and is part
 * of SIP: the original operator set no owners.
 */
export function judgeOwnership(live: KubeObject, cluster: SipCluster): Ownership {
  const owner = live.metadata.ownerReferences?.find(({ controller }) => controller);
  if (owner && owner.uid === cluster.metadata.uid) return { isOurs: true, isOriginal: false };
  if (owner) {
    const isEarlier = owner.kind === SIP_CLUSTERS.kind && owner.name === cluster.metadata.name;
    const why = isEarlier
      ? "belongs to an earlier SIPCluster of this name, and Kubernetes did not delete it yet"
      : `belongs to ${owner.kind} ${owner.name}`;
    return { isOurs: false, why };
  }
  const { [PART_OF_SIP.key]: part, [SIP_CLUSTER_LABEL]: name } = live.metadata.labels ?? {};
  const isOfOther = name !== undefined && name !== toClusterLabel(cluster.metadata.name);
  if (part === PART_OF_SIP.value && !isOfOther)
    return { isOurs: true, isOriginal: name === undefined };
  const why = isOfOther
    ? `has the label of another SIPCluster: ${name}`
    : "exists, and was not made for this SIPCluster: delete or rename it";
  return { isOurs: false, why };
}

/** Whether a cluster owns an object. */
export function isOwnedBy({ metadata }: KubeObject, cluster: SipCluster): boolean {
  const { uid } = cluster.metadata;
  return (
    uid !== undefined &&
    metadata.namespace === cluster.metadata.namespace &&
    metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) === true
  );
}
