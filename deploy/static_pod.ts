/**
 * The pod that a kubelet starts by itself, from a file in its manifest folder.
 * @module
 */
import { CLOUD_ARGS, CONFIG_FOLDER, LABELS, NAME, NAMESPACE } from "./names.ts";
import { COMMON_ARGS, createContainer, type Piece, POD_COMMENTS, POD_SECURITY } from "./pod.ts";
import type { Comments } from "./yaml.ts";

/** Folder of the host with kubeconfig and settings. */
export const HOST_FOLDER = "/etc/kubernetes/landfall";

/** The pod. It has no service account: a static pod may not have one. */
export function createStaticPod(): Piece {
  const args = [`--kubeconfig=${CONFIG_FOLDER}/kubeconfig`, ...CLOUD_ARGS];
  const { fsGroup: _, fsGroupChangePolicy: __, ...securityContext } = POD_SECURITY;
  const volumeMount = { name: "config", mountPath: CONFIG_FOLDER, readOnly: true };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: NAME, namespace: NAMESPACE, labels: LABELS },
    spec: {
      automountServiceAccountToken: false,
      priorityClassName: "system-node-critical",
      priority: 2_000_001_000,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 30,
      hostNetwork: true,
      dnsPolicy: "Default",
      securityContext,
      containers: [createContainer([...args, ...COMMON_ARGS], volumeMount)],
      volumes: [{ name: "config", hostPath: { path: HOST_FOLDER, type: "Directory" } }],
    },
  };
}

/** Why things are as they are; paths from the pod's root. */
export const STATIC_POD_COMMENTS: Comments = {
  "spec.priorityClassName":
    "With its number, as a kubelet reads this before it can ask the API server.",
  "spec.hostNetwork": "There may be no pod network yet.",
  "spec.containers.0.image": POD_COMMENTS["containers.0.image"] ?? "",
  "spec.containers.0.args.5": POD_COMMENTS["containers.0.args.4"] ?? "",
  "spec.containers.0.resources": POD_COMMENTS["containers.0.resources"] ?? "",
  "spec.volumes.0":
    "The folder and not its files: one that is replaced by another of its name is seen, too.",
};
