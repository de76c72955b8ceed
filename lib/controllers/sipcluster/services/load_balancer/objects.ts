/**
 * The objects that a load balancer is made of.
 * @module
 */
import type { V1Toleration } from "@kubernetes/client-node";
import type { Raw } from "../../../../kube/kinds/resource.ts";
import { toLabels } from "../names.ts";
import { hashContent } from "../../../../core/text/label.ts";
import { type LabelledMeta, planBudget, planNodePorts, planReplicas } from "../common_objects.ts";
import { CONFIG_MAPS, toOwned } from "../owned_kinds.ts";
import type { OwnedObject } from "../types.ts";
import { limitsConnections, MAXCONN, type Port } from "./haproxy_config.ts";
import { planPod } from "./pod.ts";
import { APP, COMPONENT, CONFIG_FILE } from "./words.ts";

/** A port of the load balancer, and of every Node before it. */
export interface ServicePort extends Port {
  /** 0: Kubernetes chooses. */
  readonly nodePort: number;
}

/** What a load balancer is made from. */
interface ObjectsInput {
  /** Of all its objects. */
  readonly name: string;
  readonly namespace: string;
  readonly config: string;
  readonly image: string;
  readonly ports: readonly ServicePort[];
  readonly healthPort: number;
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly tolerations: readonly Raw<V1Toleration>[];
  readonly clusterIP?: string;
}

/** Plans the ConfigMap, the Deployment, the Service and the PodDisruptionBudget of a load balancer. */
export function planObjects(input: ObjectsInput): readonly OwnedObject[] {
  const { name, namespace, config, ports, clusterIP } = input;
  const labels = toLabels({ component: COMPONENT, app: APP, instance: name });
  const metadata = { name, namespace, labels };
  return [
    toOwned(CONFIG_MAPS, metadata, { data: { [CONFIG_FILE]: config } }),
    planDeployment(input, metadata),
    planNodePorts(metadata, {
      ports: ports.map(({ name: portName, port, nodePort }) => ({
        name: portName,
        port,
        targetPort: port,
        nodePort,
      })),
      clusterIP,
    }),
    planBudget(metadata),
  ];
}

/** The Pods roll if and only if what they are made from differs: the hash stands for the configuration. */
function planDeployment(
  { name, config, image, ports, healthPort, nodeLabels, tolerations }: ObjectsInput,
  metadata: LabelledMeta,
): OwnedObject {
  const { labels } = metadata;
  const configHash = hashContent(config);
  const pod = {
    image,
    configMap: name,
    configHash,
    ...(!limitsConnections(config) && { maxconn: MAXCONN }),
    ports,
    healthPort,
    labels,
    tolerations,
  };
  return planReplicas(metadata, {
    configHash,
    pod: planPod(nodeLabels ? { ...pod, nodeLabels } : pod),
  });
}
