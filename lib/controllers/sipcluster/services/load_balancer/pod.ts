/**
 * The Pods of a load balancer.
 * @module
 */
import type {
  V1Container,
  V1PodSpec,
  V1ResourceRequirements,
  V1Toleration,
} from "@kubernetes/client-node";
import type { Raw } from "../../../../kube/kinds/resource.ts";
import { CONTAINER_SECURITY, OWN_NAMESPACES, toPodSecurity, toSpread } from "../pod_parts.ts";
import type { Port } from "./haproxy_config.ts";
import { COMPONENT, CONFIG_FILE } from "./words.ts";

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
