/**
 * Plans the objects that services of different kinds have in the same form.
 * @module
 */
import type { V1PodSpec, V1ServicePort } from "@kubernetes/client-node";
import type { ObjectMeta, Raw } from "../../../kube/kinds/resource.ts";
import { CONFIG_HASH } from "../words.ts";
import { DEPLOYMENTS, OWNED_SERVICES, POD_DISRUPTION_BUDGETS, toOwned } from "./owned_kinds.ts";
import { PROGRESS_DEADLINE_S, ROLLING_UPDATE, SERVICE_DEFAULTS } from "./pod_parts.ts";
import type { OwnedObject } from "./types.ts";

/** Metadata of an object that finds its Pods by its own labels. */
export type LabelledMeta = ObjectMeta & { readonly labels: Readonly<Record<string, string>> };

const REPLICAS = 2;

/**
 * Plans a Deployment with two Pods, of which one serves as long as the other is away.
 *
 * @param configHash Of what the Pods read once, at their start: they roll if it differs
 */
export function planReplicas(
  metadata: LabelledMeta,
  { configHash, pod }: { readonly configHash: string; readonly pod: Raw<V1PodSpec> },
): OwnedObject {
  const { labels } = metadata;
  return toOwned(DEPLOYMENTS, metadata, {
    spec: {
      replicas: REPLICAS,
      paused: false,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: PROGRESS_DEADLINE_S,
      strategy: ROLLING_UPDATE,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations: { [CONFIG_HASH]: configHash } }, spec: pod },
    },
  });
}

/** Plans the PodDisruptionBudget beside such a Deployment. */
export function planBudget(metadata: LabelledMeta): OwnedObject {
  return toOwned(POD_DISRUPTION_BUDGETS, metadata, {
    spec: { minAvailable: 1, selector: { matchLabels: metadata.labels } },
  });
}

/** A port of a Service. */
interface NodePort {
  readonly name: string;
  readonly port: number;
  /** Number or name of the port of the Pods. */
  readonly targetPort: number | string;
  /** 0 or absent: Kubernetes chooses. */
  readonly nodePort?: number | undefined;
}

/** Plans a Service that every Node offers. @param clusterIP Absent or empty: Kubernetes chooses */
export function planNodePorts(
  metadata: LabelledMeta,
  {
    ports,
    clusterIP = "",
  }: { readonly ports: readonly NodePort[]; readonly clusterIP?: string | undefined },
): OwnedObject {
  return toOwned(OWNED_SERVICES, metadata, {
    spec: {
      type: "NodePort",
      ...SERVICE_DEFAULTS,
      ...(clusterIP !== "" && { clusterIP }),
      selector: metadata.labels,
      ports: ports.map(toServicePort),
    },
  });
}

function toServicePort({ name, port, targetPort, nodePort = 0 }: NodePort): Raw<V1ServicePort> {
  return { name, port, protocol: "TCP", targetPort, ...(nodePort !== 0 && { nodePort }) };
}
