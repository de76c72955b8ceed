/**
 * Words that the node controller writes into or reads from a cluster. Frozen: they must not change.
 * @module
 */

/** Taint of a Node that no cloud has claimed yet; only the key counts. Contract of `k8s.io/cloud-provider`. */
export const UNINITIALIZED_TAINT = "node.cloudprovider.kubernetes.io/uninitialized";

/** Annotation of the kubelet with the IPs given by `--node-ip`: one, or two of different families, by comma. */
export const PROVIDED_NODE_IP = "alpha.kubernetes.io/provided-node-ip";

/** Topology labels, each with the beta twin that must be written with it: whoever reads one may read either. */
export const TOPOLOGY_LABELS = {
  instanceType: ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"],
  zone: ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"],
  region: ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"],
} as const;

/** Label namespaces of Kubernetes itself, which no cloud may fill by additional labels. */
export const RESERVED_LABEL: RegExp = /(^|\.)(kubernetes|k8s)\.io\//;

/** `source.component` of the Events. */
export const COMPONENT = "cloud-node-controller";

/** Reasons of the Events, with what each means. */
export const REASONS = {
  /** Normal: the Node is initialised. Upstream's word. */
  synced: "Synced",
  /** Warning: the Node cannot be initialised; the message says why and what to do. */
  initializationFailed: "NodeInitializationFailed",
  /** Warning: the provider ID is of this cloud but cannot be read. */
  malformedProviderId: "MalformedProviderID",
  /** Warning: the kubelet's node IPs are wrong or unknown to the cloud. */
  invalidNodeIp: "InvalidProvidedNodeIP",
  /** Warning: the cloud offered a label that Kubernetes would refuse; the rest was written. */
  invalidLabel: "InvalidCloudLabel",
} as const;
