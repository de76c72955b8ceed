/**
 * What the Pods of services have in common.
 * @module
 */
import type {
  V1DeploymentStrategy,
  V1PodSecurityContext,
  V1PodSpec,
  V1SecurityContext,
  V1ServiceSpec,
  V1TopologySpreadConstraint,
} from "@kubernetes/client-node";
import type { Raw } from "../../../kube/kinds/resource.ts";

/** A container without privileges. */
export const CONTAINER_SECURITY: Raw<V1SecurityContext> = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
};

/** A Pod that runs as a user, whose group may read its files. @param user Number of the user and of its group */
export function toPodSecurity(user: number): Raw<V1PodSecurityContext> {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: "RuntimeDefault" },
  };
}

/** Pods with these labels run on different Nodes if there are several. */
export function toSpread(
  labels: Readonly<Record<string, string>>,
): readonly Raw<V1TopologySpreadConstraint>[] {
  return [
    {
      maxSkew: 1,
      topologyKey: "kubernetes.io/hostname",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: labels },
    },
  ];
}

/** How long new Pods may take to become ready, pulling the image included, in seconds. */
export const PROGRESS_DEADLINE_S = 180;

/** Fields of a Pod with their defaults. They are said so that what others set there is corrected. */
export const OWN_NAMESPACES: Pick<Raw<V1PodSpec>, "hostNetwork" | "hostPID" | "hostIPC"> = {
  hostNetwork: false,
  hostPID: false,
  hostIPC: false,
};

/** The same of a Service with a node port. */
export const SERVICE_DEFAULTS: Pick<
  Raw<V1ServiceSpec>,
  "externalTrafficPolicy" | "publishNotReadyAddresses" | "sessionAffinity"
> = {
  externalTrafficPolicy: "Cluster",
  publishNotReadyAddresses: false,
  sessionAffinity: "None",
};

/** No Pod goes before another one is ready: one that does not start never replaces one that serves. */
export const ROLLING_UPDATE: Raw<V1DeploymentStrategy> = {
  type: "RollingUpdate",
  rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
};
