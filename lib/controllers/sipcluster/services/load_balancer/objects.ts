/**
 * The objects that a load balancer is made of.
 * @module
 */
import type { ObjectMeta } from "../../../../kube/kinds/resource.ts";
import { CONFIG_HASH } from "../../words.ts";
import { toLabels } from "../names.ts";
import { hashContent } from "../../../../core/text/short_name.ts";
import { SECRETS, toSecretData } from "../../../../kube/kinds/secret.ts";
import { DEPLOYMENTS, OWNED_SERVICES, POD_DISRUPTION_BUDGETS, toOwned } from "../owned_kinds.ts";
import { PROGRESS_DEADLINE_S, ROLLING_UPDATE, SERVICE_DEFAULTS } from "../pod_parts.ts";
import type { OwnedObject } from "../types.ts";
import type { Port } from "./haproxy_config.ts";
import { planPod } from "./pod.ts";
import { APP, COMPONENT, CONFIG_FILE } from "./words.ts";

/** A port of the load balancer, and of every Node before it. */
export interface ServicePort extends Port {
  /** 0: Kubernetes chooses. */
  readonly nodePort: number;
}

/** What a load balancer is made from. */
export interface ObjectsInput {
  /** Of all its objects. */
  readonly name: string;
  readonly namespace: string;
  readonly config: string;
  readonly image: string;
  readonly ports: readonly ServicePort[];
  readonly healthPort: number;
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly clusterIP?: string;
}

const REPLICAS = 2;

/** Plans the Secret, the Deployment, the Service and the PodDisruptionBudget of a load balancer. */
export function planObjects(input: ObjectsInput): readonly OwnedObject[] {
  const { name, namespace, config, ports, clusterIP } = input;
  const labels = toLabels({ component: COMPONENT, app: APP, instance: name });
  const metadata: ObjectMeta = { name, namespace, labels };
  return [
    toOwned(SECRETS, metadata, {
      type: "Opaque",
      data: toSecretData({ [CONFIG_FILE]: config }),
    }),
    planDeployment(input, metadata, labels),
    toOwned(OWNED_SERVICES, metadata, {
      spec: {
        type: "NodePort",
        ...SERVICE_DEFAULTS,
        selector: labels,
        ports: ports.map(({ name: portName, port, nodePort }) => ({
          name: portName,
          port,
          targetPort: port,
          protocol: "TCP",
          ...(nodePort !== 0 && { nodePort }),
        })),
        ...(clusterIP && { clusterIP }),
      },
    }),
    toOwned(POD_DISRUPTION_BUDGETS, metadata, {
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    }),
  ];
}

/** The Pods roll if and only if what they are made from differs: the hash stands for the configuration. */
function planDeployment(
  { name, config, image, ports, healthPort, nodeLabels }: ObjectsInput,
  metadata: ObjectMeta,
  labels: Readonly<Record<string, string>>,
): OwnedObject {
  const configHash = hashContent(config);
  const pod = { image, secret: name, configHash, ports, healthPort, labels };
  return toOwned(DEPLOYMENTS, metadata, {
    spec: {
      replicas: REPLICAS,
      paused: false,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: PROGRESS_DEADLINE_S,
      strategy: ROLLING_UPDATE,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { [CONFIG_HASH]: configHash } },
        spec: planPod(nodeLabels ? { ...pod, nodeLabels } : pod),
      },
    },
  });
}
