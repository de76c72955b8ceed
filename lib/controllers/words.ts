/**
 * Words on a Node or a BareMetalHost that several controllers read or write. Frozen: they must not change.
 * @module
 */
import { OWN_PREFIX } from "../core/text/label.ts";

/** Taint of a Node that is not initialised yet; only the key counts. Contract of `k8s.io/cloud-provider`. */
export const UNINITIALIZED_TAINT = "node.cloudprovider.kubernetes.io/uninitialized";

/** Annotation of the kubelet with the IPs of `--node-ip`: one, or two of different families, separated by a comma. */
export const PROVIDED_NODE_IP = "alpha.kubernetes.io/provided-node-ip";

/** Topology labels. Each has a beta name with the same value, because programs may read either. */
export const TOPOLOGY_LABELS = {
  instanceType: ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"],
  zone: ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"],
  region: ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"],
} as const;

/** Annotation with the labels that Landfall set from tags: JSON, by key. Only these are changed or removed. */
export const TAG_LABELS_RECORD: string = `${OWN_PREFIX}labels-from-tags`;

/** Label namespaces of Kubernetes. Additional labels of a cloud must not use them. */
export const RESERVED_LABEL: RegExp = /(^|\.)(kubernetes|k8s)\.io\//;

/** Label of a BareMetalHost that a SIPCluster has: the name of the cluster. The word of the original operator. */
export const HOST_CLUSTER_NAME = "sip.airshipit.org/cluster-name";
