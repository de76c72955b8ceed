/**
 * The static pod, which a kubelet starts from a file in its manifest folder.
 * @module
 */
import type { Cloud } from "./clouds.ts";
import { CONFIG_FOLDER, LABELS, NAME, NAMESPACE } from "./names.ts";
import {
  createContainer,
  type Piece,
  POD_COMMENTS,
  POD_SECURITY,
  toArgComments,
  toArgs,
} from "./pod.ts";
import { type Comments, under } from "./yaml.ts";

/** Folder on the host with the kubeconfig and the settings. */
export const HOST_FOLDER = "/etc/kubernetes/landfall";

/** The pod. Static pods cannot have a service account. */
export function createStaticPod(cloud: Cloud): Piece {
  const args = [`--kubeconfig=${CONFIG_FOLDER}/kubeconfig`, ...toArgs(cloud)];
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
      containers: [createContainer(args, volumeMount)],
      volumes: [{ name: "config", hostPath: { path: HOST_FOLDER, type: "Directory" } }],
    },
  };
}

/** Comments by their paths in the pod. */
export function toStaticPodComments(cloud: Cloud): Comments {
  // The command and the kubeconfig come first.
  return { ...COMMENTS, ...under("spec.", toArgComments(cloud, 2)) };
}

const COMMENTS: Comments = {
  "spec.priorityClassName":
    "The priority of this class. The kubelet cannot ask the API server for it yet.",
  "spec.hostNetwork": "The pod network may not run yet.",
  "spec.containers.0.image":
    "Replace this name with your image: registry.invalid does not exist. Build and push the image first:\n" +
    "docs/guides/install.md. To pin it, write NAME@sha256:DIGEST.",
  "spec.containers.0.resources": POD_COMMENTS["containers.0.resources"] ?? "",
  "spec.volumes.0":
    "Mounts the folder instead of single files, so that Landfall sees files that you replace.",
};
