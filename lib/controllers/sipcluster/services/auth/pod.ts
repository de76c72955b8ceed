/**
 * The Pods of an OIDC provider.
 * @module
 */
import type { V1Container, V1PodSpec, V1Toleration } from "@kubernetes/client-node";
import type { Raw } from "../../../../kube/kinds/resource.ts";
import { CONTAINER_SECURITY, OWN_NAMESPACES, toPodSecurity, toSpread } from "../pod_parts.ts";
import { CONFIG_KEY, DEX, PATHS } from "./words.ts";

/** What the Pods of one provider need. */
interface PodInput {
  /** Name of their ServiceAccount. */
  readonly account: string;
  readonly image: string;
  readonly configSecret: string;
  readonly tlsSecret: string;
  /** The labels of the Pods. */
  readonly labels: Readonly<Record<string, string>>;
  /** The labels of the Nodes on which they run. */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly tolerations: readonly Raw<V1Toleration>[];
}

/** The user `dex` of the official image. */
const USER = 1_001;
const HTTPS_PORT = 5_554;
const TELEMETRY_PORT = 5_558;
const READ_ONLY_MODE = 0o440;
/** Less than the time that a Pod has for its end. */
const DRAIN_S = 10;

/** Plans the Pods. They have rights only on the state of Dex, and run on different Nodes if there are several. */
export function planPod(input: PodInput): Raw<V1PodSpec> {
  const { account, configSecret, tlsSecret, labels, nodeLabels = {}, tolerations } = input;
  const items = [{ key: CONFIG_KEY, path: CONFIG_KEY }];
  return {
    ...OWN_NAMESPACES,
    serviceAccountName: account,
    automountServiceAccountToken: true,
    enableServiceLinks: false,
    securityContext: toPodSecurity(USER),
    containers: [planContainer(input)],
    volumes: [
      {
        name: "config",
        secret: { secretName: configSecret, items, defaultMode: READ_ONLY_MODE },
      },
      { name: "tls", secret: { secretName: tlsSecret, defaultMode: READ_ONLY_MODE } },
    ],
    topologySpreadConstraints: toSpread(labels),
    ...(Object.keys(nodeLabels).length > 0 && { nodeSelector: nodeLabels }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}

/**
 * The flags set the addresses, in place of those of the configuration. The entry point of the image is left out: it
 * writes a copy of the configuration.
 */
function planContainer({ image }: PodInput): Raw<V1Container> {
  const probe = (path: string): Raw<V1Container>["readinessProbe"] => ({
    httpGet: { path, port: "telemetry", scheme: "HTTP" },
  });
  return {
    name: DEX,
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/usr/local/bin/dex", "serve"],
    args: [
      `--web-https-addr=:${HTTPS_PORT}`,
      `--telemetry-addr=:${TELEMETRY_PORT}`,
      `${PATHS.config}/${CONFIG_KEY}`,
    ],
    env: [
      // Otherwise Dex takes a $ in a secret of a connector for the name of a variable.
      { name: "DEX_EXPAND_ENV", value: "false" },
      {
        name: "KUBERNETES_POD_NAMESPACE",
        valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } },
      },
    ],
    ports: [
      { name: "https", containerPort: HTTPS_PORT, hostPort: 0, protocol: "TCP" },
      { name: "telemetry", containerPort: TELEMETRY_PORT, hostPort: 0, protocol: "TCP" },
    ],
    readinessProbe: { ...probe("/healthz/ready"), periodSeconds: 10, timeoutSeconds: 5 },
    livenessProbe: { ...probe("/healthz/live"), periodSeconds: 10, failureThreshold: 6 },
    // Kubernetes sends logins to a Pod for a moment after it began to end it. Without this program, it ends at once.
    lifecycle: { preStop: { exec: { command: ["sleep", String(DRAIN_S)] } } },
    resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "512Mi" } },
    securityContext: CONTAINER_SECURITY,
    volumeMounts: [
      { name: "config", mountPath: PATHS.config, readOnly: true },
      { name: "tls", mountPath: PATHS.tls, readOnly: true },
    ],
  };
}
