/**
 * The objects that a load balancer is made of.
 * @module
 */
import type {
  V1Container,
  V1PodSpec,
  V1ResourceRequirements,
  V1Toleration,
} from "@kubernetes/client-node";
import { type LabelledMeta, planBudget, planNodePorts, planReplicas } from "../common_objects.ts";
import { MAXCONN, type Port, limitsConnections } from "./haproxy_config.ts";
import { APP, COMPONENT, CONFIG_FILE } from "./words.ts";
import { toLabels } from "../names.ts";
import { CONFIG_MAPS, toOwned } from "../owned_kinds.ts";
import { CONTAINER_SECURITY, OWN_NAMESPACES, toPodSecurity, toSpread } from "../pod_parts.ts";
import type { OwnedObject } from "../types.ts";
import { hashContent } from "../../../../core/text/label.ts";
import type { Raw } from "../../../../kube/kinds/resource.ts";

/** What the Pods of one load balancer need. */
export interface PodInput {
  readonly image: string;
  /** Name of the ConfigMap with the configuration. */
  readonly configMap: string;
  /** How many connections a process has at most. Absent: the configuration says it. */
  readonly maxconn?: number;
  /** Of the configuration, from `hashContent`. */
  readonly configHash: string;
  readonly ports: readonly Port[];
  /** Where the configuration answers probes. */
  readonly healthPort: number;
  /** The labels of the Pods. */
  readonly labels: Readonly<Record<string, string>>;
  /** The labels of the Nodes on which they run. */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly tolerations: readonly Raw<V1Toleration>[];
}

/** The user `haproxy` of the official image. Other images need no user of this number. */
const USER = 99;
/** Where the ConfigMap is. Kubernetes updates it under running Pods. */
const SOURCE_PATH = "/etc/haproxy-source";
/** Where the official image has its configuration. */
const CONFIG_PATH = "/usr/local/etc/haproxy";
/** Kubernetes keeps sending connections to a Pod for a moment after it began to end it, in seconds. */
const DRAIN_S = 10;
/** More than the above and `hard-stop-after` together. */
const GRACE_S = 60;

/** Measured: 82 MB with 10,000 servers, and 17 MB more with 4,000 connections. Full buffers take 35 kB for each. */
const RESOURCES: Raw<V1ResourceRequirements> = {
  requests: { cpu: "50m", memory: "64Mi" },
  limits: { memory: "512Mi" },
};

/** Plans the Pods. They run without rights, and on different Nodes if there are several. */
export function planPod(input: PodInput): Raw<V1PodSpec> {
  const { configMap, labels, nodeLabels = {}, tolerations } = input;
  return {
    ...OWN_NAMESPACES,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: toPodSecurity(USER),
    initContainers: [planCheck(input)],
    containers: [planHaproxy(input)],
    volumes: [
      { name: "source", configMap: { name: configMap } },
      { name: "config", emptyDir: { sizeLimit: "8Mi" } },
    ],
    terminationGracePeriodSeconds: GRACE_S,
    topologySpreadConstraints: toSpread(labels),
    ...(Object.keys(nodeLabels).length > 0 && { nodeSelector: nodeLabels }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}

/**
 * Checks the configuration, and copies it. HAProxy reads the copy, so that a container that starts again does not read
 * a configuration that was not checked. A kubelet may give a Pod a ConfigMap from before its last change, and would not
 * start the Pod again for the new one: so the hash of the file must be that of the Pod.
 */
const CHECK_SCRIPT = `case "$(sha256sum "$0")" in
  "$2"*) haproxy -c -f "$0" && cp "$0" "$1" ;;
  *) echo "This Pod was made for another version of the ConfigMap. Kubernetes starts this container again."; exit 1 ;;
esac`;

function planCheck({ image, configHash }: PodInput): Raw<V1Container> {
  const [source, copy] = [`${SOURCE_PATH}/${CONFIG_FILE}`, `${CONFIG_PATH}/${CONFIG_FILE}`];
  return {
    name: "check",
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["sh", "-c", CHECK_SCRIPT, source, copy, configHash],
    resources: RESOURCES,
    securityContext: CONTAINER_SECURITY,
    volumeMounts: [
      { name: "source", mountPath: SOURCE_PATH, readOnly: true },
      { name: "config", mountPath: CONFIG_PATH },
    ],
  };
}

function planHaproxy({ image, maxconn, ports, healthPort }: PodInput): Raw<V1Container> {
  const probe = { httpGet: { path: "/healthz", port: "health", scheme: "HTTP" } };
  return {
    name: COMPONENT,
    image,
    imagePullPolicy: "IfNotPresent",
    // In the foreground, also if a template says otherwise. Without a limit, HAProxy takes memory for as many
    // connections as a process may have files.
    command: [
      "haproxy",
      "-db",
      ...(maxconn === undefined ? [] : ["-n", String(maxconn)]),
      "-f",
      `${CONFIG_PATH}/${CONFIG_FILE}`,
    ],
    env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
    // Server-side apply finds a port by its number and protocol.
    ports: [...ports, { name: "health", port: healthPort }].map(({ name, port }) => ({
      name,
      containerPort: port,
      hostPort: 0,
      protocol: "TCP",
    })),
    readinessProbe: { ...probe, periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 2 },
    livenessProbe: { ...probe, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    lifecycle: { preStop: { exec: { command: ["sleep", String(DRAIN_S)] } } },
    resources: RESOURCES,
    securityContext: CONTAINER_SECURITY,
    volumeMounts: [{ name: "config", mountPath: CONFIG_PATH, readOnly: true }],
  };
}

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
